"""What became of reading a resource, in the reader's language: made from what a snapshot keeps."""

from __future__ import annotations

from fleet.inventory import ReadStatus
from fleet.words import say

EXPIRED = "expired"  # 410, again and again
SERVER_ERROR = "server-error"  # 5xx, several times
RECALLED = "recalled"  # by an answer of discovery that is some minutes old
SILENT = "silent"  # discovery names a group whose server does not answer


def read_words(status: str, reason: str = "", number: int = 0) -> str:
    """One sentence; "" where the status says all. ``status`` is a ``ReadStatus``, ``reason`` one
    of the codes above, ``number`` its figure: a status of HTTP, how often, or minutes; 0 where
    unknown."""
    match status, reason:
        case ReadStatus.READ, "expired":
            return say(
                "The list expired while it was read, {n} times: its end is of a later moment than "
                "its start.",
                n=number,
            )
        case ReadStatus.NOT_SERVED, "recalled":
            return say(
                "The cluster did not serve it when it was asked last, at most {n} minutes ago.",
                n=number,
            )
        case ReadStatus.NOT_SERVED, _:
            return say("The cluster does not serve it.")
        case ReadStatus.FORBIDDEN, _:
            return say("The credential may not list it (403).")
        case ReadStatus.NOT_IN_FILE, _:
            return say("The files hold none.")
        case ReadStatus.FAILED, "expired":
            return say("The list expired while it was read, {n} times.", n=number)
        case ReadStatus.FAILED, "server-error":
            return say(
                "The API server answered with an error ({status}), several times.", status=number
            )
        case ReadStatus.FAILED, "silent":
            return say("The server of this API does not answer.")
    return ""
