"""The real cases, changed: the report changes in exactly the expected way, or not at all.

What a file looks like, in which order its objects stand and how a number is written is no fact
about a cluster. Names are, and only they change with a renaming. A second copy of a cluster
doubles its sums. What has nothing to do with GPUs touches only what counts it.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from fleet.inventory_report.report import as_report
from fleet.kubernetes.dump import Source, load
from fleet.kubernetes.reader import read
from tests.fleet.kubernetes.known_cases import (
    EXPECTED,
    Json,
    inventory_of,
    label,
    objects_of,
    of_objects,
    report_of,
)
from tests.fleet.kubernetes.written import node, pod

every_case = pytest.mark.parametrize(
    "number", [c["id"] for c in EXPECTED], ids=map(label, EXPECTED)
)


def report(objects: list[Json]) -> Json:
    """The report of these objects in one List; none of them may be odd."""
    inventory = of_objects(objects)
    assert inventory.problems == ()
    return as_report(inventory)


def of_files(*files: tuple[str, bytes]) -> Json:
    inventory = read(load([Source(name, data) for name, data in files]))
    assert inventory.problems == ()
    return as_report(inventory)


def walk(value: Any, change: Callable[[str], str]) -> Any:
    """The value with every string in it changed, keys too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [walk(item, change) for item in value]
    if isinstance(value, dict):
        return {change(key): walk(item, change) for key, item in value.items()}
    return value


def maps(value: Any) -> list[Json]:
    """Every mapping inside, the outer ones first."""
    if isinstance(value, dict):
        return [value, *(found for item in value.values() for found in maps(item))]
    if isinstance(value, list):
        return [found for item in value for found in maps(item)]
    return []


# The same cluster, written in another way.


@every_case
def test_the_order_of_objects_does_not_matter(number: str) -> None:
    objects = objects_of(number)
    assert report(objects[::-1]) == report_of(number)
    for seed in (1, 2):
        random.Random(seed).shuffle(objects)
        assert report(objects) == report_of(number)


@every_case
def test_one_file_or_one_for_each_object(number: str) -> None:
    files = [(f"{n}.json", json.dumps(item).encode()) for n, item in enumerate(objects_of(number))]
    assert of_files(*files) == report_of(number)


@every_case
def test_yaml_says_the_same_as_json(number: str) -> None:
    text = yaml.safe_dump_all(objects_of(number), sort_keys=False)
    assert of_files(("all.yaml", text.encode())) == report_of(number)


@every_case
def test_zipped_and_in_utf_16_it_is_the_same(number: str) -> None:
    text = json.dumps({"kind": "List", "apiVersion": "v1", "items": objects_of(number)})
    assert of_files(("all.json.gz", gzip.compress(text.encode("utf-16")))) == report_of(number)


@every_case
def test_typed_lists_whose_items_do_not_repeat_their_kind(number: str) -> None:
    kinds: dict[tuple[str, str], list[Json]] = {}
    for item in objects_of(number):
        kinds.setdefault((item.pop("apiVersion"), item.pop("kind")), []).append(item)
    files = [
        (
            f"{kind}.json",
            json.dumps({"apiVersion": version, "kind": f"{kind}List", "items": items}).encode(),
        )
        for (version, kind), items in kinds.items()
    ]
    assert of_files(*files) == report_of(number)


def requested(item: Json) -> list[Json]:
    """Every ``requests`` and ``limits`` of an object."""
    return [
        found[key]
        for found in maps(item)
        for key in ("requests", "limits")
        if isinstance(found.get(key), dict)
    ]


def as_integer(value: Any) -> Any:
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def in_thousandths(value: Any) -> Any:
    return f"{value}000m" if isinstance(value, str) and value.isdecimal() else value


@every_case
@pytest.mark.parametrize("spelling", [as_integer, in_thousandths])
def test_eight_is_eight_however_it_is_written(number: str, spelling: Callable[[Any], Any]) -> None:
    objects = objects_of(number)
    for item in objects:
        found = requested(item)
        if item["kind"] == "Node":
            found += [item["status"][key] for key in ("capacity", "allocatable")]
        if item["kind"] == "ResourceQuota":
            found += [
                found[key] for found in maps(item) for key in ("hard", "used") if key in found
            ]
        for quantities in found:
            for name, value in quantities.items():
                quantities[name] = spelling(value)
    assert report(objects) == report_of(number)


@every_case
def test_a_limit_alone_is_a_request(number: str) -> None:
    objects = objects_of(number)
    for resources in maps(objects):
        limits, requests = resources.get("limits"), resources.get("requests")
        if isinstance(limits, dict) and isinstance(requests, dict):
            resources["requests"] = {k: v for k, v in requests.items() if limits.get(k) != v}
    assert report(objects) == report_of(number)


OPTIONAL: dict[str, tuple[str, ...]] = {
    "metadata": ("labels", "annotations", "ownerReferences"),
    "spec": ("taints", "tolerations", "nodeSelector", "initContainers", "schedulingGates"),
    "status": ("conditions", "containerStatuses", "used"),
}


@every_case
def test_null_is_the_same_as_absent(number: str) -> None:
    objects = objects_of(number)
    for item in objects:
        for part, names in OPTIONAL.items():
            if isinstance(item.get(part), dict):
                for name in names:
                    item[part].setdefault(name, None)
    assert report(objects) == report_of(number)


@every_case
def test_fields_that_we_do_not_know_are_passed_over(number: str) -> None:
    objects = objects_of(number)
    for item in objects:
        item["metadata"] |= {"managedFields": [{"manager": "x"}], "resourceVersion": "17"}
        item["futureField"] = {"nvidia.com/gpu": "1000"}
    assert report(objects) == report_of(number)


