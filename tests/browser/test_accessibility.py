"""axe finds nothing on any page, light and dark, wide and narrow; no page scrolls sideways."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from tests.browser.conftest import Site, log_in
from tests.browser.pages import crawl


@pytest.fixture(scope="module")
def demo_pages(demo_site: Site, browser: Browser) -> list[str]:
    context = browser.new_context()
    page = context.new_page()
    log_in(page, demo_site)
    pages = crawl(page, demo_site, limit=45)
    context.close()
    assert len(pages) > 25
    return pages


@pytest.mark.timeout(420)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_every_page_passes_axe_and_fits_its_width(
    demo_site: Site, browser: Browser, demo_pages: list[str], width: int, scheme: str
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    log_in(page, demo_site)
    axe = Axe()
    trouble: list[str] = []
    for path in demo_pages:
        page.goto(f"{demo_site.url}{path}")
        page.wait_for_load_state("networkidle")
        if page.evaluate("document.documentElement.scrollWidth") > width:
            trouble.append(f"{path}: scrolls sideways at {width} px")
        found = axe.run(page, options={"resultTypes": ["violations"]})
        trouble += [
            f"{path}: {violation['id']}: {violation['nodes'][0]['html'][:160]}"
            for violation in found.response["violations"]
        ]
    context.close()
    assert trouble == []
