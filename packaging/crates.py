"""The crates that are in the binary: their list as CycloneDX, and their licences."""

import json
import re
import subprocess
import tomllib
import uuid
from pathlib import Path
from time import gmtime, strftime

LICENCE = re.compile(r"^(li[cs]en[cs]e|copying|copyright|notice|unlicense)(?!.*\.rs$)", re.IGNORECASE)
# Folders and files of crates that are not in the binary, or that offer another licence beside the one that is used.
NOT_INCLUDED = {
    "libsqlite3-sys": {"sqlcipher"},
    "mail-parser": {"resources"},
    "zstd-sys": {"zstd/COPYING"},
}


def list_crates(root, targets):
    """The packages that are compiled into the binary for any of these targets, without those of builds and tests."""
    found = {}
    for target in targets:
        command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
        metadata = json.loads(subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE).stdout)
        packages = {package["id"]: package for package in metadata["packages"]}
        nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
        waiting = [metadata["resolve"]["root"]]
        while waiting:
            package = packages[waiting.pop()]
            if package["id"] in found:
                continue
            found[package["id"]] = package
            if any("proc-macro" in made["kind"] for made in package["targets"]):
                continue
            for dependency in nodes[package["id"]]["deps"]:
                if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                    waiting.append(dependency["pkg"])
    return sorted(found.values(), key=lambda package: (package["name"], package["version"]))


def bill_of_materials(root, packages, compilers, version, time):
    """The list as CycloneDX 1.5, with the digests of Cargo.lock, and the versions of the compilers by their names."""
    lock = tomllib.loads((root / "Cargo.lock").read_text())
    digests = {(one["name"], one["version"]): one.get("checksum") for one in lock["package"]}
    components = []
    for package in packages:
        if package["name"] == "teamchat":
            continue
        component = {
            "type": "library",
            "bom-ref": f"pkg:cargo/{package['name']}@{package['version']}",
            "name": package["name"],
            "version": package["version"],
            "purl": f"pkg:cargo/{package['name']}@{package['version']}",
        }
        if package["license"]:
            component["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        if digest := digests[package["name"], package["version"]]:
            component["hashes"] = [{"alg": "SHA-256", "content": digest}]
        components.append(component)
        if package["name"] == "libsqlite3-sys":
            header = (Path(package["manifest_path"]).parent / "sqlite3/sqlite3.h").read_text()
            sqlite = re.search(r'#define SQLITE_VERSION +"([^"]+)"', header)[1]
            components.append(
                {
                    "type": "library",
                    "bom-ref": f"pkg:generic/sqlite@{sqlite}",
                    "name": "sqlite",
                    "version": sqlite,
                    "purl": f"pkg:generic/sqlite@{sqlite}",
                    "licenses": [{"license": {"name": "Public Domain"}}],
                }
            )
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(time)),
            "tools": {"components": [{"type": "application", "name": name, "version": one} for name, one in compilers.items()]},
            "component": {"type": "application", "bom-ref": "teamchat", "name": "teamchat", "version": version},
        },
        "components": components,
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bill, sort_keys=True))
    return json.dumps({**bill, "serialNumber": f"urn:uuid:{serial}"}, indent=1) + "\n"


def licences(packages, others):
    """The licences of all crates, and the files of the folder `others`: each text once, with the names of what has it."""
    texts, without = {}, []
    for path in sorted(others.iterdir()):
        texts[path.read_text().strip()] = [path.name]
    for package in packages:
        # The project's own texts are beside this one.
        if not package["source"]:
            continue
        name = f"{package['name']} {package['version']}"
        files = licence_files(package)
        if not files:
            authors = ", ".join(package["authors"])
            without.append(f"{name}: {package['license']}" + (f", by {authors}" if authors else ""))
        for file in files:
            text = file.read_text(errors="replace").strip().replace("\r\n", "\n")
            texts.setdefault(text, []).append(name)
    parts = ["teamchat contains these libraries. Each licence is followed by its text.\n"]
    if without:
        parts.append("Without a text of their own, under the licences named:\n" + "\n".join(without) + "\n")
    for text, names in sorted(texts.items(), key=lambda item: item[1]):
        parts.append("=" * 80 + "\n" + "\n".join(dict.fromkeys(names)) + "\n" + "-" * 80 + "\n" + text + "\n")
    return "\n".join(parts)


def licence_files(package):
    """The files with licences of a crate, also those of libraries that it includes, such as zstd in zstd-sys."""
    folder = Path(package["manifest_path"]).parent
    without = {folder / path for path in NOT_INCLUDED.get(package["name"], ())}
    files = (file for file in folder.rglob("*") if LICENCE.match(file.name) and file.is_file())
    return sorted(file for file in files if without.isdisjoint([file, *file.parents]))
