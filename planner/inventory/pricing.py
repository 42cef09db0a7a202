"""Which prices count for a team. The app that keeps prices registers its book here, since the
inventory must not import it; without one the list prices of the catalogue count."""

from __future__ import annotations

from collections.abc import Callable

from fleet.catalogue.prices import PriceBook, default_book
from planner.accounts.models import Team

_books: list[Callable[[Team], PriceBook]] = []


def register(book_for: Callable[[Team], PriceBook]) -> None:
    """Say where the price book of a team comes from."""
    _books[:] = [book_for]


def price_book(team: Team) -> PriceBook:
    """The prices that count for ``team``."""
    return _books[0](team) if _books else default_book()
