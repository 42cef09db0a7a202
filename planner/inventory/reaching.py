"""How a cluster is reached: which addresses are allowed, and its credential opened."""

from __future__ import annotations

from django.conf import settings

from fleet.kubernetes import kubeconfig
from fleet.kubernetes.address import AddressPolicy, parse_networks
from fleet.kubernetes.kubeconfig import AccessError, ClusterAccess
from planner.inventory import discovery, secrets
from planner.inventory.models import Cluster, ClusterCredential
from planner.jobs.runner import JobFailed


def address_policy() -> AddressPolicy:
    """The rule of this installation (``PLANNER_CLUSTER_NETWORKS``, ``PLANNER_ALLOW_LOOPBACK``)."""
    return AddressPolicy(
        networks=parse_networks(" ".join(settings.PLANNER_CLUSTER_NETWORKS)),
        allow_loopback=settings.PLANNER_ALLOW_LOOPBACK,
    )


def opened_access(cluster: Cluster) -> ClusterAccess:
    """The access to a live cluster, for the worker that calls it.

    Raises ``JobFailed`` when there is none, or when it cannot be opened.
    """
    try:
        if cluster.source == Cluster.Source.IN_CLUSTER:
            return kubeconfig.in_cluster()
        sealed = ClusterCredential.objects.get(cluster=cluster).sealed
        return secrets.open_sealed(bytes(sealed), cluster.uuid)
    except ClusterCredential.DoesNotExist:
        raise JobFailed(
            "credential",
            "No credential is stored for this cluster.",
            "Edit the cluster and enter its credential.",
        ) from None
    except secrets.CredentialUnreadable as error:
        raise JobFailed("credential", error.message) from None
    except AccessError as error:
        raise JobFailed("credential", f"{error.key}: {error.message}", error.way_out) from None


def keep_access(cluster: Cluster, access: ClusterAccess) -> None:
    """Seal ``access`` as the credential of ``cluster``. Call it inside the act's transaction.

    What the cluster served by its earlier access is forgotten.
    """
    discovery.forget(cluster)
    ClusterCredential.objects.update_or_create(
        cluster=cluster,
        defaults={
            "sealed": secrets.seal(access, cluster.uuid),
            "fingerprint": secrets.fingerprint(access),
        },
    )
