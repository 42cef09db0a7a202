"""The name of a GPU model for people, also where the catalogue does not know it."""

from __future__ import annotations

from fleet.words import say


def model_words(model: str | None, label: str, vendor: str) -> str:
    """The model; else what the node calls it, marked as unlisted; else "unknown" with the vendor.

    ``label`` is the text of the node as it is, and hostile.
    """
    if model:
        return model
    if label:
        return say("{label} (not in the catalogue)", label=label)
    return say("unknown ({vendor})", vendor=vendor)
