"""Build the control plane that the tests start: etcd, kube-apiserver and kube-scheduler.

``python -m tests.cluster.build [1.36 1.37]`` builds what is missing, ``--check`` only says whether
the Go that is here can do it. One folder beside this file
per Kubernetes minor holds a go.mod that pins the versions; the binaries go into ``.cache/cluster``
(ignored by git), one folder per version, and stay until the pinned version changes. A cold build
takes some 7 minutes for the first minor and 5 for a further one on two cores.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = HERE.parents[1] / ".cache" / "cluster"
MINORS = ("1.36", "1.37")
TOOLS = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
}
_VERSION = "k8s.io/component-base/version"
_ENVIRONMENT = {
    "CGO_ENABLED": "0",
    "GOFLAGS": "-mod=readonly -buildvcs=false",
    "GOTOOLCHAIN": "auto",  # some distributions set "local", which refuses a newer go.mod
}


class BuildError(RuntimeError):
    """A binary could not be built; the message says which and what to do."""


def version_of(minor: str) -> str:
    """The pinned version of a minor, ``v1.37.2`` for ``1.37``, as its go.mod says."""
    text = (HERE / f"kubernetes-{minor}" / "go.mod").read_text()
    found = re.search(r"^\s*k8s\.io/kubernetes (v\S+)", text, re.MULTILINE)
    if found is None:
        raise BuildError(f"kubernetes-{minor}/go.mod pins no k8s.io/kubernetes")
    return found.group(1)


def binaries(minor: str) -> Path:
    """The folder with the binaries of a minor; builds those that are missing.

    Raises ``BuildError`` when Go is missing or a build fails.
    """
    version = version_of(minor)
    folder = CACHE / f"kubernetes-{version}"
    for name, package in TOOLS.items():
        if not (folder / name).exists():
            _build(minor, version, package, folder / name)
    return folder


def go_command() -> str:
    """The go command. From 1.21 on it fetches the version that a go.mod asks for.

    Raises ``BuildError`` when there is none, or one that is too old to do so.
    """
    go = shutil.which("go")
    if go is None:
        raise BuildError("go was not found; install Go 1.26 or newer, then run this again")
    found = subprocess.run([go, "version"], check=True, capture_output=True, text=True).stdout
    version = re.search(r"go1\.(\d+)", found)
    if version is not None and int(version.group(1)) < 21:
        raise BuildError(f"{go} is too old ({found.strip()}); install Go 1.26 or newer")
    return go


def _build(minor: str, version: str, package: str, target: Path) -> None:
    go = go_command()
    major, _, rest = version.removeprefix("v").partition(".")
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": rest.partition(".")[0]}
    flags = "-s -w " + " ".join(f"-X {_VERSION}.{key}={value}" for key, value in stamps.items())
    target.parent.mkdir(parents=True, exist_ok=True)
    # Written under another name first: a build that is cut off must not look like a binary.
    unfinished = target.with_suffix(".unfinished")
    print(f"building {target.name} {version} …", flush=True)
    began = time.monotonic()
    done = subprocess.run(
        [go, "build", "-trimpath", "-ldflags", flags, "-o", str(unfinished), package],
        cwd=HERE / f"kubernetes-{minor}",
        env=os.environ | _ENVIRONMENT,
        check=False,
    )
    if done.returncode:
        raise BuildError(f"go build {package} ended with {done.returncode}; see the lines above")
    unfinished.replace(target)
    print(f"built {target.name} in {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    try:
        if sys.argv[1:] == ["--check"]:
            print(f"control planes will be built with {go_command()}")
        else:
            for chosen in sys.argv[1:] or MINORS:
                print(binaries(chosen))
    except BuildError as error:
        sys.exit(f"tests.cluster.build: {error}")
