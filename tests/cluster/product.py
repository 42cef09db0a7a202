"""The engine's own path to a cluster: the printed role, and what is read with it."""

from __future__ import annotations

from typing import Any

import yaml

from fleet.inventory import Inventory
from fleet.kubernetes import api, reader
from fleet.kubernetes.address import AddressPolicy
from fleet.kubernetes.kubeconfig import ClusterAccess
from fleet.kubernetes.objects import RawCluster
from fleet.kubernetes.rbac import NAME, read_only_manifest
from tests.cluster.client import Client

POLICY = AddressPolicy(networks=(), allow_loopback=True)


def printed_objects() -> list[dict[str, Any]]:
    """The manifest that the product prints, as ``kubectl apply -f`` would send it."""
    return list(yaml.safe_load_all(read_only_manifest()))


def reader_token(client: Client) -> str:
    """Apply the printed manifest as it is, and ask for a token of its ServiceAccount."""
    for item in printed_objects():
        client.ensure(item)
    return client.token(NAME, NAME)


def fetched(access: ClusterAccess, **options: Any) -> RawCluster:
    """What the engine reads live. Raises ``FetchError``."""
    return api.fetch(access, POLICY, **{"deadline_s": 120, **options})


def inventory_of(access: ClusterAccess, **options: Any) -> Inventory:
    """The inventory as a sync would store it. Raises ``FetchError``."""
    return reader.read(fetched(access, **options))
