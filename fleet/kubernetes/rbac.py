"""What to apply and what to run on a cluster so that it can be read: a manifest and a script."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from fleet.kubernetes.resources import RESOURCES, Resource
from fleet.kubernetes.served import api_path

NAME = "gpu-fleet-planner"
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")  # RFC 1123 label


def read_only_manifest(namespace: str = NAME) -> str:
    """YAML for `kubectl apply -f -`: a ServiceAccount that can list what we read, nothing else.

    Verbs are get and list on named resources: no watch, no secrets, no configmaps, no logs, no
    wildcard. A rule for an API that a cluster does not have is harmless. ValueError for a
    namespace that Kubernetes would refuse.
    """
    if not _NAMESPACE.match(namespace):
        raise ValueError(f"{namespace!r} is not a Kubernetes namespace name")
    return f"""\
# Read-only access for {NAME}. Apply it, then print a token that ends by itself:
#   kubectl apply -f read-only.yaml
#   kubectl create token {NAME} --namespace {namespace} --duration 720h
# and the CA of the cluster:
#   kubectl config view --raw --minify --flatten \\
#     -o jsonpath='{{.clusters[0].cluster.certificate-authority-data}}' | base64 -d
# The cluster may give a shorter time than asked for. To take the access away:
#   kubectl delete clusterrolebinding,clusterrole {NAME}
#   kubectl delete serviceaccount {NAME} --namespace {namespace}
apiVersion: v1
kind: Namespace
metadata:
  name: {namespace}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {NAME}
  namespace: {namespace}
automountServiceAccountToken: false
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {NAME}
rules:
{_rules()}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {NAME}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {NAME}
subjects:
  - kind: ServiceAccount
    name: {NAME}
    namespace: {namespace}
"""


def missing_manifest(keys: Collection[str], namespace: str = NAME) -> str:
    """YAML that adds the right to list only these resources (``Resource.key``), "" for none.

    A role of its own, so that applying it takes nothing away that the account has already.
    """
    missing = [resource for resource in RESOURCES if resource.key in keys]
    if not missing:
        return ""
    return f"""\
# Adds what was forbidden. If the account is another one, name it as the subject.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {NAME}-missing
rules:
{_rules(missing)}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {NAME}-missing
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {NAME}-missing
subjects:
  - kind: ServiceAccount
    name: {NAME}
    namespace: {namespace}
"""


def _rules(resources: Iterable[Resource] = RESOURCES) -> str:
    groups: dict[str, list[str]] = {}
    for resource in resources:
        plurals = groups.setdefault(resource.group, [])
        if resource.plural not in plurals:
            plurals.append(resource.plural)
    return "\n".join(
        f'  - apiGroups: ["{group}"]\n    resources: [{", ".join(plurals)}]\n    verbs: [get, list]'
        for group, plurals in groups.items()
    )


def export_script() -> str:
    """POSIX sh for people with kubectl and no wish to hand out a credential.

    It writes one JSON file per resource into a directory, skips what the cluster does not serve
    or the user may not list, and says so; it stops only when nodes or pods cannot be read.
    """
    optional = _continued(r.key for r in RESOURCES if not r.needed)
    needed = " ".join(r.key for r in RESOURCES if r.needed)
    apis = _continued(dict.fromkeys(api_path(r.group, v) for r in RESOURCES for v in r.versions))
    return f"""\
#!/bin/sh
# Exports what {NAME} reads, with kubectl and your own rights. Only "get" is used.
# Usage: sh export.sh [CONTEXT]      Result: fleet-export/*.json
# The files hold what kubectl prints, with the environment of your pods: {NAME} drops
# environment, arguments and most annotations when it reads them.
set -u
dir=fleet-export
context=${{1:-}}
umask 077
mkdir -p "$dir" || exit 1

kube() {{
  if [ -n "$context" ]; then
    kubectl --context "$context" "$@"
  else
    kubectl "$@"
  fi
}}

export_one() {{
  if kube get "$1" --all-namespaces -o json >"$dir/$1.json.part" 2>"$dir/error"; then
    mv "$dir/$1.json.part" "$dir/$1.json"
    echo "read     $1"
  else
    rm -f "$dir/$1.json.part"
    return 1
  fi
}}

kube version -o json >"$dir/version.json" 2>"$dir/error" || rm -f "$dir/version.json"

# What the cluster serves, so that "not installed" can be told from "not exported".
for api in \\
{apis}
do
  file=$dir/api$(echo "$api" | tr / -).json
  kube get --raw "$api" >"$file" 2>"$dir/error" || rm -f "$file"
done

for resource in {needed}; do
  if ! export_one "$resource"; then
    echo "FAILED   $resource:" >&2
    cat "$dir/error" >&2
    exit 1
  fi
done
for resource in \\
{optional}
do
  export_one "$resource" || echo "skipped  $resource (not served, or not yours to list)"
done
rm -f "$dir/error"
echo "Done: import the files in $dir"
"""


def _continued(words: Iterable[str]) -> str:
    """Words as the lines of one shell command."""
    return " \\\n".join(f"  {word}" for word in words)
