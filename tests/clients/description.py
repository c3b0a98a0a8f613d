"""The description of the interface, docs/openapi.yaml, as programs that know only OpenAPI take it.

    description.py BIN     BIN has openapi-spec-validator and schemathesis

A public validator reads it; schemathesis makes up requests from it and holds the answers against it; and the names of
emoji are held against the table of a published package.
"""

import json
import os
import pathlib
import subprocess
import sys
import urllib.request

from support import BINARY, STUCK_AFTER, Steps

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DESCRIPTION = ROOT / "docs" / "openapi.yaml"
FIXTURES = ROOT / "docs" / "fixtures.json"

# How many requests are made up for each operation: the same ones in each run. .ci/deep makes up more.
EXAMPLES = int(os.environ.get("CLIENTS_EXAMPLES", "3"))

# What would log out the caller, close the organization, or wait for events.
EXCLUDED = [
    "--exclude-path-regex=^/users/me/api_key",
    "--exclude-operation-id=delete_users_me",
    "--exclude-path=/realm/deactivate",
    "--exclude-path=/events",
]
CHECKS = "not_a_server_error,response_schema_conformance,content_type_conformance,status_code_conformance"


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{os.path.basename(command[0])} ended with code {done.returncode}:\n{done.stdout[-6000:]}")


def main():
    programs = pathlib.Path(sys.argv[1])
    steps = Steps()
    with steps.step("openapi-spec-validator takes docs/openapi.yaml"):
        run(programs / "openapi-spec-validator", DESCRIPTION)
    command = [BINARY, "serve", "--ephemeral", "--fixtures", FIXTURES, "--json", "--listen", "127.0.0.1:0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = json.loads(server.stdout.readline())["url"]
        with steps.step("the server sends docs/openapi.yaml"):
            with urllib.request.urlopen(f"{url}/api/openapi.yaml", timeout=STUCK_AFTER) as answer:
                assert answer.read() == DESCRIPTION.read_bytes()
        with steps.step("every name of zulip-emoji-mapping is an emoji here, with the code that is published"):
            check_emoji(url)
        with steps.step("schemathesis finds no failure of the server, and no answer that is not described"):
            login = json.loads(FIXTURES.read_text())["users"][0]
            run(
                programs / "schemathesis",
                "run",
                DESCRIPTION,
                f"--url={url}/api/v1",
                f"--auth={login['email']}:{login['api_key']}",
                f"--checks={CHECKS}",
                "--phases=fuzzing",
                f"--max-examples={EXAMPLES}",
                "--continue-on-failure",
                f"--request-timeout={STUCK_AFTER}",
                "--generation-deterministic",
                "--no-shrink",
                "--no-color",
                *EXCLUDED,
            )
    finally:
        server.terminate()
        server.wait(timeout=STUCK_AFTER)
    return steps.exit_code()


def check_emoji(url):
    from zulip_emoji_mapping.emoji_names import EMOJI_NAME_MAPS

    with urllib.request.urlopen(f"{url}/static/generated/emoji/emoji_api.json", timeout=STUCK_AFTER) as answer:
        names_of = json.load(answer)["code_to_names"]
    # Release 10.2 gives this name to another emoji, which the package does not know.
    elsewhere = ("1faf5", "point")
    unknown = [
        (code, name)
        for code, names in EMOJI_NAME_MAPS.items()
        for name in [names["canonical_name"], *names["aliases"]]
        if name not in names_of.get(code, []) and (code, name) != elsewhere
    ]
    assert not unknown, unknown


if __name__ == "__main__":
    sys.exit(main())
