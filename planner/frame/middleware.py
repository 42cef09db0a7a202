"""What caches may keep: no page of a login, and no fragment in the place of its page."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers


class HtmxVaryMiddleware:
    """Adds ``Vary: HX-Request``, since one address answers with a page or a part of it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        patch_vary_headers(response, ("HX-Request",))
        return response


class NoStoreMiddleware:
    """What a logged-in user gets is kept by nobody: pages, fragments, CSV and JSON.

    Names of clusters and prices must not be read from a shared cache, from the disk, or with Back
    after logging out: a browser that stored nothing asks again, and is sent to the login. Static
    files never come here, since WhiteNoise answers before. An answer that says more itself
    (``never_cache``) keeps its own words.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        was_known = request.user.is_authenticated  # logging out changes the user of the request
        response = self.get_response(request)
        if was_known or request.user.is_authenticated:
            response.headers.setdefault("Cache-Control", "private, no-store")
        return response
