"""The price book: prices in use, the team's own prices, and the calculator of owned hardware."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from fleet.catalogue.accelerators import accelerators
from fleet.catalogue.instance_types import instance_types
from fleet.catalogue.prices import OwnedHardware, Price
from planner.accounts.access import current_team, require_role, role_required
from planner.accounts.middleware import PlannerRequest
from planner.accounts.models import Role, Team
from planner.inventory.queries import node_list_url
from planner.plans import conflicts, price_services, queries
from planner.plans.free_units import fleet_now
from planner.plans.models import PriceEntry
from planner.plans.plan_places import ClusterDoor, Places
from planner.plans.price_anchors import price_anchor
from planner.plans.price_forms import OwnedForm, PriceForm
from planner.plans.versions import StaleVersion

Form = PriceForm | OwnedForm
FORMS: dict[str, type[PriceForm] | type[OwnedForm]] = {"price": PriceForm, "owned": OwnedForm}


@dataclass(frozen=True, slots=True)
class PriceInUse:
    """The price that counts for one kind of machine of the fleet; None: no price."""

    gpu_model: str
    instance_type: str
    region: str
    clusters: tuple[ClusterDoor, ...]
    price: Price | None
    anchor: str  # its place on the page, "" where a line before has the same price
    nodes_url: str


def prices_in_use(team: Team) -> list[PriceInUse]:
    """One line for each GPU model, instance type and price of the team's fleet."""
    now = fleet_now(team)
    places = Places(team.clusters.all())
    found: dict[tuple[str, str, str, Price | None], set[str]] = {}
    for gpu_model, machines in now.machines.items():
        for kind, region, cluster in machines:
            price = now.book.price_for(kind, gpu_model, region, cluster)
            found.setdefault((gpu_model, kind, region, price), set()).add(cluster)
    lines: list[PriceInUse] = []
    anchors: set[str] = set()
    for (gpu_model, kind, region, price), clusters in sorted(
        found.items(), key=lambda pair: (pair[0][3] is not None, pair[0][:3])
    ):
        anchor = price_anchor(gpu_model, price) if price is not None else ""
        lines.append(
            PriceInUse(
                gpu_model,
                kind,
                region,
                tuple(places.cluster(name) for name in sorted(clusters)),
                price,
                anchor if anchor not in anchors else "",
                node_list_url(model=gpu_model, text=kind[:100]),
            )
        )
        anchors.add(anchor)
    return lines


def _door(row: PriceEntry) -> ClusterDoor | None:
    """The cluster of an own price; None: all."""
    return Places([row.cluster]).cluster(row.cluster.name) if row.cluster is not None else None


def _own(request: PlannerRequest, pk: int) -> PriceEntry:
    row: PriceEntry = get_object_or_404(
        PriceEntry.objects.visible_to(request.user).select_related("team", "cluster"), pk=pk
    )
    require_role(request, row.team, Role.PLANNER)
    return row


@require_GET
@role_required(Role.VIEWER)
def price_list(request: PlannerRequest) -> HttpResponse:
    """Prices in use for the fleet, and the team's own entries."""
    in_use = prices_in_use(current_team(request))
    context = {
        "in_use": in_use,
        "missing": sum(line.price is None for line in in_use),
        "elsewhere": sum(bool(line.price and line.price.other_region) for line in in_use),
        "own": [(row, _door(row)) for row in queries.price_list(current_team(request))],
    }
    return render(request, "plans/price_list.html", context)


def _page(request: PlannerRequest, form: Form, what: str, **context: Any) -> HttpResponse:
    status = context.pop("status", None) or (422 if form.errors else 200)
    context |= {
        "form": form,
        "what": what,
        "gpu_models": list(accelerators()),
        "instance_types": sorted({kind.name for kind in instance_types()}),
    }
    if isinstance(form, OwnedForm):
        context["result"] = _result(form)
    return render(request, "plans/price_edit.html", context, status=status)


@require_http_methods(["GET", "POST"])
@role_required(Role.PLANNER)
def price_create(request: PlannerRequest, what: str) -> HttpResponse:
    """Add a price, or owned hardware."""
    if what not in FORMS:
        raise Http404
    data = request.POST if request.method == "POST" else None
    initial = {"match": request.GET.get("gpu_model", "")[:100].replace("\0", "")}
    form = FORMS[what](data, team=current_team(request), initial=initial)
    if data is not None and form.is_valid():
        price_services.create_price(
            team=current_team(request), by=request.user, columns=form.columns()
        )
        messages.success(request, _("Price added."))
        return redirect("plans:price-list")
    return _page(request, form, what)


@require_http_methods(["GET", "POST"])
@role_required(Role.PLANNER)
def price_edit(request: PlannerRequest, pk: int) -> HttpResponse:
    """Change a price; 409 with both texts when somebody else was first."""
    row = _own(request, pk)
    what = "owned" if row.owned_inputs else "price"
    kind = FORMS[what]
    data = request.POST if request.method == "POST" else None
    form = kind(data, team=row.team, initial=kind.initial_of(row))
    if data is not None and form.is_valid():
        version = form.cleaned_data["version"] or 0
        try:
            price_services.update_price(
                price=row, by=request.user, version=version, columns=form.columns()
            )
        except StaleVersion as stale:
            differing = conflicts.differences(form, kind.initial_of(stale.current))
            conflicts.renewed(form, stale.current.version)
            return _page(
                request, form, what, status=409, price=stale.current, differences=differing
            )
        messages.success(request, _("Price saved."))
        return redirect("plans:price-list")
    return _page(request, form, what, price=row)


@require_http_methods(["GET", "POST"])
@role_required(Role.PLANNER)
def price_delete(request: PlannerRequest, pk: int) -> HttpResponse:
    """Ask, then delete."""
    row = _own(request, pk)
    if request.method == "POST":
        price_services.delete_price(price=row, by=request.user)
        messages.success(request, _("Price deleted."))
        return redirect("plans:price-list")
    return render(request, "plans/price_delete.html", {"price": row})


@dataclass(frozen=True, slots=True)
class OwnedResult:
    """The formula with its figures, and both rates."""

    hardware: OwnedHardware
    used: Decimal | None  # per used GPU-hour, at the stated utilisation
    utilisation: Decimal | None


def _result(form: OwnedForm) -> OwnedResult | None:
    hardware: OwnedHardware | None = None
    share: Decimal | None = None
    if form.is_bound:
        hardware = form.hardware
        share = form.cleaned_data.get("utilisation") if hasattr(form, "cleaned_data") else None
    if hardware is None:
        return None
    used = hardware.per_installed_gpu_hour / share if share else None
    return OwnedResult(hardware, used, share)


@require_POST
@role_required(Role.PLANNER)
def owned_rate(request: PlannerRequest) -> HttpResponse:
    """The rate that the figures of the form give. Writes nothing."""
    form = OwnedForm(request.POST, team=current_team(request))
    form.is_valid()
    return render(request, "plans/price_rate.html", {"result": _result(form), "form": form})
