"""Reading files: every form that kubectl and people produce, and every way to break one."""

from __future__ import annotations

import contextlib
import gzip
import json
from collections.abc import Callable

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fleet.inventory import ReadStatus
from fleet.kubernetes.documents import json_documents
from fleet.kubernetes.dump import DumpError, Limits, Source, load
from tests.fleet.kubernetes.written import Json, node, pod

OBJECTS = [node("node-a", gpus=2), pod("job-1", "node-a", gpus=1)]


def as_list(items: list[Json]) -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()


def as_yaml_documents(items: list[Json]) -> bytes:
    return yaml.safe_dump_all(items).encode()


def as_typed_lists(items: list[Json]) -> bytes:
    texts = []
    for item in items:
        bare = {key: value for key, value in item.items() if key not in ("kind", "apiVersion")}
        texts.append(
            json.dumps({"apiVersion": "v1", "kind": f"{item['kind']}List", "items": [bare]})
        )
    return "\n".join(texts).encode()


FORMS: dict[str, Callable[[list[Json]], bytes]] = {
    "list": as_list,
    "indented list": lambda items: json.dumps(json.loads(as_list(items)), indent=2).encode(),
    "array": lambda items: json.dumps(items).encode(),
    "one after the other": lambda items: "".join(map(json.dumps, items)).encode(),
    "one a line": lambda items: "\n".join(map(json.dumps, items)).encode() + b"\n\n",
    "typed lists without kinds": as_typed_lists,
    "list in a list": lambda items: as_list([json.loads(as_list(items))]),
    "yaml list": lambda items: yaml.safe_dump(json.loads(as_list(items))).encode(),
    "yaml documents": as_yaml_documents,
    "yaml with empty documents": lambda i: b"---\n---\n" + as_yaml_documents(i) + b"---\n",
    "gzip": lambda items: gzip.compress(as_list(items)),
    "gzip of two members": lambda i: gzip.compress(as_list(i[:1])) + gzip.compress(as_list(i[1:])),
    "utf-8 with a mark": lambda items: b"\xef\xbb\xbf" + as_list(items),
    "utf-16 of a Windows shell": lambda items: as_list(items).decode().encode("utf-16"),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_objects(form: str) -> None:
    whole = load([Source("plain", as_list(OBJECTS))])
    found = load([Source("file", FORMS[form](OBJECTS))])
    assert found.objects == whole.objects
    assert found.pods.total == 1


def test_several_files_make_one_cluster() -> None:
    raw = load([Source("nodes", as_list(OBJECTS[:1])), Source("pods", as_list(OBJECTS[1:]))])
    assert (len(raw.objects["nodes"]), raw.pods.total) == (1, 1)


def test_an_object_in_two_files_counts_once_and_is_named() -> None:
    raw = load([Source("one", as_list(OBJECTS)), Source("two", as_list(OBJECTS))])
    assert len(raw.objects["nodes"]) == 1
    assert "nodes: 1 objects came twice, the last one counts" in raw.problems


BROKEN = {
    "empty": (b" \n ", "file", "is empty"),
    "cut off": (as_list(OBJECTS)[:-5], "byte", "was the export cut off?"),
    "garbage at the end": (as_list(OBJECTS) + b"}", "byte", "not valid JSON"),
    "not JSON": (b'{"kind": "Node", oops}', "byte 17", "not valid JSON"),
    "broken gzip": (gzip.compress(as_list(OBJECTS))[:-20], "file", "ends too early"),
    "packed twice": (gzip.compress(gzip.compress(b"{}")), "file", "packed twice"),
    "binary": (b"\x7fELF\x00\x01\x02", "file", "is not text"),
    "prose": (b"hello world", "document 1", "expected a mapping"),
    "yaml alias": (b"a: &x [1]\nb: *x\n", "line 2", "alias"),
    "yaml bomb": (b"a: &a [x]\nb: &b [*a,*a]\nc: [*b,*b]\n", "line 2", "alias"),
    "broken yaml": (b"kind: Node\n  bad: [1", "line 2", "not valid YAML"),
    "deep yaml": (b"- " * 500, "line 1", "nested deeper"),
    "deep JSON": (b'{"metadata":' + b'{"a":' * 100_000, "byte 0", "nested too deeply"),
    "wrong items": (b'{"kind": "List", "items": 5}', "document 1", "$.items"),
    "wrong kind": (b'{"kind": 5}', "document 1", "$.kind"),
    "a list of numbers": (b"[1, 2]", "document 1", "not a Kubernetes object"),
    "nothing of ours": (b'{"kind":"Secret","apiVersion":"v1"}', "file", "kubectl get"),
    "not UTF-8": (b'{"kind":"\xff\xfe"}', "document 1", "not a Kubernetes object"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_source_says_where_and_what(name: str) -> None:
    data, place, message = BROKEN[name]
    with pytest.raises(DumpError) as caught:
        load([Source("good", as_list(OBJECTS)), Source("file", data)] if name not in (
            "nothing of ours",) else [Source("file", data)])  # fmt: skip
    assert "file" in caught.value.place
    assert place in caught.value.place
    assert message in caught.value.message


def test_limits_hold_before_and_after_unpacking() -> None:
    data = as_list(OBJECTS)
    with pytest.raises(DumpError, match="larger than 0 MiB"):
        load([Source("file", data)], Limits(raw_bytes=100))
    bomb = gzip.compress(b" " * 3_000_000)
    with pytest.raises(DumpError, match="unpacks to more than 1 MiB"):
        load([Source("file", bomb)], Limits(unpacked_bytes=2**20))
    with pytest.raises(DumpError, match="more than 1 objects"):
        load([Source("file", data)], Limits(objects=1))
    with pytest.raises(DumpError, match="export with -o json"):
        load([Source("file", as_yaml_documents(OBJECTS))], Limits(yaml_bytes=50))
    with pytest.raises(DumpError, match="more than 2 documents"):
        load([Source("file", b"{}{}{}{}")], Limits(documents=2))


def test_one_odd_object_costs_only_itself() -> None:
    odd = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "odd", "labels": {"a": 5}}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "x" * 300}},
    ]
    raw = load([Source("file", as_list([*odd, *OBJECTS]))])
    assert [o.metadata.name for o in raw.objects["nodes"]] == ["node-a"]
    assert len(raw.problems) == 3
    assert raw.problems[0].startswith("nodes odd: left out")
    assert all(len(line) <= 400 for line in raw.problems)


