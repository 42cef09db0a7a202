"""What a person pastes is harmless, whatever the objects of a cluster are called."""

from __future__ import annotations

import shlex

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fleet.inventory import GangObject, Taint
from fleet.readiness.pasting import shell_word, yaml_text
from fleet.readiness.report import check
from tests.fleet.readiness.answers import TODAY, answers
from tests.fleet.readiness.clusters import (
    cluster,
    controller,
    gpu_node,
    pod,
    quota,
    waiting,
)

HOSTILE = "x; touch /tmp/pwned\n  evil: true #\u202e\x1b[2J$(id)`id`'\""
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


@given(TEXT)
def test_yaml_text_reads_back_as_it_was(text: str) -> None:
    assert yaml.safe_load(f"key: {yaml_text(text)}\n") == {"key": text}
    assert yaml.safe_load(f"{yaml_text(text)}: 1\n") == {text: 1}


@given(TEXT)
def test_shell_word_is_one_printable_word(text: str) -> None:
    word = shell_word(text)
    assert word.isprintable()
    assert len(shlex.split(word)) == 1


@pytest.mark.parametrize("name", ["true", "yes", "null", "1e3", "12:30", "a: b", "- a", "", "~"])
def test_word_that_yaml_would_misread_is_quoted(name: str) -> None:
    assert yaml_text(name).startswith('"')


@pytest.mark.parametrize("provider", ["", "gke", "eks", "aks"])
def test_hostile_names_stay_inside_their_quotes(provider: str) -> None:
    version = "kueue.x-k8s.io/v1beta1"
    for queue in ((), (GangObject(version, "LocalQueue", HOSTILE, HOSTILE, None, (), {}),)):
        found = cluster(
            provider=provider,
            nodes=(
                gpu_node(HOSTILE, pool=HOSTILE),
                gpu_node(HOSTILE + "2", allocatable=0),
                gpu_node(HOSTILE + "3", allocatable=7, taints=(Taint(HOSTILE, HOSTILE, HOSTILE),)),
            ),
            pods=(
                pod("stray", 0, node=HOSTILE),
                waiting(HOSTILE, namespace=HOSTILE, requests={"nvidia.com/gpu" + HOSTILE: 1}),
            ),
            controllers=(controller("Job", HOSTILE, 8, 4, namespace=HOSTILE),),
            quotas=(quota({"nvidia.com/gpu" + HOSTILE: HOSTILE}, {}, namespace=HOSTILE),),
            gang_objects=queue,
        )
        snippets = [f.snippet for f in check(found, today=TODAY) if f.snippet]
        assert len(snippets) > 5
        for snippet in snippets:
            assert snippet.replace("\n", "").isprintable(), snippet
            if snippet.startswith(("kubectl", "gcloud", "aws", "az")):
                for line in snippet.splitlines():
                    assert "touch" not in shlex.split(line), line
            else:
                for document in yaml.safe_load_all(snippet):
                    assert "evil" not in str(list(document)), snippet


def test_toleration_snippet_carries_the_taint_exactly() -> None:
    taint = Taint("team", "on", "NoSchedule")
    found = cluster(nodes=(gpu_node(taints=(taint,)),), pods=(waiting("a"),))
    snippet = answers(found, "workload-tolerations")[0].snippet
    (toleration,) = yaml.safe_load(snippet)["tolerations"]
    assert toleration["value"] == "on"
