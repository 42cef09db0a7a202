"""Findings in the reader's language: derived once, with the verdicts of the stored ones."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.translation import get_language, gettext, ngettext, override

from fleet import words
from fleet.inventory import Inventory
from fleet.readiness import report
from fleet.readiness.finding import Verdict
from fleet.sizing.size import size
from fleet.workloads import LlmWorkload
from planner.accounts.models import Team, User
from planner.inventory import checklists, clusters, exports, findings
from planner.inventory.models import Cluster, Snapshot
from tests.planner.inventory.builders import dump, node, pod


@pytest.fixture
def loud() -> Iterator[None]:
    """Japanese readers get every sentence in brackets; English ones get it as it is."""

    def mark(text: str) -> str:
        return f"「{text}」" if get_language() == "ja" else text

    words.use_translator(mark, lambda one, many, number: mark(one if number == 1 else many))
    yield
    words.use_translator(gettext, ngettext)


@pytest.fixture
def cluster(team: Team, ada: User, loud: None) -> Cluster:
    objects = [node("busy"), node("calm"), pod("p1", "busy", gpus=6), pod("web", "calm", gpus=0)]
    return clusters.create_from_files(team=team, name="prod", sources=[dump(*objects)], by=ada)


def test_findings_are_stored_in_english_whoever_imports(team: Team, ada: User, loud: None) -> None:
    with override("ja"):
        clusters.create_from_files(team=team, name="prod", sources=[dump(node("a"))], by=ada)
    assert not any(entry["title"].startswith("「") for entry in Snapshot.objects.get().findings)


def unreadable(snapshot: Snapshot) -> Inventory:
    raise AssertionError("the inventory was decoded again")


def test_an_english_reader_gets_the_findings_as_they_were_stored(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Snapshot, "inventory", unreadable)
    stored = Snapshot.objects.get().findings
    with override("en"):
        found = findings.of_clusters([cluster])[cluster.pk]
    assert [finding.title for finding in found] == [entry["title"] for entry in stored]


def test_another_reader_gets_every_finding_in_their_language(cluster: Cluster) -> None:
    snapshot = Snapshot.objects.get()
    with override("ja"):
        found = findings.of_clusters([cluster])[cluster.pk]
    assert all(finding.title.startswith("「") for finding in found)
    assert [finding.check for finding in found] == [e["check"] for e in snapshot.findings]
    counted = {str(verdict): number for verdict, number in report.counts(found).items()}
    assert counted == snapshot.verdicts


def test_a_language_changes_no_verdict_when_time_has_passed(cluster: Cluster) -> None:
    years_ago = timezone.now() - timedelta(days=2000)
    snapshot = Snapshot.objects.get()
    as_of_then = report.check(snapshot.inventory(), today=years_ago.date())
    Snapshot.objects.update(created_at=years_ago)
    cluster = Cluster.objects.get()
    with override("ja"):
        found = findings.of_clusters([cluster])[cluster.pk]
    assert [finding.verdict for finding in found] == [finding.verdict for finding in as_of_then]


def test_findings_are_derived_once_for_a_snapshot_and_a_language(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    with override("ja"):
        first = findings.of_clusters([cluster])
        monkeypatch.setattr(Snapshot, "inventory", unreadable)
        with CaptureQueriesContext(connection) as captured:
            assert findings.of_clusters([cluster]) == first
    assert not any('"inventory_snapshot"' in query["sql"] for query in captured.captured_queries)


def test_declared_workloads_are_held_against_servers_without_decoding_the_snapshot(
    team: Team, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workloads are declared after a sync, and to decode a large cluster takes seconds."""
    served = pod("chat-0", "a")
    served["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "chat", "controller": True}
    ]
    served["spec"]["containers"][0]["livenessProbe"] = {
        "httpGet": {"path": "/", "port": 80}, "periodSeconds": 1, "failureThreshold": 1,
    }  # fmt: skip
    cluster = clusters.create_from_files(
        team=team, name="prod", sources=[dump(node("a"), served)], by=ada
    )
    declared = (
        LlmWorkload(name="chat", model="Qwen/Qwen3-8B", namespace="team-a"),
        LlmWorkload(name="draft", model="Qwen/Qwen3-8B", namespace="team-a"),
    )
    monkeypatch.setattr(findings.declaring, "serving_workloads", lambda team: declared)
    whole = report.check(
        Snapshot.objects.get().inventory(),
        today=Snapshot.objects.get().created_at.date(),
        declared=[(each, size(each, cards=["H100-SXM5-80GB"])) for each in declared],
    )
    monkeypatch.setattr(Snapshot, "inventory", unreadable)

    found = findings.of_clusters([cluster])[cluster.pk]

    added = [finding for finding in found if finding.check == "declared-load"]
    assert added == [finding for finding in whole if finding.check == "declared-load"]
    assert {finding.verdict for finding in added} == {Verdict.FAIL, Verdict.NOT_APPLICABLE}


def test_pages_and_csv_speak_the_language_of_their_reader(cluster: Cluster) -> None:
    with override("ja"):
        questions = checklists.of_cluster(cluster)["questions"]
        matrix = checklists.matrix([cluster])
        _, rows = exports.finding_rows([cluster])
    titles = [line.finding.title for question in questions for line in question.lines]
    titles += [question.title for question in questions] + list(matrix["questions"].values())
    titles += [cell.first for cell in matrix["rows"][0].cells if cell.first]
    titles += [str(row[5]) for row in rows]
    assert all(title.startswith("「") for title in titles)


def test_a_cluster_that_was_never_read_has_no_findings(team: Team) -> None:
    bare = Cluster.objects.create(team=team, name="new", source=Cluster.Source.FILE)
    assert findings.of_clusters([bare]) == {}
