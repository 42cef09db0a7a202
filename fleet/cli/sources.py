"""From file names on the command line to inventories and workloads, with one clear error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from fleet.cli.arguments import Options
from fleet.inventory import Inventory
from fleet.kubernetes.dump import DumpError, Limits, Source, load
from fleet.kubernetes.reader import read
from fleet.kubernetes.topology import Keys, unknown_keys
from fleet.readiness.wording import day_text
from fleet.words import say, say_many
from fleet.workload_file import MAX_BYTES, WorkloadFileError
from fleet.workload_file import load as load_workloads
from fleet.workloads import Workload

UNNAMED = "cluster"
"""Name of the cluster when none is given."""

SUFFIXES = (".json", ".yaml", ".yml", ".gz")
"""Files of a folder that are read."""


class BadInput(Exception):
    """Input that cannot be used; the text names the file and the place."""


def inventories(options: Options) -> dict[str, Inventory]:
    """The clusters of the command line by name, in its order. Raises ``BadInput``."""
    wanted = _wanted(options)
    if not wanted:
        raise BadInput(
            say("no cluster given: name a FILE that kubectl printed, or - for standard input")
        )
    _check_standard_input(options)
    return {name: _inventory(name, found, options.levels) for name, found in wanted.items()}


def workloads(options: Options) -> tuple[Workload, ...]:
    """The workloads of the workload file. Raises ``BadInput``."""
    _check_standard_input(options)
    name = _shown(options.workloads)
    try:
        return load_workloads(_bytes(options.workloads, MAX_BYTES))
    except WorkloadFileError as error:
        raise BadInput(f"{name}: {error}") from error


def _wanted(options: Options) -> dict[str, list[str]]:
    """Files and folders by cluster name."""
    wanted: dict[str, list[str]] = {}
    for name, path in options.clusters:
        wanted.setdefault(name, []).append(path)
    if options.files:
        wanted.setdefault(UNNAMED, []).extend(options.files)
    return wanted


def ages(options: Options) -> tuple[str, ...]:
    """A sentence for each cluster of the command line: when what was read of it is from."""
    return tuple(_age(name, found) for name, found in _wanted(options).items())


def _age(cluster: str, paths: list[str]) -> str:
    files = [file for path in paths if path != "-" for file in _files(path)]
    if not files:
        return say("{cluster}: read from standard input now", cluster=cluster)
    try:
        oldest = datetime.fromtimestamp(min(Path(file).stat().st_mtime for file in files), UTC)
    except (OSError, OverflowError, ValueError):  # gone since it was read, or a senseless date
        return say("{cluster}: the age of the file is not known", cluster=cluster)
    days = (datetime.now(UTC) - oldest).days
    known = {
        "cluster": cluster,
        "day": day_text(oldest.date()),
        "time": f"{oldest:%H:%M}",
        "age": say_many("{n} day old", "{n} days old", days)
        if days > 0
        else say("less than a day old"),
    }
    if len(files) == 1:
        return say(
            "{cluster}: {file}, last changed {day} {time} UTC ({age})", file=files[0], **known
        )
    return say_many(
        "{cluster}: {n} file, the oldest last changed {day} {time} UTC ({age})",
        "{cluster}: {n} files, the oldest last changed {day} {time} UTC ({age})",
        len(files),
        **known,
    )


def _check_standard_input(options: Options) -> None:
    paths = [*options.files, *(path for _, path in options.clusters), options.workloads]
    if paths.count("-") > 1:
        raise BadInput(say("standard input (-) can be read only once"))


def _inventory(name: str, paths: list[str], levels: Keys) -> Inventory:
    limits = Limits()
    sources = [
        Source(_shown(file), _bytes(file, limits.raw_bytes))
        for path in paths
        for file in _files(path)
    ]
    try:
        found = read(load(sources, limits), taken_at=_taken_at(paths), levels=levels)
    except DumpError as error:
        raise BadInput(str(error)) from error
    if unknown := unknown_keys(found, levels):
        raise BadInput(
            say("{cluster}: no node carries the label {key}", cluster=name, key=unknown[0])
        )
    return found


def _taken_at(paths: list[str]) -> datetime | None:
    """Now for what is piped in; not known for files, whose dates change when they are copied."""
    return datetime.now(UTC) if "-" in paths else None


def _files(path: str) -> Iterator[str]:
    if path != "-" and Path(path).is_dir():
        found = sorted(p for p in Path(path).iterdir() if p.name.endswith(SUFFIXES) and p.is_file())
        if not found:
            raise BadInput(
                say(
                    "{path}: the folder holds no {endings} file",
                    path=path,
                    endings=", ".join(SUFFIXES),
                )
            )
        yield from (str(p) for p in found)
    else:
        yield path


def _bytes(path: str, limit: int) -> bytes:
    """The file's bytes, one more than ``limit`` at most: the reader says that it is too large."""
    try:
        if path == "-":
            return sys.stdin.buffer.read(limit + 1)
        with Path(path).open("rb") as stream:
            return stream.read(limit + 1)
    except OSError as error:
        why = error.strerror or say("cannot be read")
        raise BadInput(f"{_shown(path)}: {why}") from error
    except ValueError as error:  # a null byte in the name
        raise BadInput(f"{_shown(path)}: {error}") from error


def _shown(path: str) -> str:
    return say("standard input") if path == "-" else path
