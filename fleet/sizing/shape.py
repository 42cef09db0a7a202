"""From a declared workload to the model that is sized: by catalogue name or given by hand."""

from __future__ import annotations

from fleet.catalogue.models import Model, model, nearest_models, routed_params
from fleet.sizing.errors import SizingError, with_near
from fleet.words import say
from fleet.workloads import ModelShape, Workload

_SHOWN = 80  # characters of an unknown name that are repeated to the user
_BY_HAND = "by-hand"  # the family of a model that is not of the catalogue
# Small models tie the output head to the embedding, large ones do not (models.csv).
_TIED_BELOW_B = 5.0


def model_of(workload: Workload) -> Model:
    """The model of a workload. Raises ``SizingError`` when it is unknown or contradicts itself."""
    if workload.shape is not None:
        return by_hand(workload.shape, workload.model or say("model given by hand"))
    if not workload.model:
        raise SizingError("model", say("Name a model of the catalogue, or give its shape."))
    found = model(workload.model)
    if found is None:
        unknown = say("The catalogue has no model {name!r}.", name=workload.model[:_SHOWN])
        hinted = with_near(unknown, nearest_models(workload.model))
        raise SizingError("model", hinted + " " + say("Or give its shape by hand."))
    if found.hidden_size is None or not found.num_layers:
        raise SizingError(
            "model",
            say(
                "The catalogue knows {model} only by its size ({billions:g} B parameters), not by "
                "its layers. Give its shape by hand.",
                model=found.name,
                billions=found.total_params_b,
            ),
        )
    return found


def by_hand(shape: ModelShape, name: str) -> Model:
    """A model from figures. Raises ``SizingError`` naming the figure that is wrong."""
    kv_heads = shape.num_kv_heads or shape.num_heads
    if shape.num_heads % kv_heads:
        raise SizingError(
            "shape.num_kv_heads",
            say(
                "{kv_heads} KV heads do not divide {heads} attention heads.",
                kv_heads=kv_heads,
                heads=shape.num_heads,
            ),
        )
    active = shape.active_params_b or shape.total_params_b
    if active > shape.total_params_b:
        raise SizingError(
            "shape.active_params_b",
            say(
                "{active:g} B active parameters are more than the total of {total:g} B.",
                active=active,
                total=shape.total_params_b,
            ),
        )
    head_dim = shape.head_dim or shape.hidden_size // shape.num_heads
    if head_dim < 1:
        raise SizingError(
            "shape.num_heads",
            say(
                "{heads} heads do not fit in a hidden size of {hidden}.",
                heads=shape.num_heads,
                hidden=shape.hidden_size,
            ),
        )
    embedding = shape.vocab_size * shape.hidden_size / 1e9
    if embedding > shape.total_params_b:
        raise SizingError(
            "shape.total_params_b",
            say(
                "The embedding alone ({product} = {embedding:.3g} B) is more than the total of "
                "{total:g} B parameters.",
                product=f"{shape.vocab_size} × {shape.hidden_size}",
                embedding=embedding,
                total=shape.total_params_b,
            ),
        )
    untied = shape.total_params_b >= _TIED_BELOW_B and 2 * embedding <= shape.total_params_b
    routed = routed_params(shape.total_params_b, active, 0, 0)
    head = embedding if untied else 0.0
    return Model(
        name=name,
        family=_BY_HAND,
        kind="llm",
        total_params_b=shape.total_params_b,
        active_params_b=active,
        embedding_params_b=embedding,
        head_params_b=head,
        routed_params_b=min(routed, shape.total_params_b - embedding - head),
        vision_params_b=0.0,
        hidden_size=shape.hidden_size,
        num_layers=shape.num_layers,
        num_heads=shape.num_heads,
        num_kv_heads=kv_heads,
        head_dim=head_dim,
        kv_lora_rank=None,
        rope_dim=None,
        intermediate_size=shape.intermediate_size or 4 * shape.hidden_size,
        expert_size=None,
        num_experts=0,
        experts_per_token=0,
        shared_experts=0,
        vocab_size=shape.vocab_size,
        max_context=shape.max_context,
        full_layers=shape.num_layers,
        sliding_layers=0,
        sliding_window=0,
        linear_layers=0,
        state_bytes=0,
        kv_bytes_per_token=2 * shape.num_layers * kv_heads * head_dim * 2,
        native_dtype="",
        verified="no",
        note="",
        source=say("given by hand"),
    )


def assumptions_of(entry: Model) -> tuple[str, ...]:
    """What is uncertain about a model's figures, as sentences."""
    if entry.family == _BY_HAND:
        return (_of_a_hand_made(entry),)
    named = {"model": entry.name, "source": entry.source}
    if entry.verified == "partly":
        return (say("Figures of {model} are partly verified ({source}).", **named),)
    if entry.verified != "yes":
        return (say("Figures of {model} are not verified ({source}).", **named),)
    return ()


def _of_a_hand_made(entry: Model) -> str:
    if entry.head_params_b:
        return say(
            "Model given by hand: embedding of vocabulary × hidden size, with its own output head."
        )
    return say(
        "Model given by hand: embedding of vocabulary × hidden size, with an output head tied to "
        "it."
    )
