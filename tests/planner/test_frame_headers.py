"""Headers that every page carries, word for word."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse

from planner.accounts.models import User
from planner.frame.middleware import NoStoreMiddleware

CSP = (
    "default-src 'self'; "
    "script-src 'self'; "
    "style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; "
    "img-src 'self' data:; "
    "object-src 'none'; "
    "base-uri 'none'; "
    "frame-ancestors 'none'; "
    "form-action 'self'"
)


def _cache(response: HttpResponse) -> str:
    return str(response.headers.get("Cache-Control", ""))


def test_a_page_carries_the_strict_headers(vic: User, client_for: Callable[..., Client]) -> None:
    response = client_for(vic).get("/account/profile/")
    assert {
        name: response.headers.get(name)
        for name in (
            "Content-Security-Policy",
            "X-Frame-Options",
            "X-Content-Type-Options",
            "Referrer-Policy",
            "Cross-Origin-Opener-Policy",
            "Cache-Control",
        )
    } == {
        "Content-Security-Policy": CSP,
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "private, no-store",
    }
    assert "HX-Request" in response.headers["Vary"]


@pytest.mark.parametrize(
    "address",
    ["/", "/clusters/", "/nodes/", "/search/?q=a", "/account/audit/", "/nowhere/"],
)
def test_no_page_of_a_login_is_stored(
    address: str, ada: User, client_for: Callable[..., Client]
) -> None:
    assert _cache(client_for(ada).get(address)) == "private, no-store"


@pytest.mark.parametrize(
    "name", ["inventory:cluster-csv", "inventory:node-csv", "accounts:audit-csv"]
)
def test_no_export_of_a_login_is_stored(
    name: str, ada: User, client_for: Callable[..., Client]
) -> None:
    response = client_for(ada).get(reverse(name))
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/csv")
    assert _cache(response) == "private, no-store"


@pytest.mark.parametrize(
    "answer", [JsonResponse({"a": 1}), StreamingHttpResponse(["a"], content_type="text/csv")]
)
def test_json_and_streams_of_a_login_are_not_stored_and_those_of_strangers_may_be(
    answer: HttpResponse, vic: User
) -> None:
    request = RequestFactory().get("/")
    middleware = NoStoreMiddleware(lambda _request: answer)
    request.user = AnonymousUser()
    assert _cache(middleware(request)) == ""
    request.user = vic
    assert _cache(middleware(request)) == "private, no-store"


def test_an_answer_that_forbids_more_keeps_its_own_words(db: None) -> None:
    assert "must-revalidate" in _cache(Client().get("/account/login/"))


def test_back_after_logging_out_asks_again_and_meets_the_login(
    vic: User, client_for: Callable[..., Client]
) -> None:
    client = client_for(vic)
    assert _cache(client.get("/account/profile/")) == "private, no-store"
    assert _cache(client.post("/account/logout/")) != ""
    again = client.get("/account/profile/")
    assert again.status_code == 302
    assert again.headers["Location"].startswith("/account/login/")


def test_static_files_may_be_kept(vic: User, client_for: Callable[..., Client]) -> None:
    response = client_for(vic).get("/static/css/app.css")
    assert response.status_code == 200
    assert "no-store" not in _cache(response)


def test_cookies_are_out_of_reach_of_scripts(db: None) -> None:
    client = Client()
    client.get("/account/login/")
    assert client.cookies["csrftoken"]["httponly"]
    assert client.cookies["csrftoken"]["samesite"] == "Lax"


def test_the_login_page_carries_the_policy_too(db: None) -> None:
    assert Client().get("/account/login/").headers["Content-Security-Policy"] == CSP
