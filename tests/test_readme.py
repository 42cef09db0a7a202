"""The README's promises: its Python runs as it stands, its commands and files exist."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CASE = ROOT / "tests" / "data" / "cases" / "12-eight-h100-nodes-one-empty.json"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_python_of_the_readme_prints_a_plan(tmp_path: Path) -> None:
    [program] = blocks("python")
    (tmp_path / "cluster.json").write_bytes(CASE.read_bytes())
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert "H100" in done.stdout
    assert "search-embed" in done.stdout
    assert len([line for line in program.splitlines() if line.strip()]) == 10


def test_every_link_of_the_readme_leads_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(targets) > 10
    missing = [target for target in targets if not (ROOT / target).exists()]
    assert missing == []


@pytest.mark.parametrize(
    "line", [line for block in blocks("sh") for line in block.splitlines() if "make " in line]
)
def test_every_make_target_of_the_readme_exists(line: str) -> None:
    target = line.split()[1]
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)


def test_every_verb_of_the_readme_exists() -> None:
    from django.core.management import get_commands

    verbs = re.search(r"`manage.py` has the verbs on the\s+database: (.*?)\.\n", README, re.DOTALL)
    assert verbs is not None
    names = re.findall(r"`(\w+)`", verbs.group(1))
    assert len(names) >= 8
    assert set(names) <= set(get_commands())


def test_every_setting_is_documented_and_every_documented_setting_is_read() -> None:
    documented = set(
        re.findall(r"^\| `PLANNER_(\w+)`", (ROOT / "docs" / "settings.md").read_text(), re.M)
    )
    source = (ROOT / "planner" / "settings.py").read_text()
    read = set(re.findall(r'(?:env\.\w+|_kept_secret)\(\s*"(\w+)"', source))
    assert read == documented - {"ADMIN_PASSWORD"}
