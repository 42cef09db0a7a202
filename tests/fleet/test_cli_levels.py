"""``--levels``: label keys that a person chose, for commands that read clusters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fleet.cli import main
from fleet.cli.arguments import parse
from fleet.cli.sources import BadInput, inventories
from tests.fleet.kubernetes.written import node


@pytest.fixture
def cluster_file(tmp_path: Path) -> str:
    path = tmp_path / "cluster.json"
    nodes = [node(f"n{n}", {"example.com/row": "a", "example.com/cab": f"c{n}"}) for n in range(2)]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}))
    return str(path)


def test_chosen_levels_tell_the_nodes_apart(cluster_file: str) -> None:
    options = parse(
        ["inventory", cluster_file, "--levels", "row=example.com/row,rack=example.com/cab"]
    )
    (found,) = inventories(options).values()
    assert [item.domain("rack") for item in found.nodes] == [("a", "c0"), ("a", "c1")]


def test_a_label_that_no_node_carries_is_an_error_that_names_it(cluster_file: str) -> None:
    options = parse(["inventory", cluster_file, "--levels", "rack=example.com/nowhere"])
    with pytest.raises(BadInput, match=r"no node carries the label example\.com/nowhere"):
        inventories(options)


@pytest.mark.parametrize("text", ["", "rack", "rack=", "=x", "Rack=x", "node=x", "a=x,b=x"])
def test_levels_that_make_no_sense_are_refused(text: str, cluster_file: str) -> None:
    with pytest.raises(SystemExit) as left:
        main(["inventory", cluster_file, "--levels", text])
    assert left.value.code == 2
