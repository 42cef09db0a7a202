"""The report of one sync: what the account may not list, what that costs, and what to apply."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import pytest
import yaml
from django.test import Client
from django.urls import reverse

from fleet import read_words
from fleet.kubernetes.resources import RESOURCES
from fleet.kubernetes.unread import lost_with
from planner.accounts.models import Team, User
from planner.inventory import flags, sync
from planner.inventory.models import Cluster
from planner.inventory.reaching import keep_access
from planner.jobs import runner
from planner.jobs.models import Job
from tests.fakes.kubeapi import FakeKubeApi, expired, page, slow, status
from tests.planner.inventory.builders import node, pod

pytestmark = pytest.mark.django_db(transaction=True)

QUOTAS = "/api/v1/resourcequotas"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
QUEUES = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
DEPLOYMENTS = "/apis/apps/v1/deployments"
PODS = "/api/v1/pods"


@pytest.fixture
def fake() -> Iterator[FakeKubeApi]:
    with FakeKubeApi(token=None) as server:
        server.add("/api/v1/nodes", "NodeList", [node("a")])
        server.add(PODS, "PodList", [pod("p", "a")])
        for path in (QUOTAS, SLICES, QUEUES, DEPLOYMENTS):
            server.add(path, "List", [])
        yield server


@pytest.fixture
def cluster(fake: FakeKubeApi, team: Team) -> Cluster:
    found = Cluster.objects.create(
        team=team, name="prod", source=Cluster.Source.FIELDS, server=fake.url
    )
    keep_access(found, fake.access())
    return found


def synced(cluster: Cluster) -> Job:
    job, _ = sync.request_sync_job(cluster, by=None)
    assert runner.run(job.pk)
    job.refresh_from_db()
    cluster.refresh_from_db()
    assert job.state == Job.State.DONE, job.error_message
    return job


def report(login: Client, cluster: Cluster) -> str:
    assert cluster.current_snapshot is not None
    address = reverse(
        "inventory:snapshot-detail", args=[cluster.uuid, cluster.current_snapshot.number]
    )
    return unescape(login.get(address).content.decode())


@pytest.fixture
def reader(vic: User, client: Client) -> Client:
    client.force_login(vic)
    return client


def test_the_report_speaks_the_language_of_its_reader(
    cluster: Cluster, fake: FakeKubeApi, reader: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = page("PodList", [pod("p", "a")], "next")
    fake.script(PODS, *[start, expired("new")] * 3, page("PodList", []))
    fake.script(QUOTAS, status(403))
    fake.script(SLICES, status(500), repeat_last=True)
    synced(cluster)
    monkeypatch.setattr(flags, "_", lambda text: f"~{text}")
    monkeypatch.setattr(read_words, "say", lambda text, **values: "~" + text.format(**values))
    text = report(reader, cluster)
    for sentence in (
        "This snapshot ~was not read at one moment: the list of pods expired",
        "~The list expired while it was read, 3 times",
        "~The credential may not list it (403).",
        "~The API server answered with an error (500), several times.",
        "~The cluster does not serve it.",
    ):
        assert sentence in text


def test_three_forbidden_resources_are_named_with_what_they_cost_and_the_rule_to_apply(
    cluster: Cluster, fake: FakeKubeApi, reader: Client
) -> None:
    for path in (QUOTAS, SLICES, QUEUES):
        fake.script(path, status(403))
    synced(cluster)
    text = report(reader, cluster)
    forbidden = text[text.index('id="forbidden"') : text.index("Each resource and its answer")]
    keys = {
        "resourcequotas",
        "resourceslices.resource.k8s.io",
        "clusterqueues.kueue.x-k8s.io",
    }
    assert set(re.findall(r"<td><code>([^<]+)</code></td>", forbidden)) == keys
    for key in keys:
        assert lost_with(key) in forbidden
    manifest = re.search(r"<pre[^>]*><code>(.*?)</code></pre>", forbidden, re.DOTALL)
    assert manifest is not None
    role, binding = yaml.safe_load_all(manifest.group(1))
    assert role["rules"] == [
        {"apiGroups": [group], "resources": [plural], "verbs": ["get", "list"]}
        for group, plural in (
            ("", "resourcequotas"),
            ("resource.k8s.io", "resourceslices"),
            ("kueue.x-k8s.io", "clusterqueues"),
        )
    ]
    assert binding["roleRef"]["name"] == role["metadata"]["name"] != "gpu-fleet-planner"


def test_a_report_without_anything_forbidden_asks_for_nothing(
    cluster: Cluster, reader: Client
) -> None:
    synced(cluster)
    text = report(reader, cluster)
    assert 'id="forbidden"' not in text
    assert "ClusterRole" not in text


def test_what_failed_is_named_with_what_it_costs_and_without_a_rule_to_apply(
    cluster: Cluster, fake: FakeKubeApi, reader: Client
) -> None:
    fake.script(SLICES, status(500, retry_after="0"), repeat_last=True)
    synced(cluster)
    text = report(reader, cluster)
    failed = text[text.index('id="failed"') : text.index("Each resource and its answer")]
    assert re.findall(r"<td><code>([^<]+)</code></td>", failed) == [
        "resourceslices.resource.k8s.io"
    ]
    assert lost_with("resourceslices.resource.k8s.io") in failed
    assert "(500)" in failed
    assert 'id="forbidden"' not in text
    assert "ClusterRole" not in text


def test_the_seconds_of_each_resource_are_shown(
    cluster: Cluster, fake: FakeKubeApi, reader: Client
) -> None:
    fake.script(QUOTAS, slow(0.3))
    synced(cluster)
    row = re.search(r"<code>resourcequotas</code>.*?</tr>", report(reader, cluster), re.DOTALL)
    assert row is not None
    numbers = re.findall(r'<td class="num">([^<]+)</td>', row.group())
    assert numbers[0] == "0"
    assert 0.3 <= float(numbers[1]) < 30


def test_after_the_rule_is_applied_the_next_sync_asks_for_nothing(
    cluster: Cluster, fake: FakeKubeApi, reader: Client
) -> None:
    fake.script(QUOTAS, status(403))
    synced(cluster)
    assert 'id="forbidden"' in report(reader, cluster)
    synced(cluster)
    assert 'id="forbidden"' not in report(reader, cluster)


def test_a_list_of_several_moments_flags_its_snapshot_and_the_report(
    cluster: Cluster, fake: FakeKubeApi, reader: Client
) -> None:
    start = page("PodList", [pod("p", "a")], "next")
    rest = page("PodList", [pod("q", "a", gpus=2)])
    fake.script(PODS, *[start, expired("new")] * 3, rest)
    job = synced(cluster)
    assert cluster.current_snapshot is not None
    assert "not read at one moment" in cluster.current_snapshot.flagged
    assert "not read at one moment" in job.result
    assert cluster.current_snapshot.requested_gpus == 3
    text = report(reader, cluster)
    assert "was not read at one moment: the list of pods expired" in text
    assert "its end is of a later moment than its start" in text


@pytest.mark.parametrize("key", [resource.key for resource in RESOURCES])
def test_each_resource_has_words_for_what_is_lost_with_it(key: str) -> None:
    words = lost_with(key)
    assert words.endswith(".")
    assert "{" not in words
    assert words != lost_with("widgets.example.com")
