"""Stopping an upload that is larger than the limit while it arrives, not after."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, StopUpload
from django.http import HttpRequest
from django.utils.translation import gettext as _

MIB = 2**20
_MARK = "_planner_upload_cut"


class LimitedUploadHandler(FileUploadHandler):
    """Counts all files of one request together; first in ``FILE_UPLOAD_HANDLERS``.

    Over ``PLANNER_UPLOAD_MIB`` the rest is read and dropped, and the form says so
    (``was_cut``), instead of a connection that breaks without a word.
    """

    def __init__(self, request: HttpRequest | None = None) -> None:
        super().__init__(request)
        self._left = settings.PLANNER_UPLOAD_MIB * MIB

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self._left -= len(raw_data)
        if self._left < 0:
            if self.request is not None:
                setattr(self.request, _MARK, True)
            raise StopUpload(connection_reset=False)
        return raw_data

    def file_complete(self, file_size: int) -> Any:
        return None


def was_cut(request: HttpRequest) -> bool:
    """Whether the files of this request were more than the limit."""
    return getattr(request, _MARK, False)


def too_large() -> str:
    """The sentence for the form."""
    return _(
        "The files are more than %(limit)d MiB together. Pack them with gzip, "
        "or leave out resources that are not read."
    ) % {"limit": settings.PLANNER_UPLOAD_MIB}
