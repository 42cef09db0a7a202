"""Names, counts and lists as the sentences about a placement say them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fleet.placement.problem import Demand, NodeCapacity
from fleet.words import say, say_many

NAME_LIMIT = 80


def short(name: str) -> str:
    """A name from a cluster, of bounded length."""
    return name if len(name) <= NAME_LIMIT else f"{name[: NAME_LIMIT - 1]}…"


def place_name(node: NodeCapacity) -> str:
    return f"{short(node.cluster)} / {short(node.node)}"


def cores(milli: int) -> str:
    """Millicores as a text in cores: "12", "0.5"."""
    return f"{milli / 1000:g}"


def cores_text(milli: int) -> str:
    """ "1 core", "0.5 cores"."""
    number = 1 if milli == 1000 else max(2, math.ceil(milli / 1000)) if milli else 0
    return say_many("{n} core", "{n} cores", number, n=cores(milli))


def pod_places_text(number: int) -> str:
    """ "1 pod place", "3 pod places"."""
    return say_many("{n} pod place", "{n} pod places", number)


def gpus_text(number: int) -> str:
    """ "1 GPU", "3 GPUs"."""
    return say_many("{n} GPU", "{n} GPUs", number)


def domain_name(demand: Demand) -> str:
    """The topology domain as a person says it."""
    return {
        "nvlink": say("NVLink domain"),
        "rack": say("rack"),
        "zone": say("zone"),
        "node": say("node"),
    }.get(demand.domain, say("cluster"))


def domain_names(demand: Demand) -> str:
    """The topology domain in the plural."""
    return {
        "nvlink": say("NVLink domains"),
        "rack": say("racks"),
        "zone": say("zones"),
        "node": say("nodes"),
    }.get(demand.domain, say("clusters"))


def either(names: Sequence[str]) -> str:
    """ "a, b or c"."""
    if len(names) < 2:
        return "".join(names)
    return say("{first} or {last}", first=", ".join(names[:-1]), last=names[-1])
