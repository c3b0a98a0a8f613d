"""A real chat server inside a test, for clients and bots of the Zulip API.

    with Server() as server:
        hamlet = server.user("hamlet@zulip.com")
        ...  # run a client against server.url
        server.fault(status=429, path="/messages", headers={"Retry-After": "1"})
"""

from __future__ import annotations

import atexit
import dataclasses
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import warnings
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

__all__ = ["ControlError", "Server", "User", "find_binary", "sample_fixtures"]

Json = Dict[str, Any]
Fixtures = Union[Mapping[str, Any], str, "os.PathLike[str]"]


class ControlError(Exception):
    """The server refused a request or did not start; the text has the reason."""


@dataclasses.dataclass(frozen=True)
class User:
    """A user of the fixtures."""

    email: str
    full_name: str
    api_key: Optional[str]
    password: Optional[str] = None


def find_binary() -> str:
    """The program: $TEAMCHAT_BINARY, the one that was installed with this package, or that of $PATH."""
    name = "teamchat.exe" if os.name == "nt" else "teamchat"
    installed = [sysconfig.get_path("scripts")]
    try:
        installed.append(sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user")))
    except AttributeError:  # Before Python 3.10.
        pass
    given = os.environ.get("TEAMCHAT_BINARY")
    candidates = [given] if given else [os.path.join(folder, name) for folder in installed] + [shutil.which(name)]
    for candidate in candidates:
        if candidate and os.path.isfile(candidate):
            return candidate
    raise ControlError(f"there is no {given or name}; set TEAMCHAT_BINARY to the program")


def sample_fixtures(binary: Optional[str] = None) -> Json:
    """The default users and channels of a server."""
    printed = subprocess.run([binary or find_binary(), "fixtures", "sample"], stdout=subprocess.PIPE, check=True)
    fixtures: Json = json.loads(printed.stdout)
    return fixtures


def _package_version() -> Optional[str]:
    """The version of this package. None if it is used without being installed."""
    try:
        return importlib.metadata.version("teamchat-testing")
    except importlib.metadata.PackageNotFoundError:
        return None


def _refusal(printed: str) -> str:
    """The final error of the program, without its log."""
    return printed[max(printed.rfind("error: "), 0) :].strip()


def _with_lines(refusal: str, file: str, lines: Sequence[str]) -> str:
    """Replaces the line number of a temporary file by the text of the line."""

    def place(found: "re.Match[str]") -> str:
        number = found.group(1)
        line = lines[int(number) - 1].strip().rstrip(",") if number and int(number) <= len(lines) else ""
        return f"the fixtures, at {line}: " if line else "the fixtures: "

    return re.sub(re.escape(file) + r": (?:line (\d+): )?", place, refusal)


class Server:
    """A server on a free port of this machine. It stops at the end of the `with` block, or with `stop`."""

    def __init__(
        self,
        fixtures: Optional[Fixtures] = None,
        *,
        binary: Optional[str] = None,
        flags: Sequence[str] = (),
    ) -> None:
        """`fixtures` is a dictionary or the path of a file; `flags` go to `teamchat serve`."""
        self._binary = binary or find_binary()
        self.fixtures: Json = {}
        # The program reads a file itself, so that its errors name the file and the line.
        self._file: Optional[Path] = None
        if fixtures is None:
            self.fixtures = sample_fixtures(self._binary)
        elif isinstance(fixtures, Mapping):
            self.fixtures = dict(fixtures)
        else:
            self._file = Path(fixtures)
        self._flags = list(flags)
        self._process: Optional[subprocess.Popen[str]] = None
        self.url = ""
        self.test_control_url = ""

    def start(self) -> "Server":
        """Starts the program, which is ready when this returns."""
        # Neither an error nor a program that forgets the server leaves it running.
        atexit.register(self.stop)
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def _start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TEAMCHAT_")}
        with tempfile.TemporaryDirectory(prefix="teamchat-fixtures-") as folder:
            # Errors quote texts as they are, and their lines are found by that.
            written = json.dumps(self.fixtures, indent=1, ensure_ascii=False)
            file = self._file or Path(folder) / "fixtures.json"
            if not self._file:
                file.write_text(written, encoding="utf-8")
            command = [self._binary, "serve", "--ephemeral", "--fixtures", str(file), "--json"]
            command += ["--listen", "127.0.0.1:0", "--test-control", "127.0.0.1:0", *self._flags]
            # The program writes UTF-8 in every locale.
            with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    encoding="utf-8",
                    env=environment,
                )
                assert self._process.stdout is not None
                line = self._process.stdout.readline()
                if not line:
                    self._process.wait()
                    errors.seek(0)
                    refusal = _refusal(errors.read())
                    if not self._file:
                        refusal = _with_lines(refusal, str(file), written.splitlines())
                    raise ControlError(f"the server did not start: {refusal}")
        if self._file:
            # As bytes: the file may begin with a byte order mark.
            self.fixtures = json.loads(self._file.read_bytes())
        ready = json.loads(line)
        self.url, self.test_control_url = ready["url"], ready["test_control_url"]
        package, program = _package_version(), ready.get("version", "of an earlier version")
        if package not in (None, program):
            text = f"teamchat-testing {package} runs {self._binary}, which is teamchat {program}: use those of the same release"
            warnings.warn(text, stacklevel=3)

    def stop(self) -> None:
        """Stops the program and deletes its data."""
        atexit.unregister(self.stop)
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def __enter__(self) -> "Server":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def user(self, email: str) -> User:
        """A user of the fixtures."""
        for user in self.fixtures.get("users", []):
            if user["email"].lower() == email.lower():
                return User(user["email"], user["full_name"], user.get("api_key"), user.get("password"))
        raise ControlError(f"no user has the email '{email}'")

    def control(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> Json:
        """Sends a request to the control, as described in docs/testing.md."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.test_control_url + path, data=data, method=method)
        # Proxies of the environment are for other machines.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request) as response:
                answer: Json = json.load(response)
                return answer
        except urllib.error.HTTPError as error:
            raise ControlError(json.load(error)["msg"]) from None
        except urllib.error.URLError as error:
            code = self._process.poll() if self._process else None
            ended = "" if code is None else f"; the program ended with code {code}"
            raise ControlError(f"the server does not answer: {error.reason}{ended}") from None

    def requests(
        self,
        *,
        method: Optional[str] = None,
        path: Optional[str] = None,
        user: Optional[str] = None,
        pending: bool = False,
        wait: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> List[Json]:
        """The requests so far. With `wait`, returns once that many match, or fewer after `timeout` seconds."""
        given = {"method": method, "path": path, "user": user, "wait": wait, "timeout": timeout}
        query = {name: value for name, value in given.items() if value is not None}
        if pending:
            query["pending"] = "true"
        answer: List[Json] = self.control("GET", "/requests?" + urllib.parse.urlencode(query))["requests"]
        return answer

    def clear_requests(self) -> None:
        """Clears the recorded requests."""
        self.control("DELETE", "/requests")

    def clock(self) -> Json:
        """`now`, `timestamp` and `frozen`."""
        return self.control("GET", "/clock")

    def set_clock(
        self, now: Union[str, float, None] = None, *, advance: Optional[float] = None, frozen: Optional[bool] = None
    ) -> Json:
        """Sets, advances, freezes or resumes the clock. Everything that depends on time follows."""
        given = {"now": now, "advance": advance, "frozen": frozen}
        return self.control("PUT", "/clock", {name: value for name, value in given.items() if value is not None})

    def fault(
        self,
        *,
        method: Optional[str] = None,
        path: Optional[str] = None,
        user: Optional[str] = None,
        skip: int = 0,
        times: Optional[int] = 1,
        status: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
        body: Any = None,
        delay: Optional[float] = None,
        drop: Optional[str] = None,
        bytes_per_second: Optional[int] = None,
    ) -> None:
        """Adds a fault. `drop` is "request", "answer" or "half"; `times=None` means always."""
        fault: Json = {"skip": skip, "times": times, "headers": dict(headers or {})}
        given = {
            "method": method,
            "path": path,
            "user": user,
            "status": status,
            "body": body,
            "delay": delay,
            "drop": drop,
            "bytes_per_second": bytes_per_second,
        }
        fault.update({name: value for name, value in given.items() if value is not None})
        self.control("POST", "/faults", fault)

    def faults(self) -> List[Json]:
        """The faults that are left. `fired` is the number of requests that each has affected."""
        answer: List[Json] = self.control("GET", "/faults")["faults"]
        return answer

    def clear_faults(self) -> None:
        """Removes all faults."""
        self.control("DELETE", "/faults")

    def expire_queues(self, user: Optional[str] = None) -> int:
        """Expires the event queues of a user, or all: clients get BAD_EVENT_QUEUE_ID. Returns how many."""
        count: int = self.control("POST", "/queues/expire", {"user": user} if user else {})["expired"]
        return count

    def set_level(self, feature_level: int, version: Optional[str] = None) -> None:
        """Emulates an older server."""
        self.control("PUT", "/level", {"feature_level": feature_level, **({"version": version} if version else {})})

    def snapshot(self) -> None:
        """Makes the present data, and a clock that was set, what `reset` restores."""
        self.control("POST", "/snapshot")

    def reset(self) -> None:
        """Restores the fixtures, or the snapshot, in milliseconds."""
        self.control("POST", "/reset")

    def restart(self, *, abrupt: bool = False, down: float = 0) -> None:
        """Restarts the server at the same URL, with the same data."""
        self.control("POST", "/restart", {"abrupt": abrupt, "down": down})

    def act(self, user: str, **what: Any) -> Json:
        """Acts as a user: `channel=, topic=, content=`; `react=, message=`; `typing=, to=`; or any endpoint."""
        return self.control("POST", "/act", {"user": user, **what})
