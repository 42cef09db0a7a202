"""What a cluster serves, remembered between its syncs: workers are several processes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import msgspec
from django.db.models.functions import Now

from fleet.kubernetes.served import REMEMBERED_MIN, Served
from planner.inventory.models import Cluster, ClusterDiscovery

KEPT_FOR = timedelta(minutes=REMEMBERED_MIN)
MOST_BYTES = 1_000_000
"""A server that claims to serve more is asked at each sync."""


class _Stored(msgspec.Struct):
    apis: dict[str, tuple[str, ...]]
    etags: dict[str, str]


class RememberedDiscovery:
    """The memory of one cluster (``fleet.kubernetes.served.Memory``), on the database's clock."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def recall(self) -> Served | None:
        """What this cluster served at its present address, if that is not too long ago."""
        return self._kept(asked_at__gt=Now() - KEPT_FOR, asked_at__lte=Now())

    def last(self) -> Served | None:
        """What this cluster served at its present address, however long ago."""
        return self._kept()

    def _kept(self, **when: object) -> Served | None:
        row = ClusterDiscovery.objects.filter(
            cluster=self._cluster, server=self._cluster.server, **when
        ).first()
        if row is None:
            return None
        try:
            stored = msgspec.msgpack.decode(bytes(row.value), type=_Stored)
        except msgspec.DecodeError:
            return None
        return Served(stored.apis, etags=stored.etags)

    def keep(self, served: Served) -> None:
        """Remember a fresh answer; a repeated "still the same" counts as one."""
        apis: Mapping[str, tuple[str, ...]] = served.apis
        value = msgspec.msgpack.encode(_Stored(dict(apis), dict(served.etags)))
        if len(value) > MOST_BYTES:
            self.forget()
            return
        ClusterDiscovery.objects.update_or_create(
            cluster=self._cluster,
            defaults={"server": self._cluster.server, "value": value, "asked_at": Now()},
        )

    def forget(self) -> None:
        """Ask anew at the next sync."""
        forget(self._cluster)


def forget(cluster: Cluster) -> None:
    """Drop what is remembered of a cluster, such as when its access is edited."""
    ClusterDiscovery.objects.filter(cluster=cluster).delete()
