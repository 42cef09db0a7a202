"""``gpu-fleet`` speaks through the translator: tables, sentences, help and complaints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fleet.cli import main

pytestmark = pytest.mark.usefixtures("shouting")

ROOT = Path(__file__).parents[2]
EXAMPLE = str(ROOT / "examples/workloads.yaml")
(H100,) = (str(path) for path in (ROOT / "tests/data/cases").glob("12-*.json"))
SMALL_WORDS = re.compile(r"[a-z]{2,} [a-z]{2,}")


def test_inventory_is_told_in_the_readers_language(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inventory", H100]) == 0
    out = capsys.readouterr().out
    assert out.startswith("56 GPUS ON 7 OF 8 NODES AND 1 NODE UNCOUNTED, 8 REQUESTED.")
    assert not SMALL_WORDS.search(out)


def test_check_is_told_in_the_readers_language(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--today", "2026-12-01", H100])
    out = capsys.readouterr().out
    assert "(QUESTION 3 OF 5)" in out
    assert "REMEDY: " in out
    assert "WITH NOTHING TO JUDGE (--VERBOSE)" in out
    assert out.splitlines()[0].split(", ")[0].endswith("fail")  # its word, in small letters


def test_size_and_plan_are_told_in_the_readers_language(
    capsys: pytest.CaptureFixture[str],
) -> None:
    main(["size", "--explain", EXAMPLE])
    assert "ASSUMED: " in capsys.readouterr().out
    main(["plan", "--seconds", "1", EXAMPLE, H100])
    out = capsys.readouterr().out
    assert re.match(r"\d+ OF \d+ REPLICAS PLACED FOR ", out)
    assert " NOT PLACED\n" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ["inventory"],
        ["inventory", "/nowhere/7.json"],
        ["check", "--today", "7", H100],
        ["plan", EXAMPLE, "--seconds", "0", H100],
    ],
)
def test_bad_input_is_told_in_the_readers_language(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(arguments)
    except SystemExit as error:  # argparse leaves by itself
        code = error.code if isinstance(error.code, int) else 1
    assert code == 2
    said = capsys.readouterr().err.rpartition(": ")[2].strip()
    said = said.replace("No such file or directory", "")  # the system's own words
    assert not SMALL_WORDS.search(said)


def test_help_is_told_in_the_readers_language(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["check", "--help"])
    out = capsys.readouterr().out
    assert "THE DATE FOR SUPPORT PERIODS" in out
    assert "JSON FOR PROGRAMS" in out
