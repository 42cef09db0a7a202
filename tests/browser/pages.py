"""The pages of a site, found as a person finds them: by following its own links."""

from __future__ import annotations

import re
from urllib.parse import urldefrag, urlsplit

from playwright.sync_api import Page

from tests.browser.conftest import Site

MOST_OF_A_KIND = 2
"""Pages with the same shape of address (numbers and names apart) that are looked at."""


def _shape(path: str) -> str:
    path = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "U", path)
    return re.sub(r"/nodes/.+", "/nodes/N", re.sub(r"\d+", "N", path))


def crawl(page: Page, site: Site, *, limit: int = 80) -> list[str]:
    """Addresses reached from the overview, at most ``MOST_OF_A_KIND`` of each shape.

    Fails on a link that leaves the site, and on an answer of 500.
    """
    waiting, seen, shapes = ["/"], set[str](), dict[str, int]()
    found: list[str] = []
    while waiting and len(found) < limit:
        path = waiting.pop(0)
        shape = _shape(path.split("?")[0])
        if path in seen or shapes.get(shape, 0) >= MOST_OF_A_KIND:
            continue
        seen.add(path)
        shapes[shape] = shapes.get(shape, 0) + 1
        answer = page.goto(f"{site.url}{path}")
        assert answer is not None
        assert answer.status < 400, (path, answer.status)
        found.append(path)
        for link in page.eval_on_selector_all("a[href]", "all => all.map(a => a.href)"):
            address = urlsplit(urldefrag(link).url)
            assert f"{address.scheme}://{address.netloc}" == site.url, (path, link)
            if not re.search(r"\.(csv|json|yaml)$|/export/", address.path):
                query = f"?{address.query}" if address.query else ""
                waiting.append(f"{address.path}{query}")
    return found
