"""A real control plane on loopback: etcd, kube-apiserver and, if wanted, kube-scheduler.

    with ControlPlane("1.37", scheduler=True) as plane, plane.client() as admin:
        admin.create(node("gpu-1"))

No controller manager and no kubelet run: nodes are objects that a test creates, and their status
stays as sent. ``tests/cluster/README.md`` shows more.
"""

from __future__ import annotations

import atexit
import contextlib
import http.client
import json
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from fleet.kubernetes.kubeconfig import ClusterAccess
from tests.cluster.build import binaries
from tests.cluster.client import Access, Client
from tests.cluster.credentials import HOST, ISSUER, Credentials
from tests.processes import Process, free_port, wait_for

ADMIN_TOKEN = "admin-of-the-test-cluster"
START_S = 120
"""Longest start on a busy machine; 4 s on a quiet one."""

# Without a controller manager nobody makes default ServiceAccounts, nor takes the taint
# "not-ready" off a new node.
_NO_ADMISSION = "ServiceAccount,TaintNodesByCondition"


class ControlPlane:
    """The processes of one cluster, started by ``with`` and ended by its end.

    minor: "1.36" or "1.37". scheduler: whether kube-scheduler runs. gates: feature gates of the
    API server and the scheduler. apis: further APIs ("scheduling.k8s.io/v1beta1"). flags: more
    arguments of the API server. quota_bytes: how large etcd may grow (its own default is 2 GiB).
    """

    def __init__(
        self,
        minor: str,
        *,
        scheduler: bool = False,
        gates: Mapping[str, bool] | None = None,
        apis: Sequence[str] = (),
        flags: Sequence[str] = (),
        quota_bytes: int | None = None,
    ) -> None:
        self.minor = minor
        self._gates = ",".join(f"{n}={str(on).lower()}" for n, on in (gates or {}).items())
        self._apis = ",".join(f"{api}=true" for api in apis)
        self._flags = tuple(flags)
        self._with_scheduler = scheduler
        self._quota_bytes = quota_bytes
        self._bin = Path()
        self._etcd_port = self.port = 0
        self.folder = Path()
        self.credentials: Credentials
        self.etcd: Process | None = None
        self.server: Process | None = None
        self.scheduler: Process | None = None

    # life

    def __enter__(self) -> Self:
        self._bin = binaries(self.minor)
        self.folder = Path(tempfile.mkdtemp(prefix=f"cluster-{self.minor}-"))
        atexit.register(self.end)  # also when the caller never gets to the end of its "with"
        try:
            self.credentials = Credentials.made_in(self.folder, ADMIN_TOKEN)
            self._etcd_port, self.port = free_port(), free_port()
            self._start_etcd()
            self.start_server()
            if self._with_scheduler:
                self.start_scheduler()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def end(self) -> None:
        """Kill all processes and remove the folder. Harmless when it is done already."""
        atexit.unregister(self.end)
        for process in (self.scheduler, self.server, self.etcd):
            if process is not None:
                process.kill()
        self.scheduler = self.server = self.etcd = None
        if self.folder != Path():
            shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, name: str, *arguments: str) -> Process:
        return Process(name, [*_dies_with_us(), str(self._bin / name), *arguments], {}, self.folder)

    def _start_etcd(self) -> None:
        client, peer = (f"http://{HOST}:{port}" for port in (self._etcd_port, free_port()))
        quota = () if self._quota_bytes is None else (f"--quota-backend-bytes={self._quota_bytes}",)
        self.etcd = self._run(
            "etcd",
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
            "--log-level=error",
            *quota,
        )

    def start_server(self) -> None:
        """Start kube-apiserver at its port and wait until it is ready."""
        c = self.credentials
        self.server = self._run(
            "kube-apiserver",
            f"--etcd-servers=http://{HOST}:{self._etcd_port}",
            f"--bind-address={HOST}",
            "--endpoint-reconciler-type=none",  # it refuses to publish a loopback address
            f"--secure-port={self.port}",
            f"--tls-cert-file={c.certificate}",
            f"--tls-private-key-file={c.key}",
            f"--service-account-key-file={c.account_key}",
            f"--service-account-signing-key-file={c.account_key}",
            f"--service-account-issuer={ISSUER}",
            f"--token-auth-file={c.tokens}",
            "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.0.0.0/24",
            f"--disable-admission-plugins={_NO_ADMISSION}",
            *([f"--feature-gates={self._gates}"] if self._gates else []),
            *([f"--runtime-config={self._apis}"] if self._apis else []),
            *self._flags,
        )
        self._wait_until_ready(self.server)

    def stop_server(self) -> None:
        """Kill kube-apiserver as a crash would; etcd keeps what is stored."""
        if self.server is not None:
            self.server.kill()
            self.server = None

    def restart_server(self) -> None:
        """The same server anew: same port, same objects, empty caches."""
        self.stop_server()
        self.start_server()

    def start_scheduler(self) -> None:
        """Start kube-scheduler; it binds pods from now on."""
        kubeconfig = self.folder / "scheduler.kubeconfig"
        kubeconfig.write_text(self.admin.kubeconfig())
        self.scheduler = self._run(
            "kube-scheduler",
            f"--kubeconfig={kubeconfig}",
            "--leader-elect=false",
            "--secure-port=0",
            *([f"--feature-gates={self._gates}"] if self._gates else []),
        )

    @contextmanager
    def scheduling_paused(self) -> Iterator[None]:
        """Nothing is bound meanwhile: what a test creates stays as it is."""
        if self.scheduler is None:
            yield
            return
        self.scheduler.signal_group(signal.SIGSTOP)
        try:
            yield
        finally:
            self.scheduler.signal_group(signal.SIGCONT)

    def _wait_until_ready(self, server: Process) -> None:
        def is_ready() -> bool:
            if not server.is_alive():
                raise AssertionError("kube-apiserver ended")
            with self.client(timeout_s=5) as client, contextlib.suppress(OSError):
                return client.send("GET", "/readyz")[0] == 200
            return False

        try:
            wait_for("kube-apiserver is ready", is_ready, timeout_s=START_S)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{server.output()[-4000:]}") from None

    # ways in

    @property
    def url(self) -> str:
        return self.admin.url

    @property
    def ca_pem(self) -> str:
        return self.credentials.ca_pem

    @property
    def admin(self) -> Access:
        """The access of an administrator, for ``Client`` and ``filling.fill``."""
        return Access(HOST, self.port, self.ca_pem, ADMIN_TOKEN)

    def client(self, timeout_s: float = 60) -> Client:
        """A client of the administrator."""
        return Client(self.admin, timeout_s)

    def access(self, token: str = ADMIN_TOKEN, **changes: Any) -> ClusterAccess:
        """What the product needs to read this cluster with a token."""
        values: dict[str, Any] = {"server": self.url, "ca_pem": self.ca_pem, "token": token}
        return ClusterAccess(**{**values, **changes})

    # etcd

    def compact(self) -> None:
        """Forget the history of etcd, as it does every 5 minutes: older continue tokens die."""
        revision = int(self._etcd("/v3/kv/range", {"key": "YQ=="})["header"]["revision"])
        self._etcd("/v3/kv/compaction", {"revision": str(revision), "physical": True})

    def _etcd(self, path: str, body: Mapping[str, object]) -> Any:
        connection = http.client.HTTPConnection(HOST, self._etcd_port, timeout=60)
        try:
            connection.request("POST", path, json.dumps(body))
            answer = connection.getresponse()
            data = answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise AssertionError(f"etcd answered {path} with {answer.status}: {data[:300]!r}")
        return json.loads(data)


def _dies_with_us() -> list[str]:
    """On Linux the kernel ends the children even of a parent that was killed."""
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL"] if setpriv else []
