"""Question 5: probes give models the time they need to load."""

from __future__ import annotations

from datetime import timedelta

import pytest
import yaml

from fleet.inventory import ContainerProbes, Inventory, Owner
from fleet.readiness.finding import Verdict
from fleet.readiness.probe_startup import suggestion
from fleet.readiness.report import check_declared
from fleet.readiness.serving import budget, earliest_kill, servers, serving_containers
from fleet.readiness.subject import Subject
from fleet.sizing.requirement import Fit, MemoryUse, Requirement, Shape
from fleet.workloads import LlmWorkload, TrainingWorkload
from tests.fleet.readiness.answers import TODAY, answers, verdicts
from tests.fleet.readiness.clusters import TAKEN_AT, cluster, controller, pod, probes, times

READY = times(period=5)


def server(
    *loads: float, restarts: int = 0, kind: str = "Deployment", **fields: object
) -> Inventory:
    """A Deployment with one pod for each measured load."""
    srv = controller(kind, "srv", 1, max(1, len(loads)), **fields)
    start = TAKEN_AT - timedelta(hours=3)
    pods = tuple(
        pod(
            f"srv-{i}",
            owner=Owner(kind, "srv"),
            started=start,
            ready=start + timedelta(seconds=load),
            restarts=restarts,
        )
        for i, load in enumerate(loads)
    )
    return cluster(controllers=(srv,), pods=pods)


def test_budget_and_earliest_kill_differ_by_one_period() -> None:
    probe = times(delay=30, period=10, failures=3)
    assert (budget(probe), earliest_kill(probe)) == (60, 50)


def test_training_jobs_are_not_judged() -> None:
    found = server(600, kind="Job", probes=probes())
    assert verdicts(found, "probe-startup") == [Verdict.NOT_APPLICABLE]


def test_worker_that_answers_nobody_is_not_a_server() -> None:
    leader = ContainerProbes("leader", None, READY, None, wants_gpu=True, ports=1)
    worker = ContainerProbes("worker", None, None, None, wants_gpu=True)
    sidecar = ContainerProbes("proxy", None, READY, READY, wants_gpu=False, ports=1)
    assert serving_containers((leader, worker, sidecar)) == (leader,)
    assert serving_containers((worker,)) == (worker,)


@pytest.mark.parametrize(
    ("readiness", "verdict"),
    [
        (None, Verdict.FAIL),
        (times("tcpSocket"), Verdict.WARN),
        (times("httpGet"), Verdict.PASS),
        (times("grpc"), Verdict.PASS),
        (times("exec"), Verdict.PASS),
    ],
)
def test_readiness_must_ask_the_model(readiness: object, verdict: Verdict) -> None:
    assert verdicts(server(probes=probes(readiness=readiness)), "probe-readiness") == [verdict]


@pytest.mark.parametrize(
    ("load", "verdict"),
    [
        (100.0, Verdict.PASS),  # budget 150: exactly 1.5 times
        (101.0, Verdict.WARN),
        (140.0, Verdict.WARN),  # the last probe lands at 140
        (141.0, Verdict.FAIL),
    ],
)
def test_startup_budget_is_held_against_the_measured_load(load: float, verdict: Verdict) -> None:
    found = server(load, probes=probes(startup=times(period=10, failures=15)))
    assert verdicts(found, "probe-startup") == [verdict]


def test_startup_probe_without_a_known_load_is_a_warning() -> None:
    found = server(probes=probes(startup=times(failures=60)))
    (finding,) = answers(found, "probe-startup")
    assert finding.verdict is Verdict.WARN
    assert "not known" in finding.title


def test_pod_without_port_and_probe_is_asked_about_and_not_failed() -> None:
    silent = (ContainerProbes("main", None, None, None, wants_gpu=True),)
    found = server(probes=silent)
    assert verdicts(found, "probe-readiness") == [Verdict.UNKNOWN]
    assert verdicts(found, "probe-startup") == [Verdict.NOT_APPLICABLE]


def test_pods_of_an_operator_show_the_probes_that_it_added() -> None:
    bare = (ContainerProbes("main", None, None, None, wants_gpu=True, ports=1),)
    isvc = controller("InferenceService", "srv", probes=bare, gang_size=1)
    made = pod("srv-0", owner=Owner("InferenceService", "srv"), probes=probes(readiness=READY))
    assert verdicts(cluster(controllers=(isvc,)), "probe-readiness") == [Verdict.FAIL]
    found = cluster(controllers=(isvc,), pods=(made,))
    assert verdicts(found, "probe-readiness") == [Verdict.PASS]


def test_the_slowest_measured_pods_decide() -> None:
    found = server(20, 20, 20, 200, probes=probes(startup=times(period=10, failures=15)))
    assert verdicts(found, "probe-startup") == [Verdict.FAIL]


def test_restarted_pods_measure_nothing() -> None:
    found = server(5, restarts=2, probes=probes(startup=times(failures=60)))
    (measured,) = servers(Subject(found, TODAY))
    assert measured.loads == ()
    assert "restarted 2 times" in answers(found, "probe-startup")[0].detail


@pytest.mark.parametrize(
    ("liveness", "load", "verdict"),
    [
        (None, None, Verdict.WARN),
        (times(delay=30), None, Verdict.WARN),  # 50 s, need not known
        (times(delay=30), 53.0, Verdict.FAIL),
        (times(delay=30), 49.0, Verdict.WARN),
        (times(period=5, failures=3), None, Verdict.FAIL),  # 10 s: no model is that fast
        (times(period=60, failures=1), None, Verdict.FAIL),  # one miss restarts
    ],
)
def test_liveness_alone_is_judged_by_its_earliest_kill(
    liveness: object, load: float | None, verdict: Verdict
) -> None:
    loads = () if load is None else (load,)
    assert verdicts(server(*loads, probes=probes(liveness=liveness)), "probe-startup") == [verdict]


