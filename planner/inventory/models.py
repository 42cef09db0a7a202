"""Clusters, their credentials and their snapshots.

A snapshot is built out of reach and becomes visible by one UPDATE of
``Cluster.current_snapshot``; it never changes afterwards. Pages and plans read only complete
snapshots. Rows exist to browse and filter; ``Snapshot.value`` is the whole for the engine.
"""

from __future__ import annotations

import uuid
import zlib
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from fleet import inventory as fleet_inventory
from fleet.model_names import model_words
from planner.accounts.models import Team, User
from planner.inventory.flags import flag_words


class ClusterQuerySet(models.QuerySet["Cluster"]):
    def visible_to(self, user: Any) -> ClusterQuerySet:
        """Clusters of the user's teams; none for anybody else."""
        return self.filter(team__in=Team.objects.visible_to(user))


class Cluster(models.Model):
    """One Kubernetes API server, or a fleet file that stands for one."""

    class Source(models.TextChoices):
        FILE = "file", _("File from kubectl")
        KUBECONFIG = "kubeconfig", _("Live, by kubeconfig")
        FIELDS = "fields", _("Live, by address and token")
        IN_CLUSTER = "in-cluster", _("Live, this cluster's service account")
        DEMO = "demo", _("Synthetic demo fleet")

    LIVE = (Source.KUBECONFIG, Source.FIELDS, Source.IN_CLUSTER)

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="clusters")
    name = models.SlugField(max_length=63)
    description = models.CharField(max_length=200, blank=True)
    source = models.CharField(max_length=12, choices=Source)
    server = models.CharField(max_length=300, blank=True)  # address, no secret
    sync_interval_s = models.PositiveIntegerField(default=0)  # 0: by hand only
    next_sync_at = models.DateTimeField(null=True, db_index=True)
    # Code of the error that stopped the schedule ("unauthorized"); editing the access ends it.
    paused_reason = models.CharField(max_length=200, blank=True, default="")
    failures = models.PositiveSmallIntegerField(default=0)  # in a row, for the back-off
    # [level, label key], coarse to fine, as a person chose them; empty: the proposed ones.
    topology_levels = models.JSONField(default=list, blank=True)
    current_snapshot = models.ForeignKey(
        "Snapshot", on_delete=models.RESTRICT, null=True, related_name="+"
    )
    version = models.PositiveIntegerField(default=1)  # lost-update protection
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ClusterQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="inventory_cluster_name_in_team")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_live(self) -> bool:
        return self.source in self.LIVE

    @property
    def is_synthetic(self) -> bool:
        """Made up for trying things out: no such machine exists."""
        return self.source == self.Source.DEMO


class ClusterCredential(models.Model):
    """The sealed access of one cluster, in a table that no page and no export reads."""

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="credential")
    sealed = models.BinaryField()
    fingerprint = models.CharField(max_length=40)
    updated_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"credential of cluster {self.cluster_id}"


class ClusterDiscovery(models.Model):
    """Which APIs one cluster served when it was asked last: see ``discovery``."""

    cluster = models.OneToOneField(Cluster, on_delete=models.CASCADE, related_name="discovery")
    server = models.CharField(max_length=300, blank=True)  # the address that was asked
    value = models.BinaryField()  # msgpack of fleet.kubernetes.served.Served
    asked_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"discovery of cluster {self.cluster_id}"


class SnapshotQuerySet(models.QuerySet["Snapshot"]):
    def visible_to(self, user: Any) -> SnapshotQuerySet:
        """Complete snapshots of the user's clusters."""
        return self.filter(cluster__team__in=Team.objects.visible_to(user), is_complete=True)

    def current(self) -> SnapshotQuerySet:
        """The snapshots that their clusters show now."""
        return self.filter(
            pk__in=Cluster.objects.exclude(current_snapshot=None).values("current_snapshot")
        )


