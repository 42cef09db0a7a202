"""The control planes of one test session: each started when it is first asked for."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from fleet.kubernetes.rbac import NAME
from tests.cluster.client import Client
from tests.cluster.control_plane import ControlPlane
from tests.cluster.emptying import empty
from tests.cluster.product import reader_token

MINORS = ("1.36", "1.37")

_OLDER_DRA = ("resource.k8s.io/v1beta1", "resource.k8s.io/v1beta2")

# What an operator must switch on for everything that we know to read. ``plain`` is what a
# cluster serves that nobody has touched.
_EVERYTHING: Mapping[str, Mapping[str, Any]] = {
    "1.36": {
        "gates": {
            "GenericWorkload": True,
            "GangScheduling": True,
            "TopologyAwareWorkloadScheduling": True,
            "DRADeviceTaintRules": True,
        },
        "apis": ("scheduling.k8s.io/v1alpha2", *_OLDER_DRA),
    },
    "1.37": {
        "gates": {
            "GenericWorkload": True,
            "TopologyAwareWorkloadScheduling": True,
            "CompositePodGroup": True,
        },
        "apis": ("scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha3", *_OLDER_DRA),
    },
}


# What the read-only account asks for, and nothing else.
_AUDIT = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "Metadata", "users": [f"system:serviceaccount:{NAME}:{NAME}"]},
        {"level": "None"},
    ],
}


@dataclass(frozen=True, slots=True)
class Running:
    """A running control plane with what tests want of it. token: of the read-only account.
    audit: the file where the server writes down each request of that account."""

    plane: ControlPlane
    admin: Client
    token: str
    audit: Path

    @property
    def minor(self) -> str:
        return self.plane.minor


class Planes:
    """Starts each plane once and ends all at the end of ``with``."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._running: dict[tuple[str, str], Running] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def emptied(self, minor: str, flavour: str = "plain") -> Running:
        """The plane of a minor, ``plain`` or with ``everything`` switched on, without objects."""
        key = (minor, flavour)
        if key not in self._running:
            options = _EVERYTHING[minor] if flavour == "everything" else {}
            folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
            policy, audit = folder / "policy.json", folder / "audit.log"
            policy.write_text(json.dumps(_AUDIT))
            flags = (f"--audit-policy-file={policy}", f"--audit-log-path={audit}")
            plane = self._stack.enter_context(
                ControlPlane(minor, scheduler=True, flags=flags, **options)
            )
            admin = self._stack.enter_context(plane.client())
            self._running[key] = Running(plane, admin, reader_token(admin), audit)
        empty(self._running[key].admin)
        return self._running[key]