def test_null_lists_and_unquoted_numbers_are_read() -> None:
    item = node("node-a")
    item["metadata"]["annotations"] = None
    item["spec"] = {"taints": None}
    item["status"]["capacity"]["nvidia.com/gpu"] = 4
    raw = load(
        [Source("file", as_list([item]) + b'{"kind":"PodList","apiVersion":"v1","items":null}')]
    )
    assert raw.problems == ()
    assert [r.status for r in raw.reads if r.resource == "pods"] == [ReadStatus.READ]


def test_secrets_of_pods_are_never_decoded() -> None:
    item = pod("job-1", meta={"annotations": {"token": "hunter2"}, "managedFields": ["hunter2"]})
    item["spec"]["containers"][0] |= {
        "env": [{"name": "PASSWORD", "value": "hunter2"}],
        "args": ["--password=hunter2"],
        "command": ["hunter2"],
        "livenessProbe": {"exec": {"command": ["hunter2"]}},
    }
    raw = load([Source("file", as_list([item]))])
    assert raw.pods.total == 1
    assert "hunter2" not in repr(raw)


def test_version_and_discovery_may_lie_among_the_objects() -> None:
    version = {
        "clientVersion": {"gitVersion": "v1.30.0"},
        "serverVersion": {"gitVersion": "v1.36.2"},
    }
    plain = {"kind": "APIResourceList", "groupVersion": "apps/v1",
             "resources": [{"name": "deployments"}, {"name": "deployments/scale"}]}  # fmt: skip
    aggregated = {
        "kind": "APIGroupDiscoveryList",
        "items": [
            {
                "metadata": {"name": "kueue.x-k8s.io"},
                "versions": [{"version": "v1beta2", "resources": [{"resource": "workloads"}]}],
            }
        ],
    }
    texts = [json.dumps(part).encode() for part in (version, plain, aggregated)]
    raw = load([Source("file", as_list(OBJECTS)), *(Source("more", text) for text in texts)])
    assert raw.version is not None
    assert raw.version.gitVersion == "v1.36.2"
    assert raw.apis == {"apps/v1": ("deployments",), "kueue.x-k8s.io/v1beta2": ("workloads",)}
    status = {r.resource: r.status for r in raw.reads}
    assert status["nodes"] is ReadStatus.READ
    assert status["deployments.apps"] is ReadStatus.NOT_IN_FILE
    assert status["jobsets.jobset.x-k8s.io"] is ReadStatus.NOT_SERVED


def test_without_discovery_nothing_is_said_to_be_missing_from_the_cluster() -> None:
    raw = load([Source("file", as_list(OBJECTS))])
    assert raw.apis is None
    assert {r.status for r in raw.reads} == {ReadStatus.READ, ReadStatus.NOT_IN_FILE}


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.lists(st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=3), min_size=1, max_size=5),
    st.sampled_from(["", " ", "\n", "\r\n\t"]),
)
def test_json_documents_are_cut_apart_where_they_end(documents: list[Json], between: str) -> None:
    text = between.join(json.dumps(d, ensure_ascii=False) for d in documents).encode(
        errors="surrogatepass"
    )
    found = [json.loads(bytes(part)) for part in json_documents("x", text, Limits())]
    assert found == documents


@given(st.binary(max_size=300))
def test_any_bytes_end_in_a_cluster_or_in_a_clear_error(data: bytes) -> None:
    with contextlib.suppress(DumpError):
        load([Source("file", data)])
