"""Inserting very many plain rows: a model instance for each would cost more than the row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connections, models, router, transaction


def insert(
    model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Insert ``rows`` in one transaction. ``columns`` are attribute names (``snapshot_id``), every
    one of the table but its key. Values are as the database takes them, documents as they are.

    Raises ``ValueError`` when a column is missing: nothing here fills in a default.
    """
    fields = {f.attname: f for f in model._meta.concrete_fields if not f.primary_key}
    if set(columns) != set(fields):
        raise ValueError(f"{model.__name__}: give every column of {sorted(fields)}")
    using = router.db_for_write(model)
    connection = connections[using]
    quote = connection.ops.quote_name
    names = ", ".join(quote(fields[name].column or name) for name in columns)
    places = ", ".join("%s" for _ in columns)
    table = quote(model._meta.db_table)
    documents = [i for i, n in enumerate(columns) if isinstance(fields[n], models.JSONField)]

    def prepared(row: Sequence[Any]) -> list[Any]:
        values = list(row)
        for place in documents:
            values[place] = fields[columns[place]].get_db_prep_save(values[place], connection)
        return values

    with transaction.atomic(using=using), connection.cursor() as cursor:
        # Only names of our own models are put into the statement.
        statement = f"INSERT INTO {table} ({names}) VALUES ({places})"  # noqa: S608 (our own names)
        cursor.executemany(statement, [prepared(row) for row in rows])