# The same cluster with other names.


@every_case
def test_renamed_nodes_are_renamed_and_nothing_else(number: str) -> None:
    names = {n.name for n in inventory_of(number).nodes} - {"cpu"}  # a resource, too

    def renamed(text: str) -> str:
        return f"x-{text}" if text in names else text

    assert report(walk(objects_of(number), renamed)) == walk(report_of(number), renamed)


@every_case
def test_another_namespace_is_another_namespace(number: str) -> None:
    names = {p.namespace for p in inventory_of(number).pods}
    names |= {c.namespace for c in inventory_of(number).controllers}
    names = {name for name in names if name.startswith("team-")}

    def moved(text: str) -> str:
        space, slash, rest = text.partition("/")
        return f"x-{space}{slash}{rest}" if space in names and slash else text

    objects = objects_of(number)
    for item in objects:
        if item["metadata"].get("namespace") in names:
            item["metadata"]["namespace"] = f"x-{item['metadata']['namespace']}"
    assert report(objects) == walk(report_of(number), moved)


# More of the same, and something else beside it.

SUMS = """
nodes real_nodes gpu_nodes uncounted_nodes physical_gpus real_physical_gpus simulated_gpus
unhealthy_gpus free_whole_gpus whole_free_nodes memory_mib gpus_of_unknown_memory advertised
allocatable usable_gpus requested requested_units free_units free_units_by_count gpu_devices
dra_gpu_devices for_containers mig_devices free_mig_devices partitions free_gib tpu_chips
neuron_devices gaudi_devices running pending running_gpus pending_gpus queued_gpus running_units
pending_units queued_units fraction_in_use declared_pods declared_gpus declared_units job_gpus
gang_pods_present groups_complete
"""
"""Totals that are sums over objects."""

CLUSTER_WIDE = {
    "ClusterQueue",
    "ResourceFlavor",
    "Topology",
    "DeviceClass",
    "Queue",
    "PriorityClass",
}


def second_copy(number: str) -> list[Json]:
    """The objects of a case under other names: a second, equal part of the same cluster."""
    inventory = inventory_of(number)
    names = {n.name for n in inventory.nodes}
    spaces = {o["metadata"].get("namespace") for o in objects_of(number)} - {None}
    spaces -= {"kai-resource-reservation"}  # a name that means something

    def copied(text: str) -> str:
        space, slash, rest = text.partition("/")
        if space in spaces:
            return f"{space}-2{slash}{rest}"
        return f"{text}-2" if text in names else text

    found = []
    for item in walk(objects_of(number), copied):
        if item["kind"] in CLUSTER_WIDE:
            continue
        if item["metadata"].get("namespace") in (None, "kai-resource-reservation"):
            name = item["metadata"]["name"]
            item["metadata"]["name"] = name if name.endswith("-2") else f"{name}-2"
        found.append(item)
    return found


@every_case
def test_a_second_copy_doubles_the_sums(number: str) -> None:
    once = report_of(number)
    twice = report(objects_of(number) + second_copy(number))
    for key in SUMS.split():
        had = once["totals"][key]
        assert twice["totals"][key] == (None if had is None else 2 * had), key
    for name, row in once["totals"]["by_model"].items():
        total = row["total"]
        assert twice["totals"]["by_model"][name] == {
            "total": None if total is None else 2 * total,
            "free": 2 * row["free"],
        }
    for name, found in once["nodes"].items():
        assert twice["nodes"][name] == found
        assert twice["nodes"][f"{name}-2"] == found


@every_case
def test_a_waiting_pod_finds_the_nodes_of_the_copy_as_well(number: str) -> None:
    once = report_of(number)["fits"]["pods"]
    twice = report(objects_of(number) + second_copy(number))["fits"]["pods"]
    for name, found in once.items():
        assert twice[name]["fits"] == found["fits"], name
        if found["fits"] is not None:
            copies = [f"{node}-2" for node in found["nodes"]]
            assert twice[name]["nodes"] == sorted((*found["nodes"], *copies))
            assert [c["nodes"] for c in twice[name]["why_not"]] == [
                2 * c["nodes"] for c in found["why_not"]
            ]


@every_case
def test_a_cpu_node_with_a_web_server_changes_only_nodes_cpu_and_memory(number: str) -> None:
    web = pod("web", on="extra", requests={"cpu": "2", "memory": "4Gi"})
    objects = [*objects_of(number), node("extra"), web]
    found, before = report(objects), copy.deepcopy(report_of(number))
    extra = found["nodes"].pop("extra")
    assert extra["gpu_node"] is False
    assert found["nodes"] == before["nodes"]
    assert found["pods"] == before["pods"]
    before["totals"]["nodes"] += 1
    before["totals"]["real_nodes"] += 1
    before["totals"]["cpu_cores"] += 96
    before["totals"]["memory_gib"] += 1000
    assert found["totals"] == before["totals"]
    for part in ("gang", "queues", "quota", "probes", "topology"):
        assert found[part] == before[part]
    for name, fit in before["fits"]["pods"].items():
        assert found["fits"]["pods"][name]["fits"] == fit["fits"]
        assert found["fits"]["pods"][name].get("nodes") == fit.get("nodes")


@every_case
def test_a_finished_pod_of_any_size_changes_no_number(number: str) -> None:
    names = [n.name for n in inventory_of(number).nodes] or [""]
    done = pod("done", on=names[0], gpus=4, phase="Succeeded", meta={"namespace": "batch"})
    found = report([*objects_of(number), done])
    assert found["pods"].pop("batch/done")["counts_now"] == 0
    assert found == report_of(number)
