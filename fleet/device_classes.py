"""Which DeviceClass answers for an extended resource that a pod asks for.

Each class answers for ``deviceclass.resource.kubernetes.io/<its name>``, and for the resource that
it names. Of several classes that name one resource the newest answers, of equally old ones the
one whose name comes first.
Source: kubernetes/dynamic-resource-allocation deviceclass/extendedresourcecache.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from fleet.inventory import DeviceClass

IMPLICIT = "deviceclass.resource.kubernetes.io/"
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def classes_by_resource(classes: Iterable[DeviceClass]) -> dict[str, DeviceClass]:
    """The class that answers for each extended resource that any class answers for."""
    found: dict[str, DeviceClass] = {}
    # The last one stays: the oldest come first, of equal age the later names.
    for item in sorted(
        sorted(classes, key=lambda c: c.name, reverse=True), key=lambda c: c.created or _LONG_AGO
    ):
        if item.extended_resource:
            found[item.extended_resource] = item
        found[f"{IMPLICIT}{item.name}"] = item
    return found
