"""Why a job failed is kept in English and told in the reader's language."""

from __future__ import annotations

from django.utils import translation

from fleet.kubernetes.api import Reason
from planner.jobs.reasons import SENTENCES, Failure, failure


def test_every_reason_of_a_failed_read_has_its_sentence() -> None:
    assert {str(reason) for reason in Reason} <= SENTENCES.keys()


def test_english_readers_get_the_detailed_sentence() -> None:
    with translation.override("en-gb"):
        assert failure("tls", "10.0.0.5 is not trusted.", "Give the CA.") == Failure(
            "10.0.0.5 is not trusted.", "Give the CA."
        )


def test_other_readers_get_the_sentence_of_the_code_and_the_kept_one() -> None:
    with translation.override("ja"):
        told = failure("tls", "10.0.0.5 is not trusted.", "Give the CA.")
        assert told.message == str(SENTENCES["tls"][0])
    assert told.kept == "10.0.0.5 is not trusted."
    assert told.way_out


def test_an_unknown_code_keeps_its_words_in_every_language() -> None:
    with translation.override("ja"):
        assert failure("new", "It broke.", "Mend it.") == Failure("It broke.", "Mend it.")
