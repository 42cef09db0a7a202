"""Names from a cluster are shown literally on every page, never as markup."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import Site, log_in
from tests.browser.pages import crawl

HOSTILE = (
    "<script>document.title='owned'</script>",
    "\"><img src=x onerror=document.title='owned'>",
    "' hx-get='/jobs/1/' hx-trigger='load' x='",
    "{{ 7*7 }}{% now 'Y' %}",
    "javascript:document.title='owned'",
    '<a href="https://evil.example/">click</a>',
    "\u202eright to left",
    "long-" + "x" * 2000,
    "=HYPERLINK(0)",
)

INJECTED = ", ".join(
    (
        "main script:not([type='application/json'])",
        "main img[src=x]",
        "main [hx-get='/jobs/1/']",
    )
)


def _node(number: int, name: str) -> dict[str, Any]:
    resources = {"cpu": "32", "memory": "128Gi", "pods": "110", "nvidia.com/gpu": "4"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": f"node-{number}-{name}",
            "labels": {
                "nvidia.com/gpu.product": f"Tesla-T4{name}" if number % 2 else "Tesla-T4",
                "node.kubernetes.io/instance-type": name,
                "topology.kubernetes.io/zone": name,
                "cloud.google.com/gke-nodepool": name,
                name: name,
            },
        },
        "spec": {"taints": [{"key": name, "value": name, "effect": "NoSchedule"}]},
        "status": {
            "capacity": resources,
            "allocatable": {**resources, "nvidia.com/gpu": "3"},
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kubeletVersion": f"v1.36.3-{name}"},
        },
    }


def _pod(number: int, name: str) -> dict[str, Any]:
    wanted = {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"pod-{number}-{name}",
            "namespace": name,
            "uid": f"uid-{number}",
            "ownerReferences": [
                {
                    "kind": name,
                    "name": name,
                    "controller": True,
                    "apiVersion": "apps/v1",
                    "uid": "u",
                }
            ],
        },
        "spec": {
            "nodeName": f"node-{number}-{name}",
            "priorityClassName": name,
            "containers": [{"name": name, "resources": {"requests": wanted, "limits": wanted}}],
        },
        "status": {"phase": "Running"},
    }


def test_hostile_names_stay_text_on_every_page(page: Page, embedded_site: Site) -> None:
    site = embedded_site
    items = [_node(i, name) for i, name in enumerate(HOSTILE)]
    items += [_pod(i, name) for i, name in enumerate(HOSTILE)]
    dump = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()
    log_in(page, site)
    page.goto(f"{site.url}/clusters/add/")
    way = page.locator("section.panel", has=page.get_by_role("heading", name="Files from kubectl"))
    way.get_by_label("Name", exact=True).fill("hostile")
    way.get_by_label("Files from kubectl").set_input_files(
        {"name": "<b>hostile</b>.json", "mimeType": "application/json", "buffer": dump}
    )
    way.get_by_role("button", name="Import").click()
    expect(page.get_by_role("heading", level=1, name="hostile")).to_be_visible()

    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site.url}/nodes/?q=node-0")
    expect(page.locator("main")).to_contain_text("<script>document.title='owned'</script>")
    pages = crawl(page, site, limit=60)
    assert any("/nodes/node-" in path for path in pages)
    assert page.title() != "owned"
    for path in pages:
        page.goto(f"{site.url}{path}")
        assert page.title() != "owned", path
        assert page.locator(INJECTED).count() == 0, path
    foreign = [url for url in asked if not url.startswith((site.url, "data:", "blob:"))]
    assert foreign == []
