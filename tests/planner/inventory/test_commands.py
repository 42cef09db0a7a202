"""The inventory's commands: the same services, from a shell."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from planner.accounts.models import Team
from planner.inventory.models import Cluster, ClusterCredential
from planner.jobs.models import Job
from tests.fakes.kubeapi import FakeKubeApi
from tests.planner.inventory.builders import dump, node, pod

pytestmark = pytest.mark.django_db(transaction=True)


def said(*args: str, **options: Any) -> str:
    out = io.StringIO()
    call_command(*args, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nodes.json").write_bytes(dump(node("a")).data)
    (tmp_path / "pods.json").write_bytes(dump(pod("p", "a")).data)
    return tmp_path


def test_a_folder_of_files_becomes_a_cluster_and_then_its_next_snapshot(
    team: Team, folder: Path
) -> None:
    assert "imported" in said("addcluster", "prod", str(folder))
    snapshot = Cluster.objects.get().snapshots.get()
    assert snapshot.files == ["nodes.json", "pods.json"]
    assert "snapshot 2" in said("importcluster", "prod", str(folder / "nodes.json"))


def test_a_live_cluster_is_added_by_kubeconfig_and_synced_in_this_process(
    team: Team, tmp_path: Path
) -> None:
    with FakeKubeApi(token=None) as fake:
        fake.add("/api/v1/nodes", "NodeList", [node("a")])
        fake.add("/api/v1/pods", "PodList", [])
        config = tmp_path / "config"
        config.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
            f"clusters: [{{name: k, cluster: {{server: '{fake.url}'}}}}]\n"
            "contexts: [{name: c, context: {cluster: k}}]\n"
        )
        assert "first sync" in said("addcluster", "prod", kubeconfig=str(config), interval=0)
        assert ClusterCredential.objects.count() == 1
        assert "1 nodes" in said("synccluster", "prod", now=True)
    with pytest.raises(CommandError, match="failed"):
        said("synccluster", "prod", now=True)


def test_a_sync_is_only_queued_without_now(team: Team) -> None:
    Cluster.objects.create(team=team, name="prod", source="fields")
    assert "queued" in said("synccluster", "prod")
    assert Job.objects.get().state == "queued"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["addcluster", "prod"], "one of the three"),
        (["addcluster", "prod", "/no/such/file"], "cannot be read"),
        (["importcluster", "nothing", "x.json"], "no cluster called"),
        (["synccluster", "nothing"], "no cluster called"),
        (["addcluster", "prod", "x.json", "--team", "nowhere"], "Teams: search"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    team: Team, args: list[str], message: str
) -> None:
    with pytest.raises(CommandError, match=message):
        said(*args)


def test_with_two_teams_one_must_be_named(team: Team, other_team: Team, folder: Path) -> None:
    with pytest.raises(CommandError, match="--team"):
        said("addcluster", "prod", str(folder))
    said("addcluster", "prod", str(folder), team="search")
    said("addcluster", "prod", str(folder), team="other")
    with pytest.raises(CommandError, match="Several teams"):
        said("importcluster", "prod", str(folder))


def test_pruning_says_how_many_went(team: Team, folder: Path) -> None:
    said("addcluster", "prod", str(folder))
    assert said("prunesnapshots") == "0 snapshots deleted.\n"
