"""Choosing the levels of a cluster, and the snapshot that shows them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from planner.accounts.models import AuditEvent, Team, User
from planner.inventory import clusters, levels, queries
from planner.inventory.models import Cluster, Snapshot
from planner.jobs import runner
from planner.jobs.models import Job
from tests.planner.inventory.builders import dump, node

BLOCK, CAB = "cloud.google.com/gce-topology-block", "example.com/cab"
RACK = "cloud.google.com/gce-topology-subblock"


def machines() -> list[dict[str, Any]]:
    return [node(f"n{n}", **{BLOCK: f"b{n // 2}", CAB: f"cab-{n % 2}"}) for n in range(4)]


@pytest.fixture
def cluster(team: Team, ada: User) -> Cluster:
    return clusters.create_from_files(team=team, name="prod", sources=[dump(*machines())], by=ada)


@pytest.fixture
def admin_client(client_for: Callable[..., Client], ada: User) -> Client:
    return client_for(ada)


@pytest.fixture
def viewer_client(client_for: Callable[..., Client], vic: User) -> Client:
    return client_for(vic)


def rows(*pairs: tuple[str, str], version: int = 1, do: str = "save") -> dict[str, str]:
    data = {
        "do": do,
        "version": str(version),
        "level-TOTAL_FORMS": str(len(pairs)),
        "level-INITIAL_FORMS": "0",
    }
    for number, (name, key) in enumerate(pairs):
        data |= {f"level-{number}-name": name, f"level-{number}-key": key}
    return data


def save(client: Client, cluster: Cluster, *pairs: tuple[str, str], **more: Any) -> Any:
    return client.post(queries.cluster_url(cluster, "levels"), rows(*pairs, **more))


def lay_now(cluster: Cluster) -> Snapshot:
    job = Job.objects.get(kind=levels.KIND, state=Job.State.QUEUED)
    assert runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.error_message
    cluster.refresh_from_db()
    assert cluster.current_snapshot is not None
    return cluster.current_snapshot


@pytest.mark.django_db
class TestChoosing:
    def test_new_levels_are_a_new_snapshot_of_the_same_age(
        self, admin_client: Client, cluster: Cluster
    ) -> None:
        before = cluster.current_snapshot
        assert before is not None
        assert before.topology_keys == [["block", BLOCK]]
        answer = save(admin_client, cluster, ("cabinet", CAB), ("block", BLOCK))
        assert answer.status_code == 302
        after = lay_now(cluster)
        assert after.pk != before.pk
        assert after.taken_at == before.taken_at
        assert after.topology_keys == [["cabinet", CAB], ["block", BLOCK]]
        assert after.nodes.get(name="n1").topology == {"cabinet": "cab-1", "block": "b0"}
        before.refresh_from_db()
        assert before.topology_keys == [["block", BLOCK]]

    def test_what_was_odd_about_a_snapshot_stays_odd_with_other_levels(
        self, admin_client: Client, cluster: Cluster, ada: User
    ) -> None:
        clusters.import_files(cluster=cluster, sources=[dump(*machines()[:1])], by=ada)
        cluster.refresh_from_db()
        save(admin_client, cluster, ("cabinet", CAB))
        after = lay_now(cluster)
        assert [flag["code"] for flag in after.flags] == ["shrunk"]
        page = admin_client.get(queries.cluster_url(cluster)).content.decode()
        assert "shrunk by more than half since snapshot 1: 8 instead of 32 GPUs" in page

    def test_later_imports_keep_them(
        self, admin_client: Client, cluster: Cluster, ada: User
    ) -> None:
        save(admin_client, cluster, ("cabinet", CAB))
        cluster.refresh_from_db()
        newer = clusters.import_files(cluster=cluster, sources=[dump(*machines())], by=ada)
        assert newer.topology_keys == [["cabinet", CAB]]

    def test_back_to_the_proposal(self, admin_client: Client, cluster: Cluster) -> None:
        save(admin_client, cluster, ("cabinet", CAB))
        lay_now(cluster)
        save(admin_client, cluster, version=2, do="reset")
        assert lay_now(cluster).topology_keys == [["block", BLOCK]]
        cluster.refresh_from_db()
        assert cluster.topology_levels == []

    def test_it_is_written_down_who_chose_what(
        self, admin_client: Client, cluster: Cluster, ada: User
    ) -> None:
        save(admin_client, cluster, ("cabinet", CAB))
        event = AuditEvent.objects.get(action="cluster.levels-edited")
        assert (event.actor, event.detail["levels"]) == (ada, [f"cabinet={CAB}"])

    def test_somebody_elses_edit_is_not_overwritten(
        self, admin_client: Client, cluster: Cluster
    ) -> None:
        save(admin_client, cluster, ("cabinet", CAB))
        answer = save(admin_client, cluster, ("block", BLOCK), version=1)
        assert answer.status_code == 409
        assert f"cabinet = {CAB}" in answer.content.decode()
        cluster.refresh_from_db()
        assert cluster.topology_levels == [["cabinet", CAB]]

    @pytest.mark.parametrize(
        ("pairs", "words"),
        [
            ([("rack", "example.com/nowhere")], "No GPU node carries the label"),
            ([("Rack 1", CAB)], "Use lower-case letters"),
            ([("node", CAB)], "meaning of its own"),
            ([("rack", "")], "Say which label"),
            ([("a", CAB), ("b", CAB)], "stands in two rows"),
            ([("a", CAB), ("b", BLOCK), ("a", "nvidia.com/gpu.product")], "comes twice"),
            ([("", "")], "Choose at least one level"),
        ],
    )
    def test_mistakes_are_told_beside_their_row(
        self,
        admin_client: Client,
        cluster: Cluster,
        pairs: list[tuple[str, str]],
        words: str,
    ) -> None:
        answer = save(admin_client, cluster, *pairs)
        assert answer.status_code == 422
        assert words in answer.content.decode()
        cluster.refresh_from_db()
        assert (cluster.topology_levels, cluster.version) == ([], 1)

    def test_rows_move_without_being_saved(self, admin_client: Client, cluster: Cluster) -> None:
        answer = save(admin_client, cluster, ("a", CAB), ("b", BLOCK), do="down-0")
        assert answer.status_code == 200
        assert answer.context["forms"].initial == [
            {"name": "b", "key": BLOCK},
            {"name": "a", "key": CAB},
        ]
        cluster.refresh_from_db()
        assert cluster.topology_levels == []

    def test_a_name_may_be_left_to_the_key(self, admin_client: Client, cluster: Cluster) -> None:
        save(admin_client, cluster, ("", BLOCK))
        cluster.refresh_from_db()
        assert cluster.topology_levels == [["block", BLOCK]]

    def test_levels_chosen_while_a_snapshot_is_made_are_laid_after_it(
        self, cluster: Cluster, ada: User
    ) -> None:
        used = levels.chosen(cluster)
        Cluster.objects.filter(pk=cluster.pk).update(topology_levels=[["cabinet", CAB]])
        levels.ask_again_if_changed(cluster, used)
        assert lay_now(cluster).topology_keys == [["cabinet", CAB]]


@pytest.mark.django_db
class TestShowing:
    def test_the_page_offers_what_nodes_carry_and_says_why(
        self, admin_client: Client, cluster: Cluster
    ) -> None:
        page = admin_client.get(queries.cluster_url(cluster, "levels")).content.decode()
        assert f'<option value="{CAB}">' in page
        assert "label on 4 of 4 GPU nodes" in page

    def test_only_admins_are_led_to_it(
        self, viewer_client: Client, admin_client: Client, cluster: Cluster
    ) -> None:
        url = queries.cluster_url(cluster, "levels")
        topology = queries.cluster_url(cluster, "topology")
        assert url in admin_client.get(topology).content.decode()
        assert url not in viewer_client.get(topology).content.decode()

    def test_slots_are_shown_and_exported_alike(
        self, admin_client: Client, cluster: Cluster
    ) -> None:
        page = admin_client.get(queries.cluster_url(cluster, "topology"))
        (table,) = page.context["slots"]
        lines = list(
            csv.DictReader(
                io.StringIO(
                    admin_client.get(queries.cluster_url(cluster, "slots-csv")).content.decode(
                        "utf-8-sig"
                    )
                )
            )
        )
        assert [line["gangs_of_8"] for line in lines] == [
            str(gangs) for row in table.rows for size, gangs, _ in row.gangs if size == 8
        ]
        assert [line["domain"] for line in lines] == ["", "b0", "b1"]

    def test_a_cell_says_how_its_gangs_are_made_where_that_differs_from_the_head(
        self, admin_client: Client, team: Team, ada: User
    ) -> None:
        mixed = [node(f"s{n}", gpus=4, **{BLOCK: "small"}) for n in range(4)]
        mixed.append(node("big", gpus=8, **{BLOCK: "big"}))
        cluster = clusters.create_from_files(
            team=team, name="mixed", sources=[dump(*mixed)], by=ada
        )
        page = admin_client.get(queries.cluster_url(cluster, "topology"))
        (table,) = page.context["slots"]
        assert dict(table.columns)[8] == "2 × 4"
        eights = {row.name: cell for row in table.rows for cell in row.gangs if cell[0] == 8}
        assert eights == {
            "Whole cluster": (8, 3, ""), "small": (8, 2, ""), "big": (8, 1, "1 × 8"),
        }  # fmt: skip
        assert "<small>1 × 8</small>" in page.content.decode()

    def test_a_place_without_a_label_has_an_address_of_its_own(
        self, admin_client: Client, team: Team, ada: User
    ) -> None:
        clusters.create_from_files(
            team=team,
            name="holes",
            by=ada,
            sources=[
                dump(
                    node("in", **{BLOCK: "b", RACK: "r"}),
                    node("out", **{RACK: "r"}),
                )
            ],
        )
        found = admin_client.get("/nodes/?cluster=holes&domain=block:")
        assert [row.record.name for row in found.context["table"].rows] == ["out"]
        page = admin_client.get(queries.cluster_url(Cluster.objects.get(name="holes"), "topology"))
        (table,) = page.context["slots"]
        assert [row.name for row in table.rows] == [
            "Whole cluster", "b", "r", "Block not labelled"
        ]  # fmt: skip

    def test_fine_levels_of_a_large_cluster_are_folded_behind_a_door(
        self, admin_client: Client, team: Team, ada: User
    ) -> None:
        many = [node(f"n{n}", **{BLOCK: f"b{n % 3}", RACK: f"r{n}"}) for n in range(45)]
        large = clusters.create_from_files(team=team, name="large", sources=[dump(*many)], by=ada)
        url = queries.cluster_url(large, "topology")
        (table,) = admin_client.get(url).context["slots"]
        assert [row.name for row in table.rows] == ["Whole cluster", "b0", "b1", "b2"]
        assert [row.inside for row in table.rows] == [0, 15, 15, 15]
        (inside,) = admin_client.get(url + table.rows[1].inside_url).context["slots"]
        assert [row.name for row in inside.rows[:3]] == ["b0", "r0", "r3"]
        assert len(inside.rows) == 16

    def test_a_place_that_there_is_not_shows_the_cluster(
        self, admin_client: Client, cluster: Cluster
    ) -> None:
        url = queries.cluster_url(cluster, "topology")
        for within in ("rack:1", "block", "block:b0/block:b0", "<script>:x"):
            page = admin_client.get(url, {"within": within})
            assert page.context["within"] == ""
            assert page.context["slots"][0].rows[0].name == "Whole cluster"

    def test_hostile_labels_are_shown_as_text(
        self, admin_client: Client, team: Team, ada: User
    ) -> None:
        bad = "<script>alert(1)</script>"
        odd = clusters.create_from_files(
            team=team,
            name="odd",
            by=ada,
            sources=[dump(node("n", **{BLOCK: bad, bad: bad, "example.com/rack": "r" * 5000}))],
        )
        for page in ("topology", "levels"):
            answer = admin_client.get(queries.cluster_url(odd, page))
            assert answer.status_code == 200
            assert bad not in answer.content.decode()
