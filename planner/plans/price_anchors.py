"""The place of a price on the page of prices, so that a cost line can point to it."""

from __future__ import annotations

import hashlib

from django.urls import reverse

from fleet.catalogue.prices import Price


def price_anchor(gpu_model: str, price: Price) -> str:
    """The same for the same price of a model, in every language."""
    parts = (
        gpu_model,
        price.kind,
        f"{price.per_gpu_hour.amount.normalize():f}",
        price.per_gpu_hour.currency,
        price.as_of,
        price.other_region,
    )
    text = "\0".join(str(part) for part in parts)
    return "price-" + hashlib.sha256(text.encode()).hexdigest()[:12]


def price_url(gpu_model: str, price: Price | None) -> str:
    """The page of prices at that price; its top when there is no price."""
    page = reverse("plans:price-list")
    return f"{page}#{price_anchor(gpu_model, price)}" if price is not None else page
