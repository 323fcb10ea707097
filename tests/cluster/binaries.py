"""Where the programs of the bench are: given by the user, in the cache, or built from Go modules now.

Run as a command, prints the path of each program, after building those that are missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import attrs

from tests.cluster import cache, gomodules
from tests.cluster.cache import BenchUnavailable

GIVEN = "KUBEBUILDER_ASSETS"
"""Environment variable with a folder of programs; one that it lacks is looked for elsewhere."""

KUBERNETES_VERSION = "v1.34.3"


@attrs.frozen
class Recipe:
    """Commands that come from one module of ``build/``: their *packages* by program, and flags of the *linker*."""

    module: str
    packages: Mapping[str, str]
    linker: str = "-s -w"

    def folder_name(self) -> str:
        """Return the name of the folder in the cache."""
        return gomodules.pin(self.module, self.linker)

    def fill(self, folder: Path) -> None:
        """Build every program of the module into *folder*."""
        gomodules.build(self.module, tuple(self.packages.values()), self.linker, folder)
        for name, package in self.packages.items():
            # Go names the file after the package; behind a major version that is not the program's name.
            built = folder / _command_name(package)
            built.rename(folder / name)


def _kubernetes_linker_flags() -> str:
    # Without a version kubectl reports an error of its own, and the API server calls itself v0.0.0-master.
    major, minor, _ = KUBERNETES_VERSION.removeprefix("v").split(".")
    values = {"gitVersion": KUBERNETES_VERSION, "gitMajor": major, "gitMinor": minor}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return " ".join(
        ("-s -w", *(f"-X {package}.{key}={value}" for package in packages for key, value in values.items()))
    )


RECIPES = (
    Recipe("etcd", {"etcd": "go.etcd.io/etcd/server/v3"}),
    Recipe(
        "kubernetes",
        {
            name: f"k8s.io/kubernetes/cmd/{name}"
            for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
        },
        _kubernetes_linker_flags(),
    ),
    Recipe("kwok", {"kwok": "sigs.k8s.io/kwok/cmd/kwok"}),
)
RECIPE_OF: Mapping[str, Recipe] = {name: recipe for recipe in RECIPES for name in recipe.packages}


def program(name: str) -> Path:
    """Return the path of a program, built if need be; raise `BenchUnavailable` where that is not possible."""
    given = _given(name)
    if given is not None:
        return given
    recipe = RECIPE_OF[name]
    return cache.cached_folder(recipe.folder_name(), recipe.fill) / name


def not_built(names: Iterable[str]) -> list[str]:
    """Return those of *names* that `program` would have to build, which takes minutes."""
    return [name for name in names if not _given(name) and not _cached(name).is_file()]


def _given(name: str) -> Path | None:
    folder = os.environ.get(GIVEN)
    path = Path(folder).absolute() / name if folder else None
    return path if path is not None and path.is_file() else None


def _cached(name: str) -> Path:
    return cache.cache_root() / RECIPE_OF[name].folder_name() / name


def _command_name(package: str) -> str:
    *_, parent, last = package.split("/")
    return parent if last.removeprefix("v").isdigit() else last


if __name__ == "__main__":
    try:
        for each in RECIPE_OF:
            print(program(each))
    except BenchUnavailable as reason:
        raise SystemExit(f"the bench cannot be had: {reason}") from None
