"""Objects beside the workloads, in apply order: those that a graph has once, those of each component, of requests."""

from __future__ import annotations

from collections.abc import Mapping

from dynamo_render.satellites.access import DISCOVERY_ACCESS, EPP_ACCESS, PLANNER_ACCESS, PROFILING_ACCESS
from dynamo_render.satellites.claims import CLAIMS
from dynamo_render.satellites.contract import ComponentSatellite, GraphSatellite, RequestSatellite
from dynamo_render.satellites.endpoint_picker import INFERENCE_POOL, PICKER_CONFIG
from dynamo_render.satellites.ingress import INGRESS, VIRTUAL_SERVICE
from dynamo_render.satellites.model_services import MODEL_SERVICES
from dynamo_render.satellites.mpi_secret import MPI_SECRET
from dynamo_render.satellites.scaling_adapters import SCALING_ADAPTERS
from dynamo_render.satellites.services import SERVICES

GRAPH_SATELLITES: Mapping[str, GraphSatellite] = {
    "planner_access": PLANNER_ACCESS,
    "epp_access": EPP_ACCESS,
    "claims": CLAIMS,
    "scaling_adapters": SCALING_ADAPTERS,
    "discovery_access": DISCOVERY_ACCESS,
    "picker_config": PICKER_CONFIG,
    "inference_pool": INFERENCE_POOL,
    "mpi_secret": MPI_SECRET,
}

COMPONENT_SATELLITES: Mapping[str, ComponentSatellite] = {
    "services": SERVICES,
    "model_services": MODEL_SERVICES,
    "ingress": INGRESS,
    "virtual_service": VIRTUAL_SERVICE,
}

REQUEST_SATELLITES: Mapping[str, RequestSatellite] = {"profiling_access": PROFILING_ACCESS}
