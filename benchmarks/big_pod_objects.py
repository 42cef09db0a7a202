"""Pods and workload objects of the big synthetic cluster, as an API server gives them out."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.big_machines import Json
from benchmarks.big_objects import CREATED, address, fields, head, managed, uid
from benchmarks.big_pods import OwnerPlan, PodPlan

STARTED = "2026-11-12T08:31:20Z"
API_VERSIONS = {"Deployment": "apps/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1",
                "DaemonSet": "apps/v1", "Job": "batch/v1"}  # fmt: skip
PRIORITIES = {"training": 10_000, "serving": 100_000, "daemon": 2_000_000}

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


def _suffix(ordinal: int) -> str:
    """Five letters as a controller draws them; different ordinals never give the same."""
    rest = ordinal * 7_654_321 % len(_LETTERS) ** 5
    letters = ""
    for _ in range(5):
        rest, letter = divmod(rest, len(_LETTERS))
        letters += _LETTERS[letter]
    return letters


def _template_hash(owner: OwnerPlan) -> str:
    return uid("hash", owner.namespace, owner.name)[:8] + "b9"


def _reference(owner: OwnerPlan) -> Json:
    kind, name = owner.kind, owner.name
    if kind == "Deployment":
        kind, name = "ReplicaSet", f"{name}-{_template_hash(owner)}"
    return {"apiVersion": API_VERSIONS[kind], "kind": kind, "name": name,
            "uid": uid(kind, owner.namespace, name), "controller": True,
            "blockOwnerDeletion": True}  # fmt: skip


def pod(plan: PodPlan) -> Json:
    reference = _reference(plan.owner)
    name = f"{reference['name']}-{_suffix(plan.ordinal)}"
    item = head("v1", "Pod", plan.owner.namespace, name, _pod_labels(plan))
    item["metadata"] |= {
        "generateName": f"{reference['name']}-",
        "annotations": _pod_annotations(plan),
        "ownerReferences": [reference],
        "managedFields": _POD_FIELDS,
    }
    item["spec"] = _pod_spec(plan)
    item["status"] = _pod_status(plan)
    return item


def _pod_labels(plan: PodPlan) -> dict[str, str]:
    labels = {
        "app.kubernetes.io/name": plan.owner.name,
        "app.kubernetes.io/part-of": plan.owner.namespace,
        "app.kubernetes.io/managed-by": "release-tool",
        "team": plan.owner.namespace,
    }
    if plan.owner.kind == "Deployment":
        labels["pod-template-hash"] = _template_hash(plan.owner)
    if plan.owner.kind == "Job":
        labels["batch.kubernetes.io/job-name"] = plan.owner.name
    return labels


def _pod_annotations(plan: PodPlan) -> dict[str, str]:
    digest = uid("config", plan.owner.name).replace("-", "")
    return {
        "checksum/config": digest,
        "prometheus.io/scrape": "true",
        "prometheus.io/port": "9090",
        "kubectl.kubernetes.io/restartedAt": CREATED,
        "example.invalid/owner": f"{plan.owner.namespace}@example.invalid",
    }


def _environment(plan: PodPlan) -> list[Json]:
    found = [{"name": name, "value": f"{value}.{plan.owner.namespace}"}
             for name, value in _VARIABLES]  # fmt: skip
    return [*found, *_DOWNWARD]


_VARIABLES = [
    (f"{part}_{word}", f"{part.lower()}-{word.lower()}")
    for part in ("DB", "CACHE", "QUEUE", "TRACE", "FLAG")
    for word in ("HOST", "PORT", "PEER", "SPARE")
][:18]
_DOWNWARD: list[Json] = [
    {"name": name, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}
    for name, path in (("POD_NAME", "metadata.name"), ("POD_NAMESPACE", "metadata.namespace"),
                       ("NODE_NAME", "spec.nodeName"))
]  # fmt: skip
_SIDE_ENVIRONMENT = [{"name": f"PROXY_{word}", "value": word.lower()}
                     for word in ("LEVEL", "MODE", "CLUSTER", "DOMAIN")]  # fmt: skip


def _containers(plan: PodPlan) -> list[Json]:
    requests = {"cpu": f"{plan.cpu_milli}m", "memory": f"{plan.memory_mib}Mi"}
    devices = {name: str(number) for name, number in plan.devices.items()}
    common = {"imagePullPolicy": "IfNotPresent", "terminationMessagePath": "/dev/termination-log",
              "terminationMessagePolicy": "File"}  # fmt: skip
    main = {
        "name": "main",
        "image": f"registry.example.invalid/{plan.owner.namespace}/{plan.owner.name}:2026.11.1",
        "args": ["--config=/etc/app/config.yaml", "--listen=:8000"],
        "env": _environment(plan),
        "resources": {"requests": requests | devices,
                      "limits": {"memory": requests["memory"]} | devices},
        "volumeMounts": _MOUNTS,
        **common,
    }  # fmt: skip
    if plan.owner.kind in ("Deployment", "StatefulSet"):
        main["ports"] = [{"name": "http", "containerPort": 8000, "protocol": "TCP"}]
        main["readinessProbe"] = {"httpGet": {"path": "/ready", "port": 8000, "scheme": "HTTP"},
                                  "periodSeconds": 10, "timeoutSeconds": 1,
                                  "successThreshold": 1, "failureThreshold": 3}  # fmt: skip
    side = {
        "name": "proxy",
        "image": "registry.example.invalid/platform/proxy:1.9.2",
        "env": _SIDE_ENVIRONMENT,
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}},
        **common,
    }
    return [main, side]


_MOUNTS = [
    {"name": "config", "mountPath": "/etc/app", "readOnly": True},
    {"name": "token", "mountPath": "/var/run/secrets/tokens", "readOnly": True},
]
_VOLUMES = [
    {"name": "config", "configMap": {"name": "app-config", "defaultMode": 420}},
    {"name": "token", "emptyDir": {"medium": "Memory"}},
]


def _priority(plan: PodPlan) -> str:
    if plan.is_daemon:
        return "daemon"
    return "training" if plan.owner.kind == "Job" else "serving"


def _pod_spec(plan: PodPlan) -> Json:
    name = _priority(plan)
    tolerations: list[Json] = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute",
         "tolerationSeconds": 300}
        for key in ("not-ready", "unreachable")
    ]  # fmt: skip
    if plan.is_daemon:
        tolerations = [{"operator": "Exists"}]
    elif plan.taint or (plan.node and plan.node.machine.taint):
        taint = plan.taint or (plan.node.machine.taint if plan.node else "")
        tolerations.append({"key": taint, "operator": "Exists", "effect": "NoSchedule"})
    spec: Json = {
        "containers": _containers(plan), "volumes": _VOLUMES, "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default", "serviceAccount": "default", "securityContext": {},
        "schedulerName": "default-scheduler", "tolerations": tolerations,
        "priorityClassName": name, "priority": PRIORITIES[name],
        "preemptionPolicy": "PreemptLowerPriority", "enableServiceLinks": True,
    }  # fmt: skip
    if plan.owner.kind == "Job":
        spec["restartPolicy"] = "Never"
    if plan.node is not None:
        spec["nodeName"] = plan.node.name
    if plan.devices:
        spec["nodeSelector"] = {"node.kubernetes.io/pool": plan.pool}
    return spec


def _pod_status(plan: PodPlan) -> Json:
    condition = {"lastTransitionTime": STARTED}
    if plan.node is None:
        waits = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        return {"phase": "Pending", "qosClass": "Burstable", "conditions": [condition | waits]}
    return {
        "phase": "Running",
        "qosClass": "Burstable",
        "conditions": [condition | {"type": kind, "status": "True"} for kind in _CONDITIONS],
        "hostIP": address(plan.node.number),
        "podIP": address(plan.ordinal + 2**18),
        "podIPs": [{"ip": address(plan.ordinal + 2**18)}],
        "startTime": STARTED,
        "containerStatuses": [
            {"name": name, "ready": True, "started": True, "restartCount": 0,
             "image": f"registry.invalid/{name}:2026.11.1",
             "imageID": "sha256:" + "0" * 64,
             "containerID": f"containerd://{uid(name, plan.owner, plan.ordinal)}",
             "state": {"running": {"startedAt": STARTED}}, "lastState": {}}
            for name in ("main", "proxy")
        ],
    }  # fmt: skip


_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady",
               "PodScheduled")  # fmt: skip
_CONTAINER_FIELDS = fields(("args", "image", "name", "resources", "volumeMounts"))
_POD_FIELDS = [
    managed(
        "kube-controller-manager",
        "",
        {
            "f:metadata": {
                "f:annotations": fields(("checksum/config", "prometheus.io/scrape")),
                "f:generateName": {},
                "f:labels": fields(("app.kubernetes.io/name", "team", "pod-template-hash")),
                "f:ownerReferences": {".": {}},
            },
            "f:spec": {
                "f:containers": {
                    'k:{"name":"main"}': _CONTAINER_FIELDS
                    | {
                        "f:env": {
                            f'k:{{"name":"{name}"}}': fields(("name", "value"))
                            for name, _value in _VARIABLES
                        }
                    },
                    'k:{"name":"proxy"}': _CONTAINER_FIELDS,
                },
                **{f"f:{name}": {} for name in ("dnsPolicy", "nodeSelector", "restartPolicy")},
            },
        },
    ),
    managed(
        "kubelet",
        "status",
        {
            "f:status": {
                "f:conditions": {
                    f'k:{{"type":"{kind}"}}': fields(("status", "type")) for kind in _CONDITIONS
                },
                **{f"f:{name}": {} for name in ("containerStatuses", "hostIP", "phase", "podIP")},
            }
        },
    ),
]


def workload(owner: OwnerPlan, size: int, sample: PodPlan) -> Iterator[Json]:
    item = head(API_VERSIONS[owner.kind], owner.kind, owner.namespace, owner.name)
    labels = {"app.kubernetes.io/name": owner.name}
    spec = {key: value for key, value in _pod_spec(sample).items() if key != "nodeName"}
    template = {"metadata": {"labels": labels}, "spec": spec}
    body: Json = {"selector": {"matchLabels": labels}, "template": template}
    if owner.kind == "Job":
        body = {"parallelism": size, "completions": size, "template": template}
    elif owner.kind != "DaemonSet":
        body["replicas"] = size
    if owner.kind == "StatefulSet":
        body["serviceName"] = owner.name
    yield item | {"spec": body}
    if owner.kind != "Deployment":
        return
    digest = _template_hash(owner)
    between = head("apps/v1", "ReplicaSet", owner.namespace, f"{owner.name}-{digest}")
    hashed = labels | {"pod-template-hash": digest}
    between["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "name": owner.name, "controller": True,
         "uid": item["metadata"]["uid"], "blockOwnerDeletion": True}
    ]  # fmt: skip
    yield between | {
        "spec": {
            "replicas": size,
            "selector": {"matchLabels": hashed},
            "template": {"metadata": {"labels": hashed}, "spec": spec},
        }
    }
