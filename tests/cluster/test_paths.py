"""One fleet, read on every path that the product has: all must say the same."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fleet.inventory_report.report import as_report
from fleet.kubernetes import kubeconfig
from fleet.kubernetes.rbac import export_script
from planner.inventory import probing
from planner.jobs.models import Job
from tests.cluster.creating import create_whole
from tests.cluster.dra_objects import claim, claiming, device_class, gpu_slices
from tests.cluster.objects import container, gpu_node, gpus, node, pod
from tests.cluster.planes import Running
from tests.cluster.product import inventory_of
from tests.cluster.syncing import added, synced
from tests.cluster.verdicts import place, refused

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests/data/cases"


def case(number: str) -> list[dict[str, Any]]:
    """The objects of a case; its nodes get names of their own, since the cases call them alike."""
    (path,) = CASES.glob(f"{number}-*.json")
    items: list[dict[str, Any]] = json.loads(path.read_bytes())["items"]
    for item in items:
        if item["kind"] == "Node":
            item["metadata"]["name"] += f"-of-{number}"
            item["metadata"]["labels"]["kubernetes.io/hostname"] = item["metadata"]["name"]
        elif item["kind"] == "Pod" and item["spec"].get("nodeName"):
            item["spec"]["nodeName"] += f"-of-{number}"
    return items


@pytest.fixture
def mixed(cluster: Running) -> Iterator[Running]:
    """Whole, time-sliced, MIG, AMD and DRA nodes, workloads, a quota, and pods that the scheduler
    bound or refused. It stands still while a test reads it more than once."""
    admin = cluster.admin
    admin.create_all([gpu_node("whole-1"), gpu_node("whole-2"), node("dra"), device_class()])
    admin.create_all(gpu_slices("dra", 4))
    admin.create(claim("one"))
    place(admin, pod("bound", gpus(3)), claiming("claiming", "one"))
    admin.create(last := pod("waiting", gpus(9)))
    refused(admin, last)
    admin.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "chat", "namespace": "default"},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": {"app": "chat"}},
                "template": {
                    "metadata": {"labels": {"app": "chat"}},
                    "spec": {"containers": [container(limits={"nvidia.com/gpu": "1"})]},
                },
            },
        }
    )
    with cluster.plane.scheduling_paused():
        for number in ("22", "27", "38", "65", "69"):
            create_whole(admin, case(number))
        yield cluster


def report_of(running: Running) -> dict[str, Any]:
    inventory = inventory_of(running.plane.access(running.token))
    assert inventory.problems == ()
    return json.loads(json.dumps(as_report(inventory)))  # type: ignore[no-any-return]


@pytest.mark.django_db(transaction=True)
def test_the_sync_job_stores_what_the_engine_reads(mixed: Running) -> None:
    wanted = report_of(mixed)
    planned, job = synced(mixed.plane.access(mixed.token))
    assert job.state == Job.State.DONE, job.error_message
    snapshot = planned.current_snapshot
    assert snapshot is not None
    assert json.loads(json.dumps(as_report(snapshot.inventory()))) == wanted
    rows = {row.name: (row.physical, row.schedulable) for row in snapshot.nodes.all()}
    assert rows == {
        name: (found["physical_gpus"], found["schedulable"])
        for name, found in wanted["nodes"].items()
    }
    assert snapshot.physical_gpus == wanted["totals"]["physical_gpus"]
    assert snapshot.problem_count == 0
    assert snapshot.kubernetes_version == mixed.admin.get("/version")["gitVersion"]


@pytest.mark.django_db(transaction=True)
def test_a_kubeconfig_that_kubectl_prints_is_accepted_and_the_connection_tested(
    mixed: Running,
) -> None:
    text = replace(mixed.plane.admin, token=mixed.token).kubeconfig()
    planned, _ = added(kubeconfig.parse(text))
    result = probing.probe(planned)
    assert (result.reached, result.code) == (True, ""), result.message


def kubectl_in(folder: Path, running: Running) -> Path:
    """A folder with a kubectl that reads this cluster as the read-only account."""
    config = folder / "kubeconfig"
    config.write_text(replace(running.plane.admin, token=running.token).kubeconfig())
    tools = folder / "bin"
    tools.mkdir()
    command = tools / "kubectl"
    command.write_text(
        f'#!/bin/sh\nexec {sys.executable} -m tests.cluster.kubectl --kubeconfig {config} "$@"\n'
    )
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    return tools


def test_the_exported_files_say_the_same_through_the_command(
    mixed: Running, tmp_path: Path
) -> None:
    tools = kubectl_in(tmp_path, mixed)
    environment = {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    exported = subprocess.run(
        ["sh", "-s"],
        input=export_script(),
        text=True,
        capture_output=True,
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    assert exported.returncode == 0, exported.stderr
    done = subprocess.run(
        [sys.executable, "-m", "fleet", "inventory", "--json", str(tmp_path / "fleet-export")],
        capture_output=True,
        cwd=ROOT,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == report_of(mixed)
