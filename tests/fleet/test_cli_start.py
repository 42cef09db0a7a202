"""``gpu-fleet`` as an installed program: its two doors, and what it loads for which command."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from importlib.metadata import entry_points, version
from pathlib import Path

import pytest

from fleet.cli import main

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests/data/cases"
(H100,) = (str(path) for path in CASES.glob("16-*.json"))
SCRIPT = str(Path(sysconfig.get_path("scripts")) / "gpu-fleet")
MODULE = [sys.executable, "-m", "fleet"]


def output(command: list[str]) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_console_script_is_the_command() -> None:
    (script,) = entry_points(group="console_scripts", name="gpu-fleet")
    assert script.load() is main


@pytest.mark.parametrize("arguments", [["inventory", H100], ["plan", "--help"]])
def test_script_and_module_answer_alike(arguments: list[str]) -> None:
    assert output([SCRIPT, *arguments]) == output([*MODULE, *arguments])


def test_both_tell_their_version() -> None:
    told = f"gpu-fleet {version('gpu-fleet-planner')}\n"
    assert output([SCRIPT, "--version"]) == output([*MODULE, "--version"]) == told


@pytest.mark.parametrize("command", ["inventory", "check"])
def test_only_plan_loads_the_solver(command: str) -> None:
    code = (
        "import sys\n"
        "from fleet.cli import main\n"
        f"main([{command!r}, {H100!r}])\n"
        "print('loaded:', sorted({'highspy', 'numpy'} & set(sys.modules)))\n"
    )
    assert output([sys.executable, "-c", code]).endswith("loaded: []\n")
