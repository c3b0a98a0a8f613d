"""teamchat-testing as its users have it: a bot of the `zulip` package, and every example of docs/testing.md.

    testing.py [FOLDER]     FOLDER is where `npm install zulip-js` was run
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "testing.md"


class Lines:
    """One line for each test, as `run` counts them."""

    def pytest_runtest_logreport(self, report):
        if report.failed:
            print(f"FAILED  {report.nodeid.split('::')[-1]}\n{report.longreprtext}", flush=True)
        elif report.when == "call":
            print(f"ok      {report.nodeid.split('::')[-1].replace('test_', '').replace('_', ' ')}", flush=True)


def blocks(language):
    """The examples of the page in a language, joined: later ones go on where earlier ones ended."""
    found = re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert found, language
    return "\n".join(found)


def step(name, command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode == 0:
        print(f"ok      {name}", flush=True)
    else:
        print(f"FAILED  {name}\n{done.stdout}", flush=True)
    return done.returncode


def main():
    node_folder = pathlib.Path(sys.argv[1])
    # One path to the program for all languages.
    with tempfile.TemporaryDirectory(prefix="teamchat-testing-") as place:
        folder = pathlib.Path(place)
        (folder / "bin").mkdir()
        (folder / "bin" / "teamchat").symlink_to(pathlib.Path(os.environ["TEAMCHAT_BIN"]).resolve())
        os.environ["PATH"] = f"{folder / 'bin'}:{os.environ['PATH']}"
        os.environ["TEAMCHAT_BINARY"] = str(folder / "bin" / "teamchat")
        page = folder / "test_page.py"
        page.write_text(blocks("python"))
        sys.path.insert(0, str(ROOT / "packaging" / "python"))
        arguments = ["--assert=plain", "-p", "no:terminal", "-p", "no:cacheprovider", "-p", "teamchat_testing.pytest_plugin"]
        failed = pytest.main([*arguments, str(page), str(HERE / "test_bot.py")], plugins=[Lines()])

        # The package as npm would install it.
        modules = folder / "node_modules"
        modules.mkdir()
        (modules / "teamchat-testing").symlink_to(ROOT / "packaging" / "javascript")
        os.environ["CLIENTS_NODE_FOLDER"] = str(node_folder.resolve())
        (folder / "page.test.mjs").write_text(blocks("js"))
        (folder / "bot.test.mjs").write_text((HERE / "bot.test.mjs").read_text())
        for name, file in [("examples in JavaScript", "page.test.mjs"), ("a bot of zulip-js", "bot.test.mjs")]:
            failed |= step(name, ["node", "--preserve-symlinks", "--test", file], cwd=folder)

        # The examples write files, and stop nothing that they started.
        script = f"trap 'kill $(jobs -p)' EXIT\nset -euo pipefail\n{blocks('sh')}"
        (folder / "docs").symlink_to(ROOT / "docs")
        failed |= step("examples of the program and its control", ["bash", "-c", script], cwd=folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