class Snapshot(models.Model):
    """Everything read from one cluster in one sync. Counts: None is unknown."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE, related_name="snapshots")
    number = models.PositiveIntegerField()
    is_complete = models.BooleanField(default=False)
    taken_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)
    read_seconds = models.FloatField(default=0)
    job_id = models.BigIntegerField(null=True)
    kubernetes_version = models.CharField(max_length=60, blank=True)
    provider = models.CharField(max_length=40, blank=True)
    node_count = models.PositiveIntegerField(default=0)
    gpu_node_count = models.PositiveIntegerField(default=0)
    pod_count = models.PositiveIntegerField(default=0)
    physical_gpus = models.PositiveIntegerField(null=True)
    schedulable_gpus = models.PositiveIntegerField(null=True)
    requested_gpus = models.PositiveIntegerField(null=True)
    free_gpus = models.PositiveIntegerField(null=True)
    stranded_gpus = models.PositiveIntegerField(null=True)
    partly_used_gpus = models.PositiveIntegerField(null=True)  # neither free nor requested
    uncounted_nodes = models.PositiveIntegerField(default=0)  # GPU nodes that hide their number
    problem_count = models.PositiveIntegerField(default=0)
    fragment_gpus = models.PositiveIntegerField(null=True)  # of the free: in too small pieces
    flags = models.JSONField(default=list)  # planner.inventory.flags: "shrunk", "torn"
    verdicts = models.JSONField(default=dict)  # verdict -> count
    files = models.JSONField(default=list)  # names of the files it was read from
    topology_keys = models.JSONField(default=list)  # [level, label key], coarse to fine
    # Large columns come last: SQLite walks through all of a row that lies before a column.
    waiting = models.JSONField(default=dict)  # fleet.inventory_report.waiting.WaitingList
    figures = models.JSONField(default=dict)  # planner.inventory.stored_figures
    topology = models.JSONField(default=dict)  # planner.inventory.levels: proposal, keys, slots
    reads = models.JSONField(default=list)  # one entry a resource: status, count, detail
    problems = models.JSONField(default=list)  # one line an odd object
    findings = models.JSONField(default=list)  # the checklist, as of this snapshot
    value = models.BinaryField()  # zlib of fleet.inventory.encode

    objects = SnapshotQuerySet.as_manager()

    class Meta:
        ordering = ("-number",)
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "number"], name="inventory_snapshot_number_in_cluster"
            )
        ]

    def __str__(self) -> str:
        return f"snapshot {self.number} of cluster {self.cluster_id}"

    @property
    def flagged(self) -> str:
        """What is odd about it as a whole, in the reader's language; "" for nothing."""
        return flag_words(self.flags)

    def set_inventory(self, inventory: fleet_inventory.Inventory) -> None:
        packer = zlib.compressobj(3)  # part by part: the whole is large beside what it packs to
        parts = [packer.compress(part) for part in fleet_inventory.encode_parts(inventory)]
        self.value = b"".join((*parts, packer.flush()))

    def inventory(self) -> fleet_inventory.Inventory:
        """The value for the engine."""
        return fleet_inventory.decode(zlib.decompress(bytes(self.value)))


class ServingFacts(models.Model):
    """What findings on declared workloads need of a snapshot: see ``serving_facts``."""

    snapshot = models.OneToOneField(
        Snapshot, on_delete=models.CASCADE, related_name="serving", primary_key=True
    )
    value = models.BinaryField()  # zlib of msgpack of planner.inventory.serving_facts.Serving

    def __str__(self) -> str:
        return f"model servers of snapshot {self.snapshot_id}"


