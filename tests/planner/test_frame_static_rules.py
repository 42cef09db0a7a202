"""Rules that templates, Python and JavaScript keep, read from the files themselves.

Escaping is the only wall against markup from a cluster (a strict CSP does not stop injected
``hx-*`` attributes), so nothing may step around it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static" / "js").rglob("*.js"))
PYTHON = sorted(
    path
    for folder in ("planner", "fleet")
    for path in (ROOT / folder).rglob("*.py")
    if "migrations" not in path.parts
)

IN_TEMPLATES = {
    "an escape turned off": r"\|\s*safe(seq)?\b|autoescape\s+off",
    "a style attribute": r"<[^>]*\sstyle\s*=",
    "an event attribute": r"<[^>]*\son[a-z]+\s*=",
    "an htmx event attribute": r"hx-on|hx-vals\s*=\s*[\"']js:",
    "a style element": r"<style\b",
    "a javascript: address": r"javascript:",
    "a script without a file": r"<script(?![^>]*\bsrc=)[^>]*>",
    "an address outside this site": r"(?:src|href|action)\s*=\s*[\"']?(?:https?:)?//",
}
IN_SCRIPTS = {
    "markup from text": r"\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write|DOMParser",
    "code from text": r"\beval\s*\(|new Function\s*\(",
}
IN_PYTHON = {"an escape turned off": r"mark_safe|SafeString|SafeText|html_safe|\bsafestring\b"}


def _id(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _found(path: Path, rules: dict[str, str]) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return [name for name, pattern in rules.items() if re.search(pattern, text)]


@pytest.mark.parametrize("path", TEMPLATES, ids=_id)
def test_template_keeps_the_rules(path: Path) -> None:
    assert _found(path, IN_TEMPLATES) == []


@pytest.mark.parametrize("path", TEMPLATES, ids=_id)
def test_every_post_form_carries_its_token(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    forms = re.findall(r"<form\b[^>]*method=\"post\".*?</form>", text, re.DOTALL)
    assert [form for form in forms if "csrf_token" not in form] == []
    assert len(forms) == text.count('method="post"')


@pytest.mark.parametrize("path", SCRIPTS, ids=_id)
def test_script_makes_no_markup_or_code_from_text(path: Path) -> None:
    assert _found(path, IN_SCRIPTS) == []


def test_python_marks_no_text_as_safe() -> None:
    assert {_id(path): _found(path, IN_PYTHON) for path in PYTHON if _found(path, IN_PYTHON)} == {}


@pytest.mark.parametrize(
    ("rules", "text", "rule"),
    [
        (IN_TEMPLATES, "{{ name | safe }}", "an escape turned off"),
        (IN_TEMPLATES, '<p class="a" style="color: red">', "a style attribute"),
        (IN_TEMPLATES, '<a href="#" onclick="x()">', "an event attribute"),
        (IN_TEMPLATES, "<script>alert(1)</script>", "a script without a file"),
        (IN_TEMPLATES, '<link href="//cdn.example/x.css">', "an address outside this site"),
        (IN_SCRIPTS, "box.innerHTML = name", "markup from text"),
        (IN_PYTHON, "from django.utils.safestring import mark_safe", "an escape turned off"),
    ],
)
def test_the_rules_see_what_they_are_for(
    rules: dict[str, str], text: str, rule: str, tmp_path: Path
) -> None:
    path = tmp_path / "sample"
    path.write_text(text, encoding="utf-8")
    assert _found(path, rules) == [rule]
