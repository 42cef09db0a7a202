"""Headers that every page carries, word for word."""

from __future__ import annotations

from collections.abc import Callable

from django.test import Client

from planner.accounts.models import User

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
        )
    } == {
        "Content-Security-Policy": CSP,
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
    }
    assert "HX-Request" in response.headers["Vary"]


def test_cookies_are_out_of_reach_of_scripts(db: None) -> None:
    client = Client()
    client.get("/account/login/")
    assert client.cookies["csrftoken"]["httponly"]
    assert client.cookies["csrftoken"]["samesite"] == "Lax"


def test_the_login_page_carries_the_policy_too(db: None) -> None:
    assert Client().get("/account/login/").headers["Content-Security-Policy"] == CSP
