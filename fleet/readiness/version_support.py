"""Is the Kubernetes minor still in support?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from fleet.catalogue.kubernetes_releases import Release, newest_supported, releases
from fleet.readiness.finding import Finding, Verdict
from fleet.readiness.subject import Subject
from fleet.readiness.wording import day_text, of_api_server
from fleet.words import say, say_many

CHECK = "version-support"
QUESTION = 1

END_OF_LIFE_NEAR = timedelta(days=60)
"""A minor that leaves support within this time is a warning: time enough to plan an upgrade."""

EXTENDED_SUPPORT = frozenset(
    {"gke", "eks", "aks", "oke", "ack", "tke", "iks", "openshift", "tanzu"}
)
"""Providers that sell support beyond the upstream end of life."""

_UPGRADE = {
    "gke": "gcloud container clusters upgrade CLUSTER --master --cluster-version {version}\n",
    "eks": "aws eks update-cluster-version --name CLUSTER --kubernetes-version {version}\n",
    "aks": "az aks upgrade --resource-group GROUP --name CLUSTER --kubernetes-version {version}\n",
    "kubeadm": "kubeadm upgrade plan\n",
}


def check(subject: Subject) -> Iterator[Finding]:
    version = subject.inventory.version
    if version.minor is None:
        yield Finding(
            CHECK,
            QUESTION,
            Verdict.UNKNOWN,
            say("The Kubernetes version is not known"),
            say("Neither the API server's version nor a kubelet's was read."),
            remedy=say("Export the version and import the file together with the others:"),
            snippet="kubectl version -o json > version.json\n",
        )
        return
    table = releases()
    release = table.get(version.minor)
    if release is not None:
        yield _judge(subject, release)
    elif version.minor > max(table):
        yield _finding(
            subject,
            Verdict.UNKNOWN,
            say("1.{minor} is newer than our table", minor=version.minor),
            say(
                "The table of {day} ends with 1.{newest}. Look up the support dates of 1.{minor}.",
                day=day_text(max(r.as_of for r in table.values())),
                newest=max(table),
                minor=version.minor,
            ),
            "kubernetes.io/releases",
        )
    else:
        yield _finding(
            subject,
            _past(subject),
            say("1.{minor} left support years ago", minor=version.minor),
            say("It is older than 1.{oldest}, the oldest minor of our table.", oldest=min(table)),
            "kubernetes.io/releases",
        )


def _judge(subject: Subject, release: Release) -> Finding:
    minor, end, today = release.minor, release.end_of_life, subject.today
    if end is None:
        return _finding(
            subject,
            Verdict.UNKNOWN,
            say("The end of support of 1.{minor} is not known", minor=minor),
            say("Our table of {day} has no date for it.", day=day_text(release.as_of)),
            release.source,
        )
    left = (end - today).days
    if left < 0:
        return _finding(
            subject,
            _past(subject),
            say("1.{minor} left support on {day}", minor=minor, day=day_text(end)),
            say_many(
                "That was {n} day ago: no security fixes from the Kubernetes project.",
                "That was {n} days ago: no security fixes from the Kubernetes project.",
                -left,
            )
            + _vendor_words(subject),
            release.source,
        )
    if end - today <= END_OF_LIFE_NEAR:
        return _finding(
            subject,
            Verdict.WARN,
            say_many(
                "1.{minor} leaves support in {n} day",
                "1.{minor} leaves support in {n} days",
                left,
                minor=minor,
            ),
            say("Its last day is {day}.", day=day_text(end)) + _vendor_words(subject),
            release.source,
        )
    detail = ""
    if release.maintenance_from is not None and release.maintenance_from <= today:
        detail = say(
            "Only critical fixes since {day}.",
            day=day_text(release.maintenance_from),
        )
    return _finding(
        subject,
        Verdict.PASS,
        say("1.{minor} is in support until {day}", minor=minor, day=day_text(end)),
        detail,
        release.source,
    )


def _past(subject: Subject) -> Verdict:
    extended = subject.inventory.provider in EXTENDED_SUPPORT
    return Verdict.WARN if extended else Verdict.FAIL


def _vendor_words(subject: Subject) -> str:
    provider = subject.inventory.provider
    if provider not in EXTENDED_SUPPORT:
        return ""
    return " " + say(
        "The provider ({provider}) sells longer support: see its own calendar.", provider=provider
    )


def _finding(subject: Subject, verdict: Verdict, title: str, detail: str, source: str) -> Finding:
    version = subject.inventory.version
    remedy, snippet = "", ""
    target = newest_supported(subject.today)
    if verdict in (Verdict.FAIL, Verdict.WARN) and target is not None:
        following = min((version.minor or target.minor) + 1, target.minor)
        remedy = say(
            "Upgrade to 1.{minor}, one minor at a time, the control plane first and then pool by "
            "pool. The next step is 1.{following}.",
            minor=target.minor,
            following=following,
        )
        command = _UPGRADE.get(subject.inventory.provider, "")
        snippet = command.format(version=f"1.{following}")
    if "kubelet" in version.source:
        words = say("Judged by the kubelets, since the file has no server version.")
        detail = f"{detail} {words}".strip()
    return Finding(
        CHECK,
        QUESTION,
        verdict,
        title,
        detail,
        (of_api_server(version.source, version.git_version or f"1.{version.minor}"),),
        remedy,
        snippet,
        source=source,
    )
