"""The fixture `teamchat_server` for pytest."""

from __future__ import annotations

from typing import Any, Iterator

import pytest

from . import Server, sample_fixtures


@pytest.fixture(scope="session")
def teamchat_fixtures() -> Any:
    """Initial data of the server: a dictionary or the path of a file. Override it."""
    return sample_fixtures()


@pytest.fixture(scope="session")
def _teamchat_session(teamchat_fixtures: Any) -> Iterator[Server]:
    with Server(teamchat_fixtures) as server:
        yield server


@pytest.fixture
def teamchat_server(_teamchat_session: Server) -> Iterator[Server]:
    """A server with the fixtures, reset for each test."""
    yield _teamchat_session
    _teamchat_session.reset()
