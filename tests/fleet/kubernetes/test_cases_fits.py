"""Where work fits now: the questions of the real cases, put to the functions that answer them.

A pod or a workload that the objects declare is looked up in the report. What the source asks in
prose ("gang of 4 pods x 8 GPUs") is put as a demand to ``fleet.fits.cluster``.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fleet.fits.ask import Ask, ask, ask_of, with_flavor
from fleet.fits.cluster import Cluster
from fleet.fits.groups import Member
from fleet.fits.node import No
from tests.fleet.kubernetes.known_cases import BY_ID, EXPECTED, Json, inventory_of, report_of

GPU = "nvidia.com/gpu"


def pod(number: str, name: str) -> list[str]:
    """Nodes that a waiting pod could be bound to."""
    found = report_of(number)["fits"]["pods"][name]
    assert found["fits"] is bool(found["nodes"])
    assert found["node_count"] == len(found["nodes"])
    nodes: list[str] = found["nodes"]
    return nodes


def gang(number: str, pods: int, gpus: int) -> tuple[bool, int]:
    """Whether a gang fits, and how many of its pods there is room for."""
    cluster = Cluster(inventory_of(number))
    one = ask({GPU: gpus})
    whole = cluster.groups([Member(one, pods)], most=1)
    alone = sum(domain.groups for domain in cluster.groups([Member(one, 1)]))
    return bool(whole), alone


def one_pod(number: str, gpus: int, model: str) -> list[str]:
    return list(Cluster(inventory_of(number)).fit(ask({GPU: gpus}, model=model)).nodes)


def lws_groups(together: int) -> list[str]:
    """Racks that hold so many groups of case 68 as one, with what Kueue puts on their pods."""
    inventory = inventory_of("68")
    (controller,) = inventory.controllers
    (flavor,) = [o for o in inventory.gang_objects if o.kind == "ResourceFlavor"]
    labels = {"cloud.provider.com/node-group": "tas-group"}

    def asked(plain: Ask) -> Ask:
        return with_flavor(plain, flavor.tolerations, labels)

    members = [
        Member(asked(ask_of(role)), role.pods // controller.groups * together)
        for role in controller.roles
    ]
    level = BY_ID["68"]["gang"]["team-a/nginx-leaderworkerset"]["required_level"]
    found = Cluster(inventory).groups(members, key=level, most=1)
    return ["/".join(domain.path) for domain in found]


def two_units_of_eight() -> str:
    found = report_of("64")["fits"]["workloads"]["team-a/deepseek-r1"]
    (domain,) = found["domains"]
    nodes = domain["nodes"]
    return "yes, on the two nodes" if found["fits"] and nodes == ["node-a", "node-b"] else "no"


def five_units() -> str:
    found = report_of("23")["fits"]["workloads"]["team-a/job-b"]
    (limit,) = found["limits"]
    (full,) = found["why_not"]
    answer = "yes" if found["fits"] else "no"
    return f"{answer}: {full['most']} units free and quota {limit['left']} left"


def free_v100() -> str:
    nodes = inventory_of("76").nodes
    free = [n.free(u) for n in nodes for g in n.groups if g.model == "V100" for u in g.units]
    answer = "no" if not one_pod("76", 2, "V100") else "yes"
    return f"{answer} ({' + '.join(map(str, sorted(free, reverse=True)))} free)"


def two_t4() -> str:
    fit = Cluster(inventory_of("76")).fit(ask({GPU: 2}, model="T4"))
    small = [c for c in fit.refused if c.reason is No.TOO_SMALL]
    assert fit.nodes == ()
    assert [(c.most, c.nodes) for c in small] == [(1, 4)]
    return "no node has 2"


QUESTIONS: dict[tuple[str, str], Callable[[], object]] = {
    ("12", "gang of 4 pods x 8 GPUs"): lambda: "yes" if gang("12", 4, 8)[0] else "no",
    ("12", "gang of 7 pods x 8 GPUs"): lambda: (
        "yes" if gang("12", 7, 8)[0] else f"no ({gang('12', 7, 8)[1]} free nodes)"
    ),
    ("23", "job-b (5 units)"): five_units,
    ("64", "team-a/deepseek-r1 (2 x 8)"): two_units_of_eight,
    ("68", "group 0"): lambda: " or ".join(lws_groups(1)),
    ("68", "both groups in ONE rack"): lambda: "yes" if lws_groups(2) else "no",
    ("76", "one pod x 2 V100"): free_v100,
    ("76", "one pod x 1 V100"): lambda: one_pod("76", 1, "V100"),
    ("76", "one pod x 2 T4"): two_t4,
}

ASKED = [(case["id"], question) for case in EXPECTED for question in case.get("fits", {})]


@pytest.mark.parametrize(("number", "question"), ASKED)
def test_where_it_fits(number: str, question: str) -> None:
    wanted = BY_ID[number]["fits"][question]
    answer = QUESTIONS.get((number, question))
    assert (answer() if answer is not None else pod(number, question)) == wanted


def test_every_pod_and_gang_that_is_asked_about_is_asked() -> None:
    assert set(QUESTIONS) <= set(ASKED)
    assert len(ASKED) == 17


def why_not(number: str, name: str) -> list[tuple[str, str, int]]:
    """(reason, about, nodes) of a waiting pod."""
    found: list[Json] = report_of(number)["fits"]["pods"][name]["why_not"]
    return [(c["reason"], c.get("about", ""), c["nodes"]) for c in found]


def test_each_class_of_nodes_says_why_it_does_not_take_a_pod() -> None:
    assert why_not("08", "team-a/serve-a") == [
        ("not-offered", GPU, 1),
        ("taint", "tritonOnly=true:NoExecute", 1),
    ]
    assert why_not("57", "team-a/gpu-pod") == [("taint", "nvidia.com/gpu=present:NoSchedule", 1)]
    assert why_not("47", "team-a/gpu-job") == [("not-real", "", 1), ("not-offered", GPU, 1)]
    assert why_not("50", "team-a/gpu-pod-9") == [("board-memory", GPU, 1)]


def test_a_name_that_no_node_offers_gets_the_nearest_one() -> None:
    (found,) = report_of("77")["fits"]["pods"]["team-a/job-test-7g80g"]["why_not"]
    assert found["about"] == "nvidia.com/mig-7g.79gb"
    assert found["nearest"] == "nvidia.com/mig-7g.80gb"
    assert found["nodes"] == 2


def test_both_groups_of_a_leader_worker_set_fit_in_a_rack_of_their_own() -> None:
    found = report_of("68")["fits"]["workloads"]["team-a/nginx-leaderworkerset"]
    assert found["fits"] is True
    assert found["groups_fit"] == found["groups_wanted"] == 2
    assert [(d["domain"], d["groups"]) for d in found["domains"]] == [
        ("block-a/rack-1", 1),
        ("block-b/rack-1", 1),
    ]


def test_without_the_toleration_of_kueues_flavor_the_racks_are_closed() -> None:
    inventory = inventory_of("68")
    (controller,) = inventory.controllers
    workers = next(role for role in controller.roles if role.requests)
    fit = Cluster(inventory).fit(ask_of(workers))
    assert fit.nodes == ()
    assert [c.reason for c in fit.refused] == [No.TAINT]
