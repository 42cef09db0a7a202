"""Why a job failed, in the reader's language.

A worker keeps the error of a job in English, with names and numbers in it, because people of
several languages read the same job. Its code is a closed set, so a reader of another language gets
the sentence of the code, and the kept one below it.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

KEPT_LANGUAGE = "en"
"""The language of what workers keep."""

_CHECK_ADDRESS = _("Check the address of the cluster, its port and its path, then sync again.")
_CHECK_LOAD = _("Look at the log and the load of the API server, then sync again.")

SENTENCES: dict[str, tuple[str | Promise, str | Promise]] = {
    "address": (_("The address of the cluster is not allowed."), _("Correct the address.")),
    "dns": (
        _("The host name of the cluster has no address."),
        _("Check its spelling and that this machine can resolve it."),
    ),
    "refused": (_("Nothing accepts a connection at this address."), _CHECK_ADDRESS),
    "connection": (
        _("The connection broke off, again and again."),
        _("Look at the API server and at what lies before it, then sync again."),
    ),
    "tls": (
        _("No trusted TLS connection could be made."),
        _("Give the CA certificate of this cluster, and an address that its certificate names."),
    ),
    "timeout": (_("Reading the cluster took too long."), _CHECK_LOAD),
    "unauthorized": (
        _("The API server does not accept the credential (401)."),
        _("It may have expired or been revoked: enter a new one."),
    ),
    "forbidden": (
        _("The credential may not list nodes or pods in all namespaces (403)."),
        _("Apply the read-only ClusterRole and its binding, then sync again."),
    ),
    "not-found": (_("The server is no Kubernetes API server."), _CHECK_ADDRESS),
    "too-many-requests": (
        _("The API server is too busy to answer (429)."),
        _("Sync later; if it goes on, give this account its own FlowSchema."),
    ),
    "server-error": (_("The API server answered with an error, several times."), _CHECK_LOAD),
    "redirect": (
        _("The server sends calls on to another address, which is not followed."),
        _("Give the address of the API server itself."),
    ),
    "expired": (
        _("A list expired while it was read, several times."),
        _("Sync at a quieter time; the API server is too slow for a list of this length."),
    ),
    "malformed": (
        _("The server gave an answer that no API server gives."),
        _(
            "Check that the address is that of a Kubernetes API server and not of a login page "
            "or proxy, then sync again."
        ),
    ),
    "too-large": (_("The cluster holds more than one sync reads."), _CHECK_ADDRESS),
    "cancelled": (_("Reading was cancelled."), ""),
    "credential": (
        _("The credential of the cluster cannot be used."),
        _("Edit the cluster and enter its credential."),
    ),
    "gone": (_("What this job was for is not there any more."), ""),
    "busy": (
        _("The cluster was read again and again meanwhile."),
        _("The next sync shows the levels."),
    ),
    "no-snapshot": (
        _("None of the plan's clusters has a complete snapshot."),
        _("Add a cluster or sync one, then solve again."),
    ),
    "plan": (
        _("The plan cannot be made as its workloads are declared."),
        _("Open the workload, correct the field and solve again."),
    ),
    "inputs": (
        _("The stored inputs of this run cannot be read."),
        _("Open the workloads of the plan, save them again and solve anew."),
    ),
    "worker-died": (
        _("The worker stopped in the middle of the job, several times."),
        _("Look at the worker's log and memory, then start it again by hand."),
    ),
    "unknown-kind": (_("No part of this program does jobs of this kind."), ""),
    "internal": (
        _("An unexpected error ended the job."),
        _("The log of the worker has the details."),
    ),
}
"""Code -> what happened and what to do."""


@dataclass(frozen=True, slots=True)
class Failure:
    """``kept``: the detailed English sentence, "" where ``message`` is that one already."""

    message: str
    way_out: str
    kept: str = ""


def failure(code: str, message: str, way_out: str) -> Failure:
    """What to show of an error that a worker kept."""
    if (get_language() or KEPT_LANGUAGE).split("-")[0] == KEPT_LANGUAGE or code not in SENTENCES:
        return Failure(message, way_out)
    said, what_to_do = SENTENCES[code]
    return Failure(str(said), str(what_to_do) or way_out, message)
