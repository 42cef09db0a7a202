"""The typed client of the ``kubernetes`` package on a sample of pods."""

from __future__ import annotations

import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from benchmarks.sync_parts.measuring import Clock, access_from_stdin, told


def main() -> None:
    wanted = int(sys.argv[1])
    access = access_from_stdin()
    from kubernetes import client

    with tempfile.TemporaryDirectory() as folder:
        settings = client.Configuration(host=access.server)
        settings.api_key = {"authorization": f"Bearer {access.token}"}
        if access.ca_pem:
            authority = Path(folder) / "ca.pem"
            authority.write_text(access.ca_pem)
            settings.ssl_ca_cert = str(authority)
        api = client.CoreV1Api(client.ApiClient(settings))
        clock = Clock()
        pods: list[object] = []
        token = ""
        while len(pods) < wanted:
            limit = min(500, wanted - len(pods))
            more = {"_continue": token} if token else {}
            page = api.list_pod_for_all_namespaces(limit=limit, **more)
            pods += page.items
            token = page.metadata._continue or ""
            if not token:
                break
        told(**clock.read(), pods=len(pods), version=version("kubernetes"))


if __name__ == "__main__":
    main()
