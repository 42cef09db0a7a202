"""The floor: fetch the pages that a sync fetches, and look at each byte of JSON once."""

from __future__ import annotations

import http.client
import ssl
import zlib
from urllib.parse import urlencode, urlsplit

import msgspec

from benchmarks.sync_parts.measuring import MIB, Clock, access_from_stdin, told
from fleet.kubernetes.kubeconfig import ClusterAccess
from fleet.kubernetes.resources import RESOURCES
from fleet.kubernetes.served import api_path

PAGE = 500


class _List(msgspec.Struct):
    class Meta(msgspec.Struct):
        continue_: str = msgspec.field(default="", name="continue")

    metadata: Meta


class Pages:
    """Plain pages over one connection, with gzip, one after the other."""

    def __init__(self, access: ClusterAccess) -> None:
        address = urlsplit(access.server)
        host, port = address.hostname or "", address.port or 443
        self._headers = {
            "Authorization": f"Bearer {access.token}",
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
        }
        self._connection: http.client.HTTPConnection
        if address.scheme == "https":
            context = ssl.create_default_context(cadata=access.ca_pem)
            self._connection = http.client.HTTPSConnection(host, port, context=context)
        else:
            self._connection = http.client.HTTPConnection(host, port)
        self.pages = self.wire = self.plain = 0

    def read(self, path: str) -> None:
        """Every page of one list; nothing for a list that is not served."""
        token = ""
        while True:
            query = {"limit": PAGE, **({"continue": token} if token else {})}
            self._connection.request("GET", f"{path}?{urlencode(query)}", headers=self._headers)
            answer = self._connection.getresponse()
            body = answer.read()
            if answer.status == 404:
                return
            if answer.status != 200:
                raise SystemExit(f"{path}: {answer.status}")
            self.wire += len(body)
            if answer.getheader("Content-Encoding") == "gzip":
                body = zlib.decompress(body, wbits=31)
            self.pages, self.plain = self.pages + 1, self.plain + len(body)
            token = msgspec.json.decode(body, type=_List).metadata.continue_
            if not token:
                return


def main() -> None:
    access = access_from_stdin()
    clock = Clock()
    pages = Pages(access)
    for resource in RESOURCES:
        pages.read(f"{api_path(resource.group, resource.versions[0])}/{resource.plural}")
    told(**clock.read(), pages=pages.pages, wire_mib=pages.wire / MIB, plain_mib=pages.plain / MIB)


if __name__ == "__main__":
    main()
