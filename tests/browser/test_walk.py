"""From three real clusters to a placement report, as a person does it in one sitting."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Site, log_in

CASES = Path(__file__).resolve().parents[1] / "data" / "cases"
CLUSTERS = {
    "nine-nodes": "06-nine-nodes-four-with-gpus.json",
    "eight-h100": "12-eight-h100-nodes-one-empty.json",
    "a3-mega": "16-a3-mega-gke-topology.json",
}


def import_cluster(page: Page, site: Site, name: str, file: str) -> None:
    page.goto(f"{site.url}/clusters/add/")
    way = page.locator("section.panel", has=page.get_by_role("heading", name="Files from kubectl"))
    way.get_by_label("Name", exact=True).fill(name)
    way.get_by_label("Files from kubectl").set_input_files(CASES / file)
    way.get_by_role("button", name="Import").click()
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()


def declare(page: Page, site: Site, kind: str, name: str, model: str, **fields: str) -> str:
    """Fill the form of one kind; what the sizing beside it says before it is saved."""
    page.goto(f"{site.url}/workloads/new/{kind}/")
    page.get_by_label("Name", exact=True).fill(name)
    for label, value in fields.items():
        page.get_by_label(label.replace("_", " "), exact=True).fill(value)
    page.get_by_label("Catalogue model").fill(model)
    panel = page.locator("section.panel", has=page.get_by_role("heading", name="What one replica"))
    expect(panel.get_by_text("Choose a model.")).to_have_count(0)
    expect(panel.get_by_text(re.compile(r"\d × ")).first).to_be_visible()
    said = panel.inner_text()
    page.get_by_role("button", name="Save").first.click()
    expect(page).not_to_have_url(re.compile("/new/"))
    return said


def test_from_three_clusters_to_a_report(page: Page, site: Site) -> None:
    log_in(page, site)
    for name, file in CLUSTERS.items():
        import_cluster(page, site, name, file)

    page.goto(f"{site.url}/")
    main = page.locator("main")
    expect(main).to_contain_text("3 clusters")
    expect(main).to_contain_text("H100-SXM5-80GB")

    embedding = declare(page, site, "embedding", "find", "BAAI/bge-m3", Replicas="2")
    assert "1 × " in embedding
    llm = declare(page, site, "llm", "chat", "meta-llama/Meta-Llama-3.1-70B", At_once="8")
    assert re.search(r"(Fits|Tight)", llm)
    assert "weights" in llm
    declare(
        page,
        site,
        "training",
        "tune",
        "meta-llama/Meta-Llama-3.1-8B",
        GPUs_in_all="16",
        GPUs_per_worker="8",
    )

    page.goto(f"{site.url}/plans/new/")
    page.get_by_label("Name", exact=True).fill("First quarter")
    for name in ("find", "chat", "tune"):
        page.get_by_label(re.compile(rf"^{name} ·")).check()
    page.get_by_role("button", name="Save and solve").click()
    # The page itself shows when the job has ended; nobody reloads it.
    main = page.locator("main")
    expect(main).to_contain_text("3 of 3 workloads placed", timeout=60_000)
    # The job's own line may say so a moment before the answer takes its place.
    expect(main).to_contain_text(re.compile(r"Proven best|within"), timeout=60_000)
    for name in ("find", "chat", "tune"):
        expect(main).to_contain_text(name)
    page.get_by_role("link", name="Cost", exact=True).click()
    chart = page.locator(".js-plotly-plot").first
    expect(chart).to_be_visible()
    expect(chart.locator(".bars path").first).to_be_visible()

    with page.expect_download() as arriving:
        page.get_by_role("link", name="CSV", exact=True).click()
    data = Path(arriving.value.path()).read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
    assert {row["workload"] for row in rows} == {"find", "chat", "tune"}
    assert {row["status"] for row in rows} == {"placed"}
    assert sum(int(row["gpus"]) for row in rows if row["workload"] == "tune") == 16
    for row in rows:
        assert row["cluster"] in CLUSTERS
        assert row["price_source"]
        if row["price_source"] == "no price":
            assert row["cost_per_hour"] == ""

    page.goto(f"{site.url}/readiness/")
    expect(page.locator("main")).to_contain_text("eight-h100")
    page.goto(f"{site.url}/clusters/")
    page.get_by_role("link", name="eight-h100").first.click()
    page.get_by_role("link", name="Readiness", exact=True).last.click()
    expect(page.locator("main")).to_contain_text("1 of 8 GPU nodes offers no GPU")
    expect(page.locator("main")).to_contain_text("kubectl get pods -A -o wide")


def test_reading_works_without_javascript(site: Site, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    log_in(page, site)
    for path, words in (("/", "Fleet overview"), ("/nodes/", "Nodes"), ("/plans/", "Plans")):
        page.goto(f"{site.url}{path}")
        expect(page.get_by_role("heading", level=1)).to_contain_text(words)
    context.close()
