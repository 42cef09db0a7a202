"""Which Kubernetes a cluster runs, and who runs it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fleet.inventory import ServerVersion
from fleet.kubernetes.objects_core import NodeObject, VersionInfo

_GIT = re.compile(r"v?([0-9]{1,3})\.([0-9]{1,4})(?:[.+-]|$)")
_NUMBER = re.compile(r"[0-9]{1,4}")
# Part of a version text -> provider. Order matters: RKE2 builds on k3s.
_SUFFIXES = (
    ("-gke.", "gke"),
    ("-eks-", "eks"),
    ("+rke2", "rke2"),
    ("+k3s", "k3s"),
    ("+k0s", "k0s"),
    ("-aliyun", "ack"),
    ("-tke.", "tke"),
    ("+vmware", "tanzu"),
    ("+IKS", "iks"),
)
_LABELS = (
    ("cloud.google.com/gke-nodepool", "gke"),
    ("eks.amazonaws.com/nodegroup", "eks"),
    ("eks.amazonaws.com/compute-type", "eks"),
    ("kubernetes.azure.com/cluster", "aks"),
    ("kubernetes.azure.com/agentpool", "aks"),
    ("oci.oraclecloud.com/fault-domain", "oke"),
    ("node.openshift.io/os_id", "openshift"),
    ("kwok.x-k8s.io/node", "kwok"),
)
_PROVIDER_IDS = (("oci://", "oke"), ("kind://", "kind"), ("k3s://", "k3s"))


def _number(text: str) -> int | None:
    match = _NUMBER.match(text.strip())  # "36+" is minor 36
    return int(match.group()) if match is not None else None


def parse_git_version(text: str) -> tuple[int, int] | None:
    """(1, 36) out of "v1.36.3-gke.1"; None when it is no version."""
    match = _GIT.match(text.strip())
    return (int(match[1]), int(match[2])) if match is not None else None


def server_version(info: VersionInfo | None, nodes: Iterable[NodeObject]) -> ServerVersion:
    """The server's version; without one, what the newest kubelet allows to conclude."""
    if info is not None and (info.gitVersion or info.minor):
        parsed = parse_git_version(info.gitVersion)
        major, minor = _number(info.major), _number(info.minor)
        if parsed is not None:
            major = parsed[0] if major is None else major
            minor = parsed[1] if minor is None else minor
        return ServerVersion(
            git_version=info.gitVersion[:64],
            major=major,
            minor=minor,
            source="GET /version",
            emulation_minor=_number(info.emulationMinor),
        )
    found = [
        (parsed, text)
        for node in nodes
        if node.status is not None and node.status.nodeInfo is not None
        and (parsed := parse_git_version(text := node.status.nodeInfo.kubeletVersion))
    ]  # fmt: skip
    if not found:
        return ServerVersion("", None, None, "unknown: no server version, no kubelet version")
    (major, minor), text = max(found)
    # A kubelet is never newer than its API server, so this is a lower bound.
    source = "kubelet versions (the file has no server version)"
    return ServerVersion(text[:64], major, minor, source)


def provider_of(git_version: str, nodes: Iterable[NodeObject]) -> str:
    """Who runs the cluster, by the version's suffix, else by what nodes carry; "" unknown."""
    for part, provider in _SUFFIXES:
        if part in git_version:
            return provider
    for node in nodes:
        for label, provider in _LABELS:
            if node.metadata.label(label):
                return provider
        identity = (node.spec.providerID if node.spec else None) or ""
        for prefix, provider in _PROVIDER_IDS:
            if identity.startswith(prefix):
                return provider
    return ""
