"""NVIDIA GPUs of a node: model, boards and sharing, from whatever the node carries."""

from __future__ import annotations

import math
from dataclasses import replace

from fleet.catalogue.mig_profiles import agreed_profile
from fleet.device_names import is_passthrough
from fleet.inventory import DeviceGroup, Sharing, UnitKind, Units
from fleet.kubernetes.device_facts import NodeFacts
from fleet.kubernetes.device_health import HELD_SICK, WITHDRAWN, most_sick
from fleet.kubernetes.hami import register_of
from fleet.kubernetes.nvidia_boards import Boards, NvidiaFacts, count_boards
from fleet.kubernetes.nvidia_model import (
    board_memory,
    disagreements,
    is_labelled,
    model_label,
    nvidia_model,
    vm_use,
)
from fleet.kubernetes.sharing_labels import UNNAMED, SharingLabels, sharing_labels, strategy_of

_OF_DEVICES = (UnitKind.WHOLE, UnitKind.SHARE)
_CUTS = (UnitKind.MIG, UnitKind.VGPU)
_UNNAMED = "pods of this sharing system do not say which boards they hold"
_MEMORY_UNITS = ("aliyun.com/gpu-mem", "volcano.sh/vgpu-memory", "volcano.sh/gpu-memory")


def nvidia_group(facts: NodeFacts) -> DeviceGroup | None:
    """The node's NVIDIA GPUs, or None when nothing speaks for any."""
    register = register_of(facts.notes, facts.now)
    model, vgpu = nvidia_model(facts, register)
    labels = sharing_labels(facts)
    found = NvidiaFacts(
        node=facts,
        units=_classified(facts, labels),
        register=register,
        model=model,
        vgpu=vgpu,
        labels=labels,
        dra=tuple(d for d in facts.dra if d.vendor == "nvidia" and d.devices),
    )
    known = any(u.kind is not UnitKind.UNCLASSIFIED for u in found.units)
    evident = known or register or found.dra or found.listed or model.name or is_labelled(facts)
    if not evident and not facts.unreadable_of("nvidia"):
        return None
    return _Group(found, count_boards(found)).build()


def _classified(facts: NodeFacts, labels: SharingLabels) -> tuple[Units, ...]:
    """Units with names that the plugin's configuration invents ("nvidia.com/big") told apart.

    One such resource in place of ``nvidia.com/gpu``, in the number that GFD states, is what the
    plugin renamed. Any other stays unclassified: shown, never summed.
    """
    units = facts.units("nvidia")
    strange = [u for u in units if u.kind is UnitKind.UNCLASSIFIED and u.capacity]
    plain = any(u.capacity for u in units if u.kind in (UnitKind.WHOLE, UnitKind.SHARE))
    count = facts.number("nvidia.com/gpu.count")
    if plain or not count or sum(u.capacity for u in strange) != count * (labels.replicas or 1):
        return units
    return tuple(
        replace(u, kind=UnitKind.SHARE if u.resource.endswith(".shared") else UnitKind.WHOLE)
        if u in strange
        else u
        for u in units
    )


