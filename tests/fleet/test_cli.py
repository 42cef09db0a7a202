"""``gpu-fleet``: what it prints, its exit codes, and that bad input gives one clear line."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from fleet.cli import main
from fleet.cli.terminal import Column, escaped, table, width_of

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests/data/cases"
EXAMPLE = str(ROOT / "examples/workloads.yaml")
H100 = str(CASES / "16-a3-mega-gke-topology.json")
ONE_MODEL = """workloads:
- {kind: embedding, name: embed, model: BAAI/bge-m3}
"""


def case(number: str) -> str:
    (path,) = CASES.glob(f"{number}-*.json")
    return str(path)


def fleet(
    *arguments: str, stdin: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """The command as a program of its own."""
    return subprocess.run(
        [sys.executable, "-m", "fleet", *arguments],
        cwd=ROOT,
        input=stdin,
        capture_output=True,
        timeout=60,
        env={**os.environ, **environment},
    )


@pytest.fixture
def one_model(tmp_path: Path) -> str:
    path = tmp_path / "workloads.yaml"
    path.write_text(ONE_MODEL, encoding="utf-8")
    return str(path)


def rows(data: bytes) -> list[dict[str, str]]:
    assert data.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


# inventory


def test_inventory_opens_with_the_sentence() -> None:
    result = fleet("inventory", case("12"))
    assert result.returncode == 0, result.stderr
    first = result.stdout.decode().splitlines()[0]
    assert first.startswith(
        "56 GPUs on 7 of 8 nodes and 1 node uncounted, 8 requested. Free: 48 whole GPUs."
    )


def test_inventory_tells_free_cuts_beside_free_boards(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inventory", case("27")]) == 0
    out = capsys.readouterr().out
    assert "Free: 0 whole GPUs and 4 MIG devices." in out
    assert "1 GPU is held by nobody, not even in part." in out


@pytest.mark.parametrize("count", ["99999999999999999999999999", "-5", "NaN"])
def test_a_count_that_nobody_can_read_is_unknown_and_not_zero(
    count: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held = {"cpu": "8", "memory": "64Gi", "pods": "110", "nvidia.com/gpu": count}
    labels = {"nvidia.com/gpu.product": "NVIDIA-GB999-SUPER"}
    path = tmp_path / "node.json"
    path.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": "n1", "labels": labels},
                "status": {"capacity": held, "allocatable": held},
            }
        )
    )
    assert main(["inventory", str(path)]) == 0
    out = capsys.readouterr().out
    assert "1 of 1 node has GPUs, nobody says how many." in out
    assert "NVIDIA-GB999-SUPER (not in the catalogue)" in out
    (row,) = [line for line in out.splitlines() if line.startswith("n1 ")]
    assert " 0 " not in row
    assert main(["inventory", "--json", str(path)]) == 0
    found = json.loads(capsys.readouterr().out)["nodes"]["n1"]
    assert found["physical_gpus"] is None
    assert found["model_label"] == "NVIDIA-GB999-SUPER"
    assert found["unreadable"] == ["nvidia.com/gpu"]


def test_inventory_json_has_the_documented_shape(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inventory", "--json", case("06")]) == 0
    report = json.loads(capsys.readouterr().out)
    sections = (
        "attached",
        "fits",
        "gang",
        "nodes",
        "pod_groups",
        "pods",
        "probes",
        "queues",
        "quota",
        "topology",
        "totals",
    )
    assert tuple(sorted(report)) == sections
    assert report["nodes"]["node-6"]["resources"]["nvidia.com/gpu"] == {
        "capacity": 2,
        "allocatable": 2,
        "requested": 1,
        "free": 1,
    }
    assert report["totals"]["physical_gpus"] == 8


def test_inventory_csv_has_one_row_a_resource(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["inventory", "--csv", case("77")]) == 0
    found = rows(capfdbinary.readouterr().out)
    assert {(r["node"], r["resource"], r["free"]) for r in found} >= {
        ("node-a", "nvidia.com/mig-7g.80gb", "1"),
        ("node-b", "nvidia.com/mig-3g.40gb", "4"),
    }


def test_standard_input_is_a_file() -> None:
    result = fleet("inventory", "-", stdin=Path(case("12")).read_bytes())
    assert result.stdout.startswith(b"56 GPUs")


def test_several_files_are_one_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inventory", "--json", case("12"), case("16")]) == 0
    assert json.loads(capsys.readouterr().out)["totals"]["physical_gpus"] == 56 + 16


def test_named_clusters_stay_apart(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--cluster", f"one={case('12')}", "--cluster", f"two={case('16')}"]
    assert main(["inventory", "--json", *arguments]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {n: r["totals"]["physical_gpus"] for n, r in report.items()} == {"one": 56, "two": 16}


def test_folder_stands_for_its_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in ("12", "16"):
        (tmp_path / f"{number}.json").write_bytes(Path(case(number)).read_bytes())
    (tmp_path / "notes.txt").write_text("not read")
    assert main(["inventory", "--json", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["totals"]["physical_gpus"] == 72


# size


def test_size_answers_for_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", EXAMPLE, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["requirements"]
    assert [r["kind"] for r in found] == ["embedding", "llm", "training"]
    assert all(r["shapes"] for r in found)


def test_size_on_a_card_that_is_too_small_is_not_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", EXAMPLE, "--card", "T4"]) == 3
    assert "no " in capsys.readouterr().out


def test_size_shows_its_arithmetic(capsys: pytest.CaptureFixture[str], one_model: str) -> None:
    assert main(["size", one_model, "--card", "T4", "--explain"]) == 0
    assert "FORMULA" in capsys.readouterr().out


def test_size_csv_parses(capfdbinary: pytest.CaptureFixture[bytes], one_model: str) -> None:
    assert main(["size", one_model, "--csv", "--card", "L4"]) == 0
    found = rows(capfdbinary.readouterr().out)
    assert {r["gpu_model"] for r in found} == {"L4"}


def test_unknown_model_names_workload_and_field(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "w.yaml"
    path.write_text("workloads:\n- {kind: llm, name: chat, model: nobody/knows}\n")
    assert main(["size", str(path)]) == 2
    assert "workload chat, model" in capsys.readouterr().err


# plan


def test_plan_places_what_fits(capsys: pytest.CaptureFixture[str], one_model: str) -> None:
    assert main(["plan", one_model, H100, "--seconds", "5"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("1 of 1 replica placed for ")
    assert "H100-SXM5-80GB" in out


def test_plan_says_why_something_is_not_placed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", EXAMPLE, case("07"), "--seconds", "5"]) == 3
    out = capsys.readouterr().out
    assert "assistant: 2 not placed" in out
    assert out.index("not placed") < len(out) // 2


def test_plan_that_places_nothing_names_no_cost(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "two.yaml"
    model = "meta-llama/Meta-Llama-3.1-70B"
    path.write_text(
        f"workloads:\n- {{kind: llm, name: chat, model: {model}, replicas: 2}}\n", encoding="utf-8"
    )
    assert main(["plan", str(path), case("07"), "--seconds", "5"]) == 3
    assert capsys.readouterr().out.startswith("0 of 2 replicas placed; proven best.")


def test_plan_csv_is_the_report(capfdbinary: pytest.CaptureFixture[bytes], one_model: str) -> None:
    arguments = ["plan", one_model, "--cluster", f"osaka={H100}", "--name", "q1", "--csv"]
    assert main(arguments) == 0
    (row,) = rows(capfdbinary.readouterr().out)
    assert (row["plan"], row["workload"], row["cluster"]) == ("q1", "embed", "osaka")
    assert row["status"] == "placed"


def test_plan_json_is_the_same_each_time(
    capsys: pytest.CaptureFixture[str], one_model: str
) -> None:
    found = []
    for _ in range(2):
        main(["plan", one_model, H100, "--json", "--seed", "7"])
        value = json.loads(capsys.readouterr().out)
        value["placement"].pop("seconds")
        found.append(value)
    assert found[0] == found[1]
    assert found[0]["rows"][0]["status"] == "placed"


# check


def test_failed_check_gives_exit_code_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", case("65"), "--today", "2026-12-01"]) == 3
    out = capsys.readouterr().out
    assert "Fail    team-a/hello-world can never be admitted whole" in out


def test_cluster_without_a_failed_check_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", case("16"), "--today", "2026-12-01"]) == 0
    assert "1.35 is in support until 28 February 2027" in capsys.readouterr().out


def test_the_day_is_an_argument(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", case("16"), "--today", "2028-01-01"]) == 3
    assert "1.35 left support on 28 February 2027" in capsys.readouterr().out


def test_check_json_counts_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", case("57"), "--json"]) == 3
    report = json.loads(capsys.readouterr().out)
    assert report["counts"]["fail"] == sum(f["verdict"] == "fail" for f in report["findings"])
    assert {"check", "question", "evidence", "remedy", "snippet"} <= set(report["findings"][0])


def test_check_csv_parses(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["check", case("57"), "--csv"]) == 3
    found = rows(capfdbinary.readouterr().out)
    assert found[0]["verdict"] == "fail"


def test_declared_workloads_get_their_probes(
    capsys: pytest.CaptureFixture[str], one_model: str
) -> None:
    main(["check", case("16"), "--workloads", one_model])
    assert "default/embed is not on this cluster yet" in capsys.readouterr().out


# bad input


@pytest.mark.parametrize("command", ["inventory", "check"])
def test_broken_file_gives_one_line_with_its_name(command: str, tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_bytes(Path(case("12")).read_bytes()[:5000])
    result = fleet(command, str(path))
    assert result.returncode == 2
    assert result.stdout == b""
    (line,) = result.stderr.decode().splitlines()
    assert line.startswith("gpu-fleet: ")
    assert "cut.json" in line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["inventory"], "no cluster given"),
        (["inventory", "/no/such/file"], "/no/such/file: No such file"),
        (["inventory", "-", "--cluster", "a=-"], "only once"),
        (["size", "/no/such/file"], "No such file"),
        (["size", case("12")], "expected the key `workloads`"),
        (["plan", EXAMPLE], "no cluster given"),
        (["plan", "-", "-"], "only once"),
        (["inventory", "a\0b"], "null"),
    ],
)
def test_bad_input_gives_exit_code_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.out == ""


def test_place_in_the_workload_file_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "w.yaml"
    path.write_text("workloads:\n- kind: llm\n  name: a\n  replicas: none\n")
    assert main(["size", str(path)]) == 2
    assert f"{path}: workloads[0].replicas, line 4:" in capsys.readouterr().err


def test_folder_without_dumps_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inventory", str(tmp_path)]) == 2
    assert "the folder holds no" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["inventory", "--cluster", "nameless"],
        ["plan", EXAMPLE, H100, "--seconds", "0"],
        ["check", H100, "--today", "yesterday"],
        ["inventory", H100, "--json", "--csv"],
        [],
    ],
)
def test_wrong_arguments_leave_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err


# the terminal


def test_reader_that_leaves_early_hears_nothing() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "fleet", "inventory", "--json", case("46")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 0
    assert errors == b""


def test_names_cannot_move_the_cursor(tmp_path: Path) -> None:
    dump = json.loads(Path(case("12")).read_bytes())
    for item in dump["items"]:
        if item["kind"] == "Node":
            item["metadata"]["name"] += "\x1b[2J\u202e\x07"
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(dump))
    for command in ("inventory", "check"):
        out = fleet(command, str(path)).stdout.decode()
        assert out
        assert not {"\x1b", "\x07", "\u202e"} & set(out)
    assert "\\x1b[2J\\u202e\\x07" in fleet("inventory", str(path)).stdout.decode()


def test_control_signs_are_escaped_and_words_are_not() -> None:
    assert escaped("a\x1b[1m\u009b\n名前") == "a\\x1b[1m\\x9b 名前"


def test_terminal_without_unicode_gets_escapes() -> None:
    result = fleet("check", case("16"), PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert result.returncode == 0
    assert result.stderr == b""


@pytest.mark.parametrize("columns", [60, 90, 200])
def test_table_fits_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    text = table(
        [Column("NAME"), Column("COUNT", right=True), Column("WHY")],
        [["n" * 150, "12", "理由" * 60], ["a", "3", "b"]],
    )
    assert all(width_of(line) <= columns for line in text.splitlines())
    assert "12" in text


def test_table_in_a_pipe_is_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert "n" * 300 in table([Column("NAME")], [["n" * 300]])


def on_a_terminal(**environment: str) -> bytes:
    """What the checklist writes to a real (pseudo) terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "fleet", "check", case("57")],
        cwd=ROOT,
        stdout=slave,
        env={**os.environ, "TERM": "xterm", **environment},
    )
    os.close(slave)
    found = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        found += piece
    os.close(master)
    process.wait(timeout=60)
    return found


def test_colour_is_for_terminals_that_want_it() -> None:
    assert b"\x1b[31;1mFail" in on_a_terminal()
    assert b"\x1b" not in on_a_terminal(NO_COLOR="1")
    assert b"\x1b" not in fleet("check", case("57")).stdout
