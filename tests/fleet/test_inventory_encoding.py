"""The inventory as bytes: in one piece, or in parts so that a large one need not be held twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fleet.demo import demo_clusters
from fleet.inventory import Inventory, decode, encode, encode_parts
from fleet.kubernetes.dump import load
from fleet.kubernetes.reader import read


def inventories() -> dict[str, Inventory]:
    return {name: read(load(sources)) for name, sources in demo_clusters().items()}


@pytest.mark.parametrize("name", inventories())
def test_the_parts_together_are_the_inventory(name: str) -> None:
    inventory = inventories()[name]
    assert inventory.nodes
    assert decode(b"".join(encode_parts(inventory))) == inventory == decode(encode(inventory))


def test_no_part_grows_with_the_cluster() -> None:
    inventory = next(iter(inventories().values()))
    few = replace(inventory, pods=inventory.pods[:1] * 5_000)
    many = replace(inventory, pods=inventory.pods[:1] * 50_000)
    assert max(map(len, encode_parts(many))) == max(map(len, encode_parts(few)))
    assert decode(b"".join(encode_parts(many))) == many
