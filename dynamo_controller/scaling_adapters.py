"""How a DynamoGraphDeploymentScalingAdapter passes its count on to its graph."""

from __future__ import annotations

from dynamo_controller import writing
from dynamo_controller.apply import ADAPTER
from dynamo_controller.graphs import GRAPH
from dynamo_controller.ports import ClusterError
from dynamo_controller.reconcile import Done, PassFailed
from dynamo_controller.shell import Key, Shell
from dynamo_render.kinds.dynamo_graph_deployment_scaling_adapter.status import adapter_status, wanted_scale
from dynamo_render.kinds.shared.failures import Failure
from dynamo_render.kube import live

__all__ = ["ADAPTER", "reconcile"]


async def reconcile(key: Key, shell: Shell) -> Done:
    """Make the graph's count the adapter's, and tell that in the adapter's status. Raises `PassFailed`."""
    adapter = shell.stores.get(key.kind, key.namespace, key.name)
    if adapter is None or live.is_being_deleted(adapter):
        return Done()
    graph = shell.stores.get(GRAPH, key.namespace, adapter["spec"]["dgdRef"]["name"])
    scale = wanted_scale(adapter, graph)
    if isinstance(scale, Failure):
        raise PassFailed(scale.text)
    scaled_at = None
    try:
        if scale is not None and graph is not None:
            shell.stores.remember(await shell.cluster.merge(graph, scale.patch))
            scaled_at = shell.clock.timestamp()
            await shell.events.tell(adapter, "Normal", "Scaled", scale.message)
        wrote = await writing.write_status(adapter, adapter_status(adapter, scaled_at), shell)
    except ClusterError as error:
        raise PassFailed(str(error), error) from error
    return Done((scale is not None) + wrote)
