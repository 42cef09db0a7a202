"""The content policy refuses nothing that the pages themselves bring, and nothing stays behind."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.conftest import Site, log_in


def test_pages_with_charts_draw_without_a_report(page: Page, demo_site: Site) -> None:
    log_in(page, demo_site)
    reports: list[str] = []
    page.on("console", lambda message: reports.append(message.text))
    page.goto(f"{demo_site.url}/")
    page.locator(".js-plotly-plot .nsewdrag").first.hover(force=True)
    page.wait_for_load_state("networkidle")
    assert page.locator(".js-plotly-plot .bars path").count() > 0
    assert reports == []


def test_back_after_logging_out_shows_the_login(page: Page, demo_site: Site) -> None:
    log_in(page, demo_site)
    page.goto(f"{demo_site.url}/clusters/")
    page.locator(".menu-user summary").click()
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/account/login/**")
    page.go_back()
    page.wait_for_url("**/account/login/?next=**")
    assert page.get_by_label("Password").count() == 1


def test_the_menu_stays_in_sight_on_a_long_page(page: Page, demo_site: Site) -> None:
    log_in(page, demo_site)
    page.goto(f"{demo_site.url}/")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_function("scrollY > 200")
    box = page.locator("#sidebar").bounding_box()
    assert box is not None
    assert box["y"] == 0
