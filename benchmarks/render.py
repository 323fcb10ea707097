"""Renders inside a warm process: mappings to objects, and to YAML text."""

from __future__ import annotations

from benchmarks import inputs
from benchmarks.table import Row, row, timed
from dynamo_render import read_documents, render, write_documents


def rows(*, quick: bool) -> list[Row]:
    """Measure the mean over all cases, several times."""
    origin, cases = inputs.cases()
    repetitions = 5 if quick else 25
    per_case = 1e6 / len(cases)

    def objects() -> None:
        for resource, settings, facts in cases:
            render(resource, settings=settings, facts=facts)

    def yaml_text() -> None:
        for resource, settings, facts in cases:
            write_documents(render(resource, settings=settings, facts=facts).objects)

    texts = [write_documents([resource]) for resource, _settings, _facts in cases]

    def read() -> None:
        for document in texts:
            list(read_documents(document))

    services = sum(len(resource.get("spec", {}).get("services", ())) for resource, _settings, _facts in cases)
    mean = f"{origin}, {services / len(cases):.1f} services"
    return [
        row(f"mapping to objects, mean ({mean})", timed(objects, repetitions), "us", per_case, 350),
        row("mapping to YAML text, mean", timed(yaml_text, repetitions), "us", per_case, 800),
        row("YAML text to mapping, mean", timed(read, repetitions), "us", per_case),
    ]
