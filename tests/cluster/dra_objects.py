"""ResourceSlices and claims as the NVIDIA DRA driver and its users write them (v1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.cluster.client import Object
from tests.cluster.objects import container, pod

DRIVER = "gpu.nvidia.com"
V1 = "resource.k8s.io/v1"


def device_class(name: str = DRIVER, driver: str = DRIVER, **spec: Any) -> Object:
    selector = {"cel": {"expression": f'device.driver == "{driver}"'}}
    return {
        "apiVersion": V1,
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [selector], **spec},
    }


def device(
    name: str, board: str, *, kind: str = "gpu", memory: str = "80Gi", **more: Any
) -> Object:
    """A device of a board. Its attribute ``slot`` is its name, so that a claim can choose it."""
    identity = {"uuid": board} if kind == "gpu" else {"parentUUID": board, "uuid": f"{name}-uuid"}
    texts = {"type": kind, "slot": name, "productName": "NVIDIA H100 80GB HBM3", **identity}
    return {
        "name": name,
        "attributes": {key: {"string": value} for key, value in texts.items()},
        "capacity": {"memory": {"value": memory}},
        **more,
    }


def slices(
    node: str, *parts: Mapping[str, Any], pool: str = "", driver: str = DRIVER, generation: int = 1
) -> list[Object]:
    """The slices of one complete pool on a node; each part is ``devices`` or ``sharedCounters``."""
    name = pool or node
    return [
        {
            "apiVersion": V1,
            "kind": "ResourceSlice",
            "metadata": {"name": f"{name}-{driver}-{generation}-{number}"},
            "spec": {
                "driver": driver,
                "pool": {
                    "name": name,
                    "generation": generation,
                    "resourceSliceCount": len(parts),
                },
                "nodeName": node,
                **part,
            },
        }
        for number, part in enumerate(parts)
    ]


def gpu_slices(node: str, count: int, **more: Any) -> list[Object]:
    """One slice with whole boards and nothing else."""
    devices = [device(f"gpu-{i}", f"GPU-{node}-{i}") for i in range(count)]
    return slices(node, {"devices": devices}, **more)


def request(
    name: str = "gpu", slot: str = "", class_name: str = DRIVER, **exactly: Any
) -> dict[str, Any]:
    """A request for devices of a class, or for the one device of a slot."""
    if slot:
        expression = f'device.attributes["{DRIVER}"].slot == "{slot}"'
        exactly["selectors"] = [{"cel": {"expression": expression}}]
    return {"name": name, "exactly": {"deviceClassName": class_name, **exactly}}


def claim(name: str, *requests: Mapping[str, Any], namespace: str = "default") -> Object:
    return {
        "apiVersion": V1,
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"devices": {"requests": list(requests) or [request()]}},
    }


def claiming(name: str, *claims: str, namespace: str = "default", **spec: Any) -> Object:
    """A pod whose only container uses these claims."""
    return pod(
        name,
        {
            **container(requests={"cpu": "10m"}),
            "resources": {"claims": [{"name": found} for found in claims]},
        },
        namespace=namespace,
        resourceClaims=[{"name": found, "resourceClaimName": found} for found in claims],
        **spec,
    )


def counters(**amounts: str) -> dict[str, dict[str, str]]:
    return {name: {"value": amount} for name, amount in amounts.items()}


def draws(counter_set: str, **amounts: str) -> list[dict[str, Any]]:
    """``consumesCounters`` of a device that draws on one set."""
    return [{"counterSet": counter_set, "counters": counters(**amounts)}]


def partitionable(board: str, number: int) -> tuple[dict[str, Any], list[Object]]:
    """A counter set, and the whole board, two halves and four quarters that draw on it."""
    name = f"gpu-{number}-counter-set"
    counter_set = {"name": name, "counters": counters(memory="80Gi", slices="4")}
    devices = [
        device(f"gpu-{number}", board, consumesCounters=draws(name, memory="80Gi", slices="4"))
    ]
    for share, memory, parts in (("half", "40Gi", 2), ("quarter", "20Gi", 4)):
        devices += [
            device(
                f"gpu-{number}-{share}-{i}",
                board,
                kind="mig",
                memory=memory,
                consumesCounters=draws(name, memory=memory, slices=str(4 // parts)),
            )
            for i in range(parts)
        ]
    return counter_set, devices


def names_of(slices: Sequence[Object]) -> list[str]:
    """The names of the devices in these slices."""
    return [found["name"] for item in slices for found in item["spec"].get("devices") or ()]
