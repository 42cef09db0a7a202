"""Making a cluster empty again, so that tests can share one control plane."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.cluster.client import ApiError, Client, Object
from tests.processes import wait_for

# Owners before what they own; pods before the claims that they hold.
_LISTS = (
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/apps/v1/deployments",
    "/apis/apps/v1/statefulsets",
    "/apis/apps/v1/daemonsets",
    "/apis/apps/v1/replicasets",
    "/apis/batch/v1/cronjobs",
    "/apis/batch/v1/jobs",
    "/api/v1/pods",
    "/api/v1/nodes",
    "/api/v1/resourcequotas",
    "/apis/node.k8s.io/v1/runtimeclasses",
    "/apis/resource.k8s.io/v1/resourceclaims",
    "/apis/resource.k8s.io/v1/resourceclaimtemplates",
    "/apis/resource.k8s.io/v1/resourceslices",
    "/apis/resource.k8s.io/v1/deviceclasses",
    "/apis/resource.k8s.io/v1/devicetaintrules",
    "/apis/resource.k8s.io/v1beta2/devicetaintrules",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    *(
        f"/apis/scheduling.k8s.io/{version}/{plural}"
        for version in ("v1beta1", "v1alpha2")
        for plural in ("podgroups", "workloads")
    ),
)


def empty(client: Client) -> None:
    """Delete what tests create; built-in objects, namespaces and rights stay."""
    for path in _LISTS:
        try:
            found: list[Object] = client.listed(path)
        except ApiError as error:
            if error.status == 404:  # not served by this minor or these flags
                continue
            raise
        items = [item for item in found if not _is_built_in(item)]
        if len(items) > 20 and path == "/api/v1/pods":
            _delete_pods(client, items)
            items = client.listed(path)
        for item in items:
            _delete(client, path, item)
        if items:
            wait_for(f"{path} is empty", partial(_is_empty, client, path))
    client.forget_apis()


def _is_empty(client: Client, path: str) -> bool:
    return all(_is_built_in(item) for item in client.listed(path))


def _is_built_in(item: Object) -> bool:
    return str(item["metadata"]["name"]).startswith("system-")


def _delete_pods(client: Client, pods: list[Object]) -> None:
    for name in {pod["metadata"]["namespace"] for pod in pods}:
        client.call("DELETE", f"/api/v1/namespaces/{name}/pods?gracePeriodSeconds=0")


def _delete(client: Client, path: str, item: Object) -> None:
    metadata: dict[str, Any] = item["metadata"]
    root, _, plural = path.rpartition("/")
    place = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    one = f"{root}{place}/{plural}/{metadata['name']}"
    try:
        if metadata.get("finalizers") and plural != "customresourcedefinitions":
            # Whoever would take them away does not run here.
            client.call(
                "PATCH", one, {"metadata": {"finalizers": None}}, "application/merge-patch+json"
            )
        client.call("DELETE", f"{one}?gracePeriodSeconds=0&propagationPolicy=Background")
    except ApiError as error:
        if error.status not in (404, 409):
            raise