def test_suggested_probes_leave_twice_the_load_and_are_yaml() -> None:
    found = yaml.safe_load(suggestion(600))
    probe = found["startupProbe"]
    assert probe["failureThreshold"] * probe["periodSeconds"] == 1320
    assert yaml.safe_load(suggestion(None))["startupProbe"]["failureThreshold"] == 30


def test_generous_budget_hides_a_hang() -> None:
    startup = probes(startup=times(period=10, failures=61))
    assert verdicts(server(100, probes=startup), "probe-dead-time") == [Verdict.WARN]
    assert verdicts(server(102, probes=startup), "probe-dead-time") == [Verdict.PASS]
    assert verdicts(server(probes=startup), "probe-dead-time") == [Verdict.NOT_APPLICABLE]


@pytest.mark.parametrize(
    ("deadline", "load", "verdict"),
    [
        (None, 400.0, Verdict.PASS),  # the default of 600 s
        (None, 401.0, Verdict.WARN),
        (None, 601.0, Verdict.FAIL),
        (1200, 601.0, Verdict.PASS),
    ],
)
def test_rollout_waits_for_the_load(deadline: int | None, load: float, verdict: Verdict) -> None:
    found = server(load, progress_deadline_s=deadline, probes=probes(readiness=READY))
    assert verdicts(found, "rollout-deadline") == [verdict]


def requirement(high: float | None) -> Requirement:
    shape = Shape(
        gpu_model="L4",
        mig_profile=None,
        gpus_per_pod=1,
        pods=1,
        parallelism="",
        cpu_milli=1000,
        memory_mib=1024,
        usable_mib=22_000,
        use=MemoryUse(1, 1, 1, 0, 1),
        fit=Fit.FITS,
        why="",
        lines=(),
        load_seconds=(30.0, high) if high is not None else None,
    )
    return Requirement("srv", "llm", (shape,), (), "", (), "")


DECLARED = LlmWorkload(name="srv", model="m", namespace="team-a")


def test_declared_load_counts_when_it_is_longer_than_the_measured_one() -> None:
    found = server(60, probes=probes(startup=times(period=10, failures=15)))
    (measured,) = answers(found, "probe-startup")
    assert measured.verdict is Verdict.PASS
    (finding,) = answers(found, "probe-startup", declared=[(DECLARED, requirement(900.0))])
    assert finding.verdict is Verdict.FAIL
    assert "15 min (calculated by sizing)" in finding.detail


def test_declared_workload_that_is_not_deployed_gets_its_probes() -> None:
    (finding,) = answers(cluster(), "declared-load", declared=[(DECLARED, requirement(900.0))])
    assert finding.verdict is Verdict.NOT_APPLICABLE
    assert "failureThreshold: 192" in finding.snippet


def test_declared_training_has_no_probes() -> None:
    training = TrainingWorkload(name="srv", model="m", namespace="team-a")
    assert answers(cluster(), "declared-load", declared=[(training, requirement(900.0))]) == []


def test_declared_workload_without_a_known_load_is_left_out() -> None:
    assert answers(cluster(), "declared-load", declared=[(DECLARED, requirement(None))]) == []


@pytest.mark.parametrize(
    ("failures", "verdict"),
    [(89, Verdict.FAIL), (90, Verdict.WARN), (134, Verdict.WARN), (135, Verdict.PASS)],
)
def test_declared_load_is_held_against_the_startup_budget(failures: int, verdict: Verdict) -> None:
    found = server(probes=probes(startup=times(period=10, failures=failures)))
    (finding,) = answers(found, "declared-load", declared=[(DECLARED, requirement(900.0))])
    assert finding.verdict is verdict
    if verdict is not Verdict.PASS:
        assert finding.evidence[0].value == f"httpGet, {failures} × 10 s"
        assert "failureThreshold: 192" in finding.snippet


def test_declared_load_is_held_against_the_liveness_probe_where_it_is_alone() -> None:
    found = server(probes=probes(liveness=times(delay=30, period=10, failures=3)))
    (finding,) = answers(found, "declared-load", declared=[(DECLARED, requirement(900.0))])
    assert finding.verdict is Verdict.FAIL
    assert finding.evidence[0].field.endswith("livenessProbe")


def test_declared_workload_without_a_waiting_probe_gets_its_probes() -> None:
    found = server(probes=probes(readiness=READY))
    (finding,) = answers(found, "declared-load", declared=[(DECLARED, requirement(900.0))])
    assert finding.verdict is Verdict.NOT_APPLICABLE
    assert "no probe that waits" in finding.title
    assert "failureThreshold: 192" in finding.snippet


def test_a_server_of_the_same_name_in_another_namespace_is_not_the_declared_one() -> None:
    found = server(probes=probes(startup=times(period=10, failures=10)))
    elsewhere = LlmWorkload(name="srv", model="m", namespace="team-b")
    (finding,) = answers(found, "declared-load", declared=[(elsewhere, requirement(900.0))])
    assert finding.verdict is Verdict.NOT_APPLICABLE
    assert "team-b/srv is not on this cluster yet" in finding.title


def test_declared_workloads_alone_give_only_their_own_findings() -> None:
    found = server(probes=probes(startup=times(period=10, failures=10)))
    declared = [(DECLARED, requirement(900.0))]
    models = tuple(servers(Subject(found, TODAY)))
    alone = check_declared(models, declared=declared)
    assert list(alone) == answers(found, "declared-load", declared=declared)
    assert check_declared(models, declared=()) == ()
