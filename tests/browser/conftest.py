"""Real sites and a real browser: the embedded default, and PostgreSQL + Redis + Celery.

Both are started as a person would start them, as processes of their own; the tests speak to them
through Chromium only. Started by ``make test-browser``.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
import redis
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.processes import Process, celery, free_port, manage, wait_for

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PASSWORD = "a-password-for-tests-only"


HERE = Path(__file__).resolve().parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Real processes need more time on a busy machine than a unit test does."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(300))


@dataclass
class Site:
    """A running planner with its first login."""

    url: str
    user: str
    password: str
    processes: list[Process] = field(default_factory=list)

    def logs(self) -> str:
        return "\n".join(f"--- {p.log.name}\n{p.output()[-6000:]}" for p in self.processes)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _login_from(output: str) -> tuple[str, str]:
    user = re.search(r"Log in as\s+(\S+)", output)
    password = re.search(r"Password\s+(\S+)", output)
    assert user is not None, output
    assert password is not None, output
    return user.group(1), password.group(1)


def _embedded(folder: Path, *arguments: str) -> Iterator[Site]:
    port = free_port()
    environment = {"PLANNER_DATA_DIR": str(folder / "data")}
    process = Process("demo", manage("demo", "--port", str(port), *arguments), environment, folder)
    site = Site(f"http://127.0.0.1:{port}", "", "", [process])
    try:
        wait_for("the embedded site answers", lambda: "Password" in process.output())
        site.user, site.password = _login_from(process.output())
        yield site
    finally:
        process.end()


@pytest.fixture(scope="session")
def embedded_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """``make run``: SQLite and the job loop, no service, nothing in it."""
    yield from _embedded(tmp_path_factory.mktemp("embedded"), "--empty")


@pytest.fixture(scope="session")
def demo_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """``make demo``: the same with the synthetic fleet."""
    yield from _embedded(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="session")
def served_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The served form: gunicorn, Celery workers and beat on PostgreSQL and Redis."""
    postgres, broker = (
        os.environ.get(f"PLANNER_TEST_{name}_URL") for name in ("POSTGRES", "REDIS")
    )
    if not postgres or not broker:
        pytest.fail("the served site needs PostgreSQL and Redis: run `make test-browser`")
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS browser")
        connection.execute("CREATE DATABASE browser")
    redis.Redis.from_url(broker).flushall()
    folder = tmp_path_factory.mktemp("served")
    port = free_port()
    environment = {
        "PLANNER_DATA_DIR": str(folder / "data"),
        "PLANNER_DATABASE_URL": postgres.rsplit("/", 1)[0] + "/browser",
        "PLANNER_BROKER_URL": broker,
        "PLANNER_TICK_S": "2",
        "PLANNER_ADMIN_PASSWORD": PASSWORD,
        "DJANGO_SETTINGS_MODULE": "planner.settings",
        "C_FORCE_ROOT": "1",
    }
    processes: list[Process] = []

    def start(name: str, command: list[str]) -> Process:
        processes.append(Process(name, command, environment, folder))
        return processes[-1]

    try:
        assert start("migrate", manage("migrate", "--noinput")).wait(120) == 0
        setup = start("setup", manage("setup"))
        assert setup.wait(60) == 0, setup.output()
        site = Site(f"http://127.0.0.1:{port}", "admin", PASSWORD, processes)
        bind = f"--bind=127.0.0.1:{port}"
        gunicorn = [sys.executable, "-m", "gunicorn", "planner.wsgi", bind]
        start("web", [*gunicorn, "--worker-class=gthread", "--threads=8"])
        start("worker", celery("worker", "-Q", "sync,solve", "-c", "1"))
        start("beat", celery("beat", "-s", str(folder / "beat")))
        wait_for("the served site answers", lambda: _answers(site.url))
        yield site
    finally:
        for process in reversed(processes):
            process.end()


@pytest.fixture(params=["embedded", "served"])
def site(request: pytest.FixtureRequest) -> Site:
    """Each of the two forms in turn."""
    found: Site = request.getfixturevalue(f"{request.param}_site")
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail("Chromium is missing (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(20_000)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page that fails the test on script errors, dialogs and refused content."""
    page = context.new_page()
    trouble: list[str] = []
    page.on("pageerror", lambda error: trouble.append(f"script error: {error}"))
    page.on(
        "dialog", lambda dialog: (trouble.append(f"dialog: {dialog.message}"), dialog.dismiss())
    )
    page.on(
        "console",
        lambda message: (
            trouble.append(f"console: {message.text}") if message.type == "error" else None
        ),
    )
    yield page
    assert not trouble, trouble


def log_in(page: Page, site: Site) -> None:
    """Log in through the form."""
    page.goto(f"{site.url}/")
    page.get_by_label("Username").fill(site.user)
    page.get_by_label("Password").fill(site.password)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_load_state("networkidle")
