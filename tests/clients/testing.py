"""teamchat-testing as its users have it, installed from packages: bots of `zulip` and zulip-js, and every example of
docs/testing.md.

    testing.py FOLDER     FOLDER is where `npm install zulip-js jest` was run
"""

import importlib.machinery
import importlib.util
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

import pytest

from support import STUCK_AFTER

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "testing.md"
BINARY = pathlib.Path(os.environ["TEAMCHAT_BIN"]).resolve()


class Lines:
    """One line for each test, as `run` counts them."""

    def pytest_runtest_logreport(self, report):
        if report.failed:
            print(f"FAILED  {report.nodeid.split('::')[-1]}\n{report.longreprtext}", flush=True)
        elif report.when == "call":
            print(f"ok      {report.nodeid.split('::')[-1].replace('test_', '').replace('_', ' ')}", flush=True)


def blocks(language):
    """The examples of the page in a language, joined: later ones go on where earlier ones ended."""
    found = re.findall(r"^```(\w*)\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    # Those in Rust are doctests of the crate. There is no package of Dart in the places that the tests install from.
    assert {name for name, _ in found} == {"python", "js", "sh", "rust", "go", "dart"}, "every other example is run"
    return "\n".join(text for name, text in found if name == language)


def step(name, command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode == 0:
        print(f"ok      {name}", flush=True)
    else:
        print(f"FAILED  {name}\n{done.stdout}", flush=True)
    return done.returncode


def wheel(place):
    """Writes the wheel as a release has it, around the binary; or builds it from source, in a profile."""
    if profile := os.environ.get("TEAMCHAT_PROFILE"):
        build = [sys.executable, "-m", "maturin", "build", "--quiet", "--profile", profile, "--locked", "--out", place]
        return step("the wheel is built", build, cwd=ROOT / "packaging" / "python")
    sys.path.append(str(ROOT / "packaging"))
    loader = importlib.machinery.SourceFileLoader("dist", str(ROOT / "packaging" / "dist"))
    dist = importlib.util.module_from_spec(importlib.util.spec_from_loader("dist", loader))
    loader.exec_module(dist)
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]["version"]
    dist.write_wheel(pathlib.Path(place), BINARY, {}, version, dist.time_of_source(), [f"linux_{platform.machine()}"])
    return 0


def main():
    node_folder = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="teamchat-testing-") as place:
        folder = pathlib.Path(place)
        failed = wheel(place)
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"]
        failed |= step("the wheel is installed", [*install, *map(str, folder.glob("*.whl"))])
        (folder / "test_page.py").write_text(blocks("python"))
        arguments = ["--assert=plain", "-p", "no:terminal", "-p", "no:cacheprovider"]
        failed |= pytest.main([*arguments, str(folder / "test_page.py"), str(HERE / "test_bot.py")], plugins=[Lines()])

        os.environ["PATH"] = f"{BINARY.parent}:{os.environ['PATH']}"
        os.environ["TEAMCHAT_BINARY"] = str(BINARY)
        pack = ["npm", "pack", "--silent", "--pack-destination", place]
        failed |= step("the npm package is packed", pack, cwd=ROOT / "packaging" / "javascript")
        package = next(folder.glob("*.tgz"))
        install = ["npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", str(package)]
        failed |= step("the npm package is installed", install, cwd=folder)
        os.environ["CLIENTS_NODE_FOLDER"] = str(node_folder)
        (folder / "page.test.mjs").write_text(blocks("js"))
        for file in ["bot.test.mjs", "jest.test.mjs", "jest.test.cjs"]:
            (folder / file).write_text((HERE / file).read_text())
        for name, file in [("examples in JavaScript", "page.test.mjs"), ("a bot of zulip-js", "bot.test.mjs")]:
            failed |= step(name, ["node", "--test", file], cwd=folder)
        jest = str(node_folder / "node_modules" / "jest" / "bin" / "jest.js")
        for name, flags, file in [
            ("a test of Jest", ["--experimental-vm-modules"], "jest.test.mjs"),
            ("a test of Jest with require", [], "jest.test.cjs"),
        ]:
            # A server that starts may need the five seconds that Jest gives a test.
            limit = f"--testTimeout={STUCK_AFTER * 1000}"
            command = ["node", *flags, jest, limit, "--testMatch", f"**/{file}", "--rootDir", place]
            failed |= step(name, command, cwd=folder)

        # The examples write files, and stop nothing that they started.
        script = f"trap 'kill $(jobs -p)' EXIT\nset -euo pipefail\n{blocks('sh')}"
        (folder / "docs").symlink_to(ROOT / "docs")
        if shutil.which("go"):
            (folder / "page_test.go").write_text(blocks("go"))
            failed |= step("an example in Go", ["go", "test", "page_test.go"], cwd=folder)
        failed |= step("examples of the program and its control", ["bash", "-c", script], cwd=folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
