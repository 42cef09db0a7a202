"""The manifest grants what we read and no more; the script runs in a plain shell."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest
import yaml

from fleet.inventory import ReadStatus
from fleet.kubernetes.dump import Source, load
from fleet.kubernetes.rbac import export_script, read_only_manifest
from fleet.kubernetes.resources import RESOURCES

KUBECTL = """#!/bin/sh
echo "$*" >>"$LOG"
if [ "$1" = --context ]; then shift 2; fi
case "$1 $2" in
  "version -o") echo '{"serverVersion": {"gitVersion": "v1.36.3", "major": "1", "minor": "36"}}' ;;
  "get --raw")
    case "$3" in
      /api/v1) echo '{"kind": "APIResourceList", "groupVersion": "v1", "resources": []}' ;;
      *) echo "Error from server (NotFound)" >&2; exit 1 ;;
    esac ;;
  "get nodes") cat "$NODES" ;;
  "get pods") if [ -n "${FAIL_PODS:-}" ]; then echo "pods is forbidden" >&2; exit 1; fi
    echo '{"kind": "List", "apiVersion": "v1", "items": []}' ;;
  "get jobs.batch") echo '{"kind": "List", "ite'; echo "connection lost" >&2; exit 1 ;;
  *) echo "the server doesn't have a resource type $2" >&2; exit 1 ;;
esac
"""


def documents() -> list[dict[str, object]]:
    return list(yaml.safe_load_all(read_only_manifest("gpu-team")))


def test_the_manifest_grants_every_resource_that_is_read_and_only_to_be_read() -> None:
    role = next(d for d in documents() if d["kind"] == "ClusterRole")
    granted = set()
    for rule in role["rules"]:  # type: ignore[attr-defined]
        assert set(rule) == {"apiGroups", "resources", "verbs"}
        assert set(rule["verbs"]) == {"get", "list"}
        granted |= {(group, plural) for group in rule["apiGroups"] for plural in rule["resources"]}
    assert granted == {(resource.group, resource.plural) for resource in RESOURCES}


def test_the_manifest_grants_no_secret_no_wildcard_and_no_log() -> None:
    text = read_only_manifest()
    for word in ("*", "secrets", "configmaps", "pods/", "nodes/", "watch", "create]", "events"):
        assert word not in text


def test_the_manifest_is_bound_to_its_own_service_account_and_stores_no_token() -> None:
    found = {str(d["kind"]): d for d in documents()}
    assert list(found) == ["Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding"]
    binding = found["ClusterRoleBinding"]
    account = found["ServiceAccount"]["metadata"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", **account}]  # type: ignore[dict-item]
    assert account == {"name": "gpu-fleet-planner", "namespace": "gpu-team"}
    assert binding["roleRef"]["name"] == found["ClusterRole"]["metadata"]["name"]  # type: ignore[index]


@pytest.mark.parametrize("name", ["", "A", "-a", "a b", "a\nkind: Secret", "a" * 64, "a:b"])
def test_a_namespace_that_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="namespace"):
        read_only_manifest(name)


def run_export(
    where: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    tools = where / "bin"
    tools.mkdir(exist_ok=True)
    kubectl = tools / "kubectl"
    kubectl.write_text(KUBECTL)
    kubectl.chmod(kubectl.stat().st_mode | stat.S_IXUSR)
    nodes = where / "nodes.in"
    nodes.write_text(
        json.dumps(
            {
                "kind": "List",
                "apiVersion": "v1",
                "items": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}],
            }
        )
    )
    return subprocess.run(
        ["sh", "-s", "--", *arguments],
        input=export_script(),
        text=True,
        capture_output=True,
        cwd=where,
        check=False,
        env={
            "PATH": f"{tools}:{os.environ['PATH']}",
            "LOG": str(where / "log"),
            "NODES": str(nodes),
            **environment,
        },
    )


def test_the_script_is_valid_posix_shell() -> None:
    done = subprocess.run(
        ["sh", "-n"], input=export_script(), text=True, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_script_exports_what_is_there_and_skips_the_rest(tmp_path: Path) -> None:
    done = run_export(tmp_path)
    assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in (tmp_path / "fleet-export").iterdir())
    assert names == ["api-api-v1.json", "nodes.json", "pods.json", "version.json"]
    assert "read     nodes" in done.stdout
    assert "skipped  jobs.batch" in done.stdout
    asked = (tmp_path / "log").read_text()
    for resource in RESOURCES:
        assert f"get {resource.key} --all-namespaces -o json\n" in asked


def test_what_the_script_exports_can_be_imported(tmp_path: Path) -> None:
    run_export(tmp_path)
    files = sorted((tmp_path / "fleet-export").iterdir())
    raw = load(Source(path.name, path.read_bytes()) for path in files)
    assert [node.metadata.name for node in raw.objects["nodes"]] == ["n1"]
    pods = next(read for read in raw.reads if read.resource == "pods")
    assert (pods.status, pods.count) == (ReadStatus.READ, 0)  # an empty list is an answer
    assert raw.version is not None
    assert raw.version.gitVersion == "v1.36.3"


def test_the_script_asks_the_context_that_it_was_given(tmp_path: Path) -> None:
    run_export(tmp_path, "my cluster")
    lines = (tmp_path / "log").read_text().splitlines()
    assert all(line.startswith("--context my cluster ") for line in lines)


def test_the_script_stops_with_the_reason_when_pods_cannot_be_read(tmp_path: Path) -> None:
    done = run_export(tmp_path, FAIL_PODS="1")
    assert done.returncode == 1
    assert "pods is forbidden" in done.stderr


def test_only_the_owner_can_read_the_export(tmp_path: Path) -> None:
    run_export(tmp_path)
    folder = tmp_path / "fleet-export"
    assert folder.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())
