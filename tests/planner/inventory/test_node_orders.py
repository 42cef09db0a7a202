"""Orders of the node table: whatever the column, turning pages shows each node once."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from planner.accounts.models import Team, User
from planner.inventory import clusters
from planner.inventory.tables import NodeTable
from tests.planner.inventory.builders import dump, node

NODES = 40
COLUMNS = [name for name, column in NodeTable.base_columns.items() if column.orderable is not False]
ROW = re.compile(r'<td class="name"><a href="(/[^"]+)"')


@pytest.fixture
def alike(team: Team, ada: User, client: Client) -> Client:
    """Two clusters whose nodes differ in nothing but the cluster."""
    for name in ("east", "west"):
        nodes = dump(*(node(f"n{number:02d}") for number in range(NODES)))
        clusters.create_from_files(team=team, name=name, sources=[nodes], by=ada)
    client.force_login(ada)
    return client


@pytest.mark.parametrize("way", ["", "-"])
@pytest.mark.parametrize("column", COLUMNS)
def test_turning_pages_shows_each_node_once(column: str, way: str, alike: Client) -> None:
    shown: list[str] = []
    for page in (1, 2):
        query = {"sort": way + column, "page": str(page)}
        answer = alike.get(reverse("inventory:node-list", query=query))
        shown += ROW.findall(answer.content.decode())

    assert len(shown) == 2 * NODES
    assert len(set(shown)) == 2 * NODES
