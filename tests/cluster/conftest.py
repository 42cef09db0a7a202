"""Real API servers, started by ``make test-cluster``. A missing Go fails these tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.planes import MINORS, Planes, Running

HERE = Path(__file__).resolve().parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Real processes need more time on a busy machine than a unit test does."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(300))


@pytest.fixture(scope="session")
def planes() -> Iterator[Planes]:
    """All control planes of this session; they end with it."""
    with Planes() as planes:
        yield planes


@pytest.fixture(params=MINORS)
def cluster(request: pytest.FixtureRequest, planes: Planes) -> Running:
    """An empty cluster of each minor, as an operator gets it who switched nothing on."""
    return planes.emptied(request.param)


@pytest.fixture(params=MINORS)
def rich_cluster(request: pytest.FixtureRequest, planes: Planes) -> Running:
    """An empty cluster of each minor with every API served that we know to read."""
    return planes.emptied(request.param, "everything")


@pytest.fixture
def newest(planes: Planes) -> Running:
    """An empty cluster of the newest minor, for what no minor changes."""
    return planes.emptied(MINORS[-1])