class NodeRow(models.Model):
    """One node of a snapshot, to browse, sort and filter. The whole of it is a ``NodeValue``."""

    snapshot = models.ForeignKey(
        Snapshot, on_delete=models.CASCADE, related_name="nodes", db_index=False
    )
    name = models.CharField(max_length=253)
    pool = models.CharField(max_length=253, blank=True)
    instance_type = models.CharField(max_length=253, blank=True)
    zone = models.CharField(max_length=253, blank=True)
    vendor = models.CharField(max_length=40, blank=True)
    gpu_model = models.CharField(max_length=253, blank=True)  # "" unknown or no GPU
    gpu_label = models.CharField(max_length=253, blank=True)  # a model that no catalogue knows
    sharing = models.CharField(max_length=60, blank=True)
    is_gpu_node = models.BooleanField(default=False)
    schedulable = models.BooleanField(default=False)
    not_schedulable_reason = models.CharField(max_length=300, blank=True)
    # Boards, not units; see fleet.summary. Units stay in the whole. None is unknown.
    physical = models.PositiveIntegerField(null=True)
    allocatable = models.PositiveIntegerField(null=True)  # schedulable, held or not
    requested = models.PositiveIntegerField(null=True)
    free = models.PositiveIntegerField(null=True)
    stranded = models.PositiveIntegerField(null=True)
    stranded_cause = models.CharField(max_length=20, blank=True)  # fleet.boards.stranding.CAUSES
    fragment = models.PositiveIntegerField(null=True)  # of the free: fewer than a usual pod
    usual_pod = models.PositiveIntegerField(null=True)  # GPUs of a usual pod, beside a fragment
    unhealthy = models.PositiveIntegerField(null=True)
    not_schedulable = models.PositiveIntegerField(null=True)  # and not requested
    partly_used = models.PositiveIntegerField(null=True)  # shared or cut: held or not, unknown
    squares = models.CharField(max_length=4000, blank=True)  # state letter of each GPU
    topology = models.JSONField(default=dict)  # level name -> value, levels without one left out
    problem_count = models.PositiveIntegerField(default=0)
    physical_estimated = models.BooleanField(default=False)
    physical_source = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["snapshot", "name"], name="inventory_node_name_in_snapshot"
            )
        ]
        indexes = [
            # What the filters offer, without a look at the rows.
            models.Index(
                fields=["snapshot", "is_gpu_node", "gpu_model", "gpu_label", "pool"],
                name="inventory_node_choices",
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def model_words(self) -> str:
        """The model for people, "" when the node names none."""
        unlisted = model_words(None, self.gpu_label, "") if self.gpu_label else ""
        return " + ".join(filter(None, (self.gpu_model, unlisted)))


class NodeValue(models.Model):
    """The whole of one node, apart from its row: tables walk through the rows of all nodes, and
    would walk through this several times its size, too. It goes with the snapshot, not by way of
    the row, so that deleting stays one statement a table."""

    snapshot = models.ForeignKey(
        Snapshot, on_delete=models.CASCADE, related_name="node_values", db_index=False
    )
    name = models.CharField(max_length=253)
    value = models.BinaryField()  # msgpack of fleet.inventory.Node

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["snapshot", "name"], name="inventory_node_value_in_snapshot"
            )
        ]

    def __str__(self) -> str:
        return self.name


class PodRow(models.Model):
    """A pod that asks for a GPU or runs on a GPU node."""

    snapshot = models.ForeignKey(
        Snapshot, on_delete=models.CASCADE, related_name="pods", db_index=False
    )
    node_name = models.CharField(max_length=253, blank=True)
    namespace = models.CharField(max_length=253)
    name = models.CharField(max_length=253)
    owner = models.CharField(max_length=300, blank=True)  # "Deployment chat"
    state = models.CharField(max_length=20)
    gpu_units = models.PositiveIntegerField(default=0)
    gpu_resource = models.CharField(max_length=253, blank=True)  # what ``gpu_units`` are units of
    requests = models.JSONField(default=dict)  # accelerator resource -> units
    facts = models.JSONField(default=dict)  # planner.inventory.pod_facts: what most pods lack

    class Meta:
        indexes = [
            models.Index(fields=["snapshot", "node_name"], name="inventory_pods_by_node"),
            models.Index(
                fields=["snapshot", "namespace", "owner", "name"], name="inventory_pods_by_owner"
            ),
            # Sums by owner come from the index alone.
            models.Index(
                fields=["snapshot", "namespace", "owner", "state", "gpu_resource", "gpu_units"],
                condition=models.Q(gpu_units__gt=0),
                name="inventory_gpu_pods_by_owner",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"