class _Group:
    """One NVIDIA group under construction: the facts, and what follows from them."""

    def __init__(self, found: NvidiaFacts, boards: Boards) -> None:
        self.found = found
        self.facts = found.node
        self.boards = boards
        self.labels = found.labels
        self.fractional = (
            found.register is not None
            or found.listed is not None
            or any(u.resource in _MEMORY_UNITS for u in found.units)
        )
        self.notes: list[str] = []
        self.replicas = self._replicas()
        self.memory = self._memory()
        self.units = tuple(map(self._finished, self.found.units))

    def build(self) -> DeviceGroup:
        units = self.units
        advertised = any(u.capacity for u in units)
        if self.found.dra and advertised:
            self.notes.append("offered by the device plugin and through DRA: counted once")
        if self.boards.source.startswith("capacity, "):
            self.notes.append("no label says whether the units are shared")
        if any(u.kind is UnitKind.UNCLASSIFIED and u.capacity for u in units):
            self.notes.append("a resource that we do not know: not counted")
        if not self.found.vgpu:
            self.notes.extend(disagreements(self.facts, self.found.model))
        self.notes.extend(self.facts.health_notes("nvidia"))
        unhealthy, unhealthy_source = self._unhealthy()
        whole_free = self._whole_free()
        return DeviceGroup(
            vendor="nvidia",
            model=self.found.model.name,
            model_source=self.found.model.source,
            physical=self.boards.number,
            physical_source=self.boards.source,
            physical_estimated=self.boards.is_estimated,
            memory_mib=self.memory,
            sharing=self._sharing(),
            replicas=self.replicas,
            units=(*units, *self.facts.dra_units("nvidia")),
            unhealthy=unhealthy,
            unhealthy_source=unhealthy_source,
            notes=(*self.notes, *self._register_notes()),
            memory_gib=self._memory_gib(),
            whole_free=whole_free,
            use_unknown=self._why_unknown() if whole_free is None and self.fractional else "",
            boards_held=self._surely_held() if whole_free is None and self.fractional else 0,
            cuts_possible=sum(d.parts for d in self.found.dra),
            model_certain=self._is_certain(),
            details=self._details(),
            model_label=model_label(self.facts, self.found.register),
        )

    def _replicas(self) -> int | None:
        """Units per board: as labels say, unless the plugin offers another multiple."""
        found, labelled, boards = self.found, self.labels.replicas, self.boards.number
        if found.register is not None:
            return found.register.split
        stated = labelled if labelled and labelled > 1 else None
        plain = sum(
            u.capacity
            for u in found.units
            if u.kind is UnitKind.WHOLE and not is_passthrough(u.resource)
        )
        shared = sum(
            u.capacity
            for u in found.units
            if u.kind is UnitKind.SHARE and "/mig-" not in u.resource
        )
        offered = shared or plain
        if found.mig_units and not offered:
            factors = {found.mig_replicas(unit) for unit in found.mig_units}
            factor = factors.pop() if len(factors) == 1 else 1
            return factor if factor > 1 else None
        if self.labels.is_cut:
            return found.single_replicas if found.single_replicas > 1 else None
        if not boards or not offered or self.labels.profile or self._is_vgpu or self.fractional:
            return stated
        factor = self._factor(offered, boards, stated, is_shared=bool(shared))
        # Of boards that are not cut; those that are cut are offered under other names.
        is_short = offered != boards * factor and not found.mig_units
        if factor != (stated or 1) or is_short:
            what = "shared units" if shared else "units"
            says = f"label {self.labels.source}={labelled} contradicts"
            self.notes.append(
                f"{says if labelled is not None else 'no label explains'} {offered} {what} "
                f"on {boards} GPU"
            )
        # One share of a board is a share still; one unit of a whole board is the board.
        return factor if factor > 1 or shared else None

    @staticmethod
    def _factor(offered: int, boards: int, stated: int | None, *, is_shared: bool) -> int:
        if offered == boards * (stated or 1):
            return stated or 1
        if is_shared:
            return max(1, round(offered / boards))
        if offered == boards:
            return 1
        fewer_boards = stated is not None and offered % stated == 0 and offered < boards * stated
        if fewer_boards or offered % boards:
            return stated or 1  # boards that the plugin does not see, not another factor
        return offered // boards

    @property
    def _is_vgpu(self) -> bool:
        return bool(self.found.vgpu) or self.facts.labels.get("nvidia.com/vgpu.present") == "true"

    def _sharing(self) -> str:
        if self.fractional:
            return Sharing.FRACTIONAL
        offered = any(u.capacity for u in self.found.units)
        for_vms = "" if offered else vm_use(self.facts)
        if for_vms == "passthrough" or any(is_passthrough(u.resource) for u in self.found.units):
            return Sharing.PASSTHROUGH
        if self._is_vgpu or for_vms == "vgpu":
            return Sharing.VGPU
        if not offered:
            return Sharing.DRA if self.found.dra else Sharing.NONE
        how = self._how_shared()
        if self.labels.is_cut:
            return f"{Sharing.MIG_SINGLE}+{how}" if how else Sharing.MIG_SINGLE
        if self.found.mig_units:
            return f"{Sharing.MIG_MIXED}+{how}" if how else Sharing.MIG_MIXED
        return how or Sharing.WHOLE

    def _how_shared(self) -> str:
        mig = max(map(self.found.mig_replicas, self.found.mig_units), default=1)
        if self.replicas is None and mig == 1:
            return ""
        if self.labels.strategy and self.replicas is not None:
            return self.labels.strategy
        for unit in self.found.mig_units:
            label = f"{unit.resource.removesuffix('.shared')}.sharing-strategy"
            if named := strategy_of(self.facts.labels.get(label, "")):
                return named
        discovered = any(key.startswith("nvidia.com/gpu.") for key in self.facts.labels)
        if not discovered and self.found.capacity(UnitKind.SHARE):
            # The MPS daemon only runs where GFD has set mps.capable: no GFD, no MPS.
            return Sharing.TIME_SLICING
        return f"shared-x{self.replicas or mig}"

    def _finished(self, unit: Units) -> Units:
        kind, cut_name, size = unit.kind, unit.profile, self.memory
        if kind in (UnitKind.WHOLE, UnitKind.SHARE) and cut_name is None:
            kind, cut_name = self._plain_kind(unit)
        if kind is UnitKind.MIG or (cut_name is not None and kind is UnitKind.SHARE):
            size = self._mig_memory(unit.resource, cut_name)
        elif kind is UnitKind.SHARE and size is not None and self.replicas:
            size = size // self.replicas if self.labels.strategy == Sharing.MPS else size
        elif kind in (UnitKind.MEMORY, UnitKind.CORE):
            size = None
        return replace(
            unit,
            kind=kind,
            profile=cut_name,
            memory_mib=size,
            per_device=self._per_device(unit, kind),
        )

    def _per_device(self, unit: Units, kind: UnitKind) -> int:
        if "/mig-" in unit.resource:
            return self.found.mig_replicas(unit)
        return self.found.single_replicas if kind is UnitKind.MIG else 1

    def _plain_kind(self, unit: Units) -> tuple[UnitKind, str | None]:
        """What one unit of ``nvidia.com/gpu`` is, or of the name it was given instead."""
        if is_passthrough(unit.resource) or not unit.resource.startswith("nvidia.com/"):
            return unit.kind, None
        if self._is_vgpu:
            return UnitKind.VGPU, self.found.vgpu or None
        if self.labels.is_cut:
            name = self.labels.profile
            return UnitKind.MIG, None if name == UNNAMED else name
        renamed = any(u.kind is UnitKind.SHARE and u.capacity for u in self.found.units)
        if self.replicas is not None and not renamed:
            return UnitKind.SHARE, None
        return unit.kind, None

    def _mig_memory(self, resource: str, cut_name: str | None) -> int | None:
        if self.labels.is_cut and not resource.startswith("nvidia.com/mig-"):
            return self.facts.number("nvidia.com/gpu.memory") or self._profile_memory(cut_name)
        labelled = self.facts.number(f"{resource.removesuffix('.shared')}.memory")
        return labelled or self._profile_memory(cut_name)

    def _profile_memory(self, cut_name: str | None) -> int | None:
        cards = [card.name for card in self.found.model.cards]
        cut = agreed_profile(cards, cut_name) if cards and cut_name else None
        return cut.memory_mib if cut is not None else None

    def _memory(self) -> int | None:
        for found in self.found.dra:
            if found.memory_mib is not None:
                return found.memory_mib
        if self.found.register is not None:
            return self.found.register.memory_mib
        return None if self.labels.profile else board_memory(self.facts)

    def _memory_gib(self) -> int | None:
        listed = self.facts.capacity.get("aliyun.com/gpu-count", 0)
        total = self.facts.capacity.get("aliyun.com/gpu-mem", 0)
        return total // listed if total and listed else None  # the unit is a GiB

    def _unhealthy(self) -> tuple[int | None, str]:
        """How many boards are sick, and what says so."""
        register = self.found.register
        if register is not None and register.unhealthy:
            return register.unhealthy, register.source
        # A cut of a board that is sick does not condemn the board.
        held = 0 if self.labels.is_cut else self.facts.sick_boards("nvidia")
        whole = [
            u
            for u in self.units
            if (u.kind in _OF_DEVICES and not u.is_of_mig)
            or (u.kind is UnitKind.VGPU and self.boards.number is not None)
        ]
        missing = sum(u.capacity - u.allocatable for u in whole)
        withdrawn = math.ceil(missing / (self.replicas or 1))
        sick = most_sick((withdrawn, WITHDRAWN), (held, HELD_SICK))
        others = [u for u in self.units if u not in whole and (u.is_of_mig or u.kind in _CUTS)]
        if not sick[0] and any(u.capacity > u.allocatable for u in others):
            return None, ""  # withdrawn cuts do not say how many boards are sick
        return sick

    def _whole_free(self) -> int | None:
        register, units = self.found.register, self.found.units
        listed = self.facts.capacity.get("aliyun.com/gpu-count", 0)
        if self.fractional and not any(u.allocatable for u in units):
            return 0
        if register is not None and register.is_hami:
            used = self.facts.used
            free = sum(b.is_healthy and b.uuid not in used for b in register.boards)
            return max(0, free - self.facts.unnamed)
        if register is None and listed:
            return max(0, listed - len(self.facts.used) - self.facts.unnamed)
        if self.fractional:  # Volcano's pods do not say which board they hold
            boards = self._healthy_boards()
            if not any(u.requested for u in units):
                return boards
            return 0 if boards and self._surely_held() == boards else None
        if self.found.dra and not any(u.capacity for u in units):
            return sum(d.whole_free for d in self.found.dra)
        return None

    def _why_unknown(self) -> str:
        return _UNNAMED if self.boards.number is not None else "no object says how many boards"

    def _healthy_boards(self) -> int | None:
        register = self.found.register
        if register is not None:
            return sum(board.is_healthy for board in register.boards)
        return self.boards.number

    def _surely_held(self) -> int:
        """The fewest boards that so many shares need."""
        held = sum(u.requested or 0 for u in self.units if u.kind in _OF_DEVICES)
        return min(math.ceil(held / (self.replicas or 1)), self._healthy_boards() or 0)

    def _details(self) -> dict[str, str]:
        register, found = self.found.register, {}
        if register is not None and register.mode:
            found["hami_mode"] = register.mode
        if register is not None and register.is_stale:
            found["stale"] = "true"
        return found

    def _register_notes(self) -> list[str]:
        register = self.found.register
        found: list[str] = []
        if register is None:
            return found
        if register.is_stale:
            found.append("the plugin's handshake was not answered: the register may be stale")
        if register.unreadable:
            found.append(f"{register.unreadable} entries of the register cannot be read")
        if len(register.types) > 1:
            found.append(f"the register names {len(register.types)} models")
        return found

    def _is_certain(self) -> bool:
        """GFD keeps one product label even where two models sit in one node."""
        register = self.found.register
        if register is not None and len(register.types) > 1:
            return False
        source = self.found.model.source
        if not source.startswith("label nvidia.com/") or self.boards.number == 1:
            return True
        kind = self.facts.instance_type
        return kind is not None and bool(kind.gpu_model)
