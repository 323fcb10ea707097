from __future__ import annotations

import pytest

from dynamo_render.components.epp import CONFIG_KEY, EPP, config_source
from tests.scopes import component_scope


@pytest.mark.parametrize(
    ("config", "source"),
    [
        ({"config": {"plugins": [], "schedulingProfiles": []}}, ("demo-epp-config", CONFIG_KEY)),
        ({"configMapRef": {"name": "own", "key": "k"}}, ("own", "k")),
        ({"configMapRef": {"name": "own", "key": ""}}, ("own", CONFIG_KEY)),
    ],
)
def test_its_configuration_comes_from_the_users_map_or_the_rendered_one(config: dict, source: tuple[str, str]) -> None:
    assert config_source(component_scope({"eppConfig": config})) == source


def test_it_is_told_its_pool_and_namespace() -> None:
    args = EPP.base(component_scope()).container["args"]
    assert args[args.index("-pool-name") + 1] == "demo-pool"
    assert args[args.index("-pool-namespace") + 1] == "team-a"


def test_the_image_says_what_to_run() -> None:
    assert "command" not in EPP.base(component_scope()).container


def test_its_service_speaks_http2_on_grove_only() -> None:
    assert EPP.port.manifest(with_app_protocol=True)["appProtocol"] == "http2"
    assert "appProtocol" not in EPP.port.manifest()
