"""What the printed role allows on a real server: all that is read, nothing else."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
import yaml
from django.test import Client as Web
from django.urls import reverse

from fleet.inventory import ReadStatus
from fleet.kubernetes.fetching import FetchError, Reason
from fleet.kubernetes.rbac import NAME
from fleet.kubernetes.resources import RESOURCES
from planner.inventory.models import Cluster
from planner.jobs.models import Job
from tests.cluster.client import Client
from tests.cluster.objects import gpu_node, gpus, pod
from tests.cluster.planes import Running
from tests.cluster.product import inventory_of, printed_objects
from tests.cluster.syncing import resynced, synced

OPTIONAL = ("resourcequotas", "deviceclasses.resource.k8s.io", "cronjobs.batch")


@pytest.fixture
def reader(cluster: Running) -> Iterator[Client]:
    """A client that calls with the token of the printed ServiceAccount."""
    with caller(cluster, cluster.token) as client:
        yield client


def caller(cluster: Running, token: str) -> Client:
    return Client(replace(cluster.plane.admin, token=token))


def account_with(cluster: Running, name: str, drop: tuple[str, ...]) -> str:
    """A token of an account whose role is the printed one without some resources."""
    (role,) = [item for item in printed_objects() if item["kind"] == "ClusterRole"]
    rules = []
    for rule in role["rules"]:
        (group,) = rule["apiGroups"]
        kept = [p for p in rule["resources"] if (f"{p}.{group}" if group else p) not in drop]
        if kept:
            rules.append({**rule, "resources": kept})
    admin = cluster.admin
    for item in (
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}},
        {**role, "metadata": {"name": name}, "rules": rules},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": name,
            },
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}],
        },
    ):
        admin.ensure(item)
    return admin.token("default", name)


def test_the_printed_role_is_enough_for_every_resource_that_is_served(
    rich_cluster: Running,
) -> None:
    rich_cluster.admin.create(gpu_node("a"))
    inventory = inventory_of(rich_cluster.plane.access(rich_cluster.token))
    reads = {read.resource: read.status for read in inventory.reads}
    assert set(reads) == {resource.key for resource in RESOURCES}
    assert set(reads.values()) == {ReadStatus.READ, ReadStatus.NOT_SERVED}
    # What this server has by itself; the rest comes with CRDs. 1.36 has no composite groups.
    built_in = {
        resource.key
        for resource in RESOURCES
        if resource.group in ("", "apps", "batch", "scheduling.k8s.io", "resource.k8s.io")
    }
    if rich_cluster.minor == "1.36":
        built_in -= {"compositepodgroups.scheduling.k8s.io"}
    served = {key for key, status in reads.items() if status is ReadStatus.READ}
    assert served == built_in


def test_without_any_rule_of_the_role_its_resources_are_forbidden(cluster: Running) -> None:
    """So each resource in the role is needed: the server grants nothing of it by itself."""
    everything = tuple(resource.key for resource in RESOURCES)
    token = account_with(cluster, "no-rules", everything)
    with caller(cluster, token) as client:
        served = [r for r in RESOURCES if r.group in ("", "apps", "batch", "resource.k8s.io")]
        for resource in served:
            root = f"/apis/{resource.group}/v1" if resource.group else "/api/v1"
            status, _ = client.send("GET", f"{root}/{resource.plural}?limit=1")
            assert (resource.key, status) == (resource.key, 403)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/secrets"),
        ("GET", "/api/v1/namespaces/kube-system/secrets"),
        ("GET", "/api/v1/configmaps"),
        ("GET", "/api/v1/events"),
        ("GET", "/api/v1/serviceaccounts"),
        ("GET", "/api/v1/nodes/a/proxy/metrics"),
        ("GET", "/api/v1/namespaces/default/pods/p/log"),
        ("POST", "/api/v1/namespaces/default/pods/p/exec?command=id"),
        ("GET", "/api/v1/pods?watch=true&timeoutSeconds=1"),
        ("POST", "/api/v1/namespaces/default/pods"),
        ("POST", "/api/v1/namespaces/default/serviceaccounts/default/token"),
        ("DELETE", "/api/v1/nodes/a"),
        ("PATCH", "/api/v1/nodes/a"),
        ("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles"),
        ("GET", "/metrics"),
    ],
)
def test_whatever_is_not_in_the_role_is_refused(
    cluster: Running, reader: Client, method: str, path: str
) -> None:
    cluster.admin.create(gpu_node("a"))
    cluster.admin.create(pod("p", gpus(1), nodeName="a"))
    body = b"{}" if method in ("POST", "PATCH") else None
    content = "application/merge-patch+json" if method == "PATCH" else "application/json"
    status, data = reader.send(method, path, body, content)
    assert status == 403, data[:300]


def test_the_server_counts_the_printed_rights_and_no_other(cluster: Running) -> None:
    """SelfSubjectRulesReview: what the account may do beyond what every account may."""
    nothing = account_with(cluster, "no-rules", tuple(resource.key for resource in RESOURCES))
    granted = rights(cluster, cluster.token) - rights(cluster, nothing)
    assert granted == {(r.group, r.plural, verb) for r in RESOURCES for verb in ("get", "list")}


def rights(cluster: Running, token: str) -> set[tuple[str, str, str]]:
    """(group, resource, verb) of all that the server lets the owner of a token do."""
    with caller(cluster, token) as client:
        review = client.call(
            "POST",
            "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectRulesReview",
                "spec": {"namespace": "default"},
            },
        )
    assert not review["status"]["incomplete"]
    return {
        (group, plural, verb)
        for rule in review["status"]["resourceRules"]
        for group in rule["apiGroups"]
        for plural in rule["resources"]
        for verb in rule["verbs"]
    }


@pytest.mark.django_db(transaction=True)
def test_the_sync_of_a_role_without_three_resources_is_complete_and_names_them(
    cluster: Running,
) -> None:
    cluster.admin.create(gpu_node("a"))
    cluster.admin.create(pod("p", gpus(2), nodeName="a"))
    token = account_with(cluster, "three-less", OPTIONAL)
    planned, job = synced(cluster.plane.access(token))
    assert job.state == Job.State.DONE, job.error_message
    snapshot = planned.current_snapshot
    assert snapshot is not None
    assert snapshot.is_complete
    assert (snapshot.physical_gpus, snapshot.requested_gpus, snapshot.free_gpus) == (8, 2, 6)
    statuses: dict[str, Any] = {read["resource"]: read["status"] for read in snapshot.reads}
    assert {key for key, status in statuses.items() if status == "forbidden"} == set(OPTIONAL)
    assert statuses["jobs.batch"] == "read"
    assert statuses["jobsets.jobset.x-k8s.io"] == "not-served"


@pytest.mark.django_db(transaction=True)
def test_the_rule_on_the_sync_report_is_what_the_server_wanted(
    cluster: Running, admin_client: Web
) -> None:
    cluster.admin.create(gpu_node("a"))
    token = account_with(cluster, "report-less", OPTIONAL)
    planned, _ = synced(cluster.plane.access(token))
    report = _report(admin_client, planned)
    forbidden = report[report.index('id="forbidden"') :]
    named = set(re.findall(r"<td><code>([^<]+)</code></td>", forbidden))
    assert named >= set(OPTIONAL)
    manifest = re.search(r"<pre[^>]*><code>(.*?)</code></pre>", forbidden, re.DOTALL)
    assert manifest is not None
    for item in yaml.safe_load_all(manifest.group(1)):
        if item["kind"] == "ClusterRoleBinding":  # the page names the account that we print
            item["subjects"][0] |= {"name": "report-less", "namespace": "default"}
        cluster.admin.create(item)
    resynced(planned)
    assert 'id="forbidden"' not in _report(admin_client, planned)


def _report(web: Web, planned: Cluster) -> str:
    """The page that a person sees of the newest sync."""
    assert planned.current_snapshot is not None
    number = planned.current_snapshot.number
    answer = web.get(reverse("inventory:snapshot-detail", args=[planned.uuid, number]))
    assert answer.status_code == 200
    return unescape(answer.content.decode())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("drop", "words"),
    [
        (("pods",), "may not list pods in all namespaces (403)"),
        (("nodes", "pods"), "may not list nodes and pods in all namespaces (403)"),
        (("nodes", "namespaces"), "may not list nodes in all namespaces, nor 1 other resource"),
    ],
)
def test_without_nodes_or_pods_a_sync_fails_with_its_reason_and_keeps_the_snapshot(
    newest: Running, drop: tuple[str, ...], words: str
) -> None:
    newest.admin.create(gpu_node("a"))
    token = account_with(newest, f"without-{'-'.join(drop)}", drop)
    planned, job = synced(newest.plane.access(token))
    assert (job.state, job.error_code) == (Job.State.FAILED, "forbidden")
    assert words in job.error_message
    assert "ClusterRole" in job.error_way_out
    assert planned.current_snapshot is None


@pytest.mark.django_db(transaction=True)
def test_a_token_of_a_deleted_account_pauses_the_schedule(cluster: Running) -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "short-lived"}}
    cluster.admin.create(account)
    token = cluster.admin.token("default", "short-lived")
    cluster.admin.delete(account)
    planned, job = synced(cluster.plane.access(token))
    assert (job.state, job.error_code) == (Job.State.FAILED, "unauthorized")
    assert "(401)" in job.error_message
    assert planned.paused_reason == "unauthorized"
    assert planned.current_snapshot is None


@pytest.mark.django_db(transaction=True)
def test_an_expired_token_is_told_apart_from_a_missing_right(cluster: Running) -> None:
    account = cluster.admin.get(f"/api/v1/namespaces/{NAME}/serviceaccounts/{NAME}")
    uid = account["metadata"]["uid"]
    token = cluster.plane.credentials.expired_token(NAME, NAME, uid)
    _, job = synced(cluster.plane.access(token))
    assert (job.state, job.error_code) == (Job.State.FAILED, "unauthorized")
    assert "expired" in job.error_way_out


def test_a_token_that_the_harness_signs_is_good_until_it_expires(newest: Running) -> None:
    """The test above can only mean the date if the same token with another date is accepted."""
    credentials = newest.plane.credentials
    account = newest.admin.get(f"/api/v1/namespaces/{NAME}/serviceaccounts/{NAME}")
    expired = credentials.expired_token(NAME, NAME, account["metadata"]["uid"])
    claims = json.loads(_decoded(expired.split(".")[1]))
    good = credentials.signed(claims | {"exp": claims["exp"] + 3600})
    assert inventory_of(newest.plane.access(good)).version.git_version.startswith("v1.37")
    with pytest.raises(FetchError) as caught:
        inventory_of(newest.plane.access(good[:-20] + "A" * 20))
    assert caught.value.code is Reason.UNAUTHORIZED


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
