"""Archives with the same bytes for the same content: sorted, of one time and one owner."""

import base64
import gzip
import hashlib
import io
import json
import tarfile
import zipfile
from pathlib import Path
from time import gmtime


class Archive:
    """A tar archive in memory."""

    def __init__(self, time):
        self._time = time
        self._entries = {}

    def add(self, name, content, mode=0o644):
        """Adds a file: its bytes, or the path of them."""
        self._entries[name] = (content.read_bytes() if isinstance(content, Path) else content, mode, 0)
        return self

    def add_folder(self, name, mode=0o755, owner=0):
        """Adds an empty folder."""
        self._entries[name] = (None, mode, owner)
        return self

    def tar(self):
        """The bytes of the archive."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for name, (content, mode, owner) in sorted(self._entries.items()):
                entry = tarfile.TarInfo(name)
                entry.mode, entry.mtime, entry.uid, entry.gid = mode, self._time, owner, owner
                if content is None:
                    entry.type = tarfile.DIRTYPE
                    archive.addfile(entry)
                else:
                    entry.size = len(content)
                    archive.addfile(entry, io.BytesIO(content))
        return out.getvalue()

    def tar_gz(self):
        """The bytes of the archive, compressed."""
        return gzip.compress(self.tar(), 9, mtime=0)


def wheel(path, time, distribution, files, metadata, tags):
    """Writes a wheel. `files` are bytes and modes by name; RECORD has the digest of each."""
    info = f"{distribution}.dist-info"
    head = f"Wheel-Version: 1.0\nGenerator: teamchat\nRoot-Is-Purelib: false\n{''.join(f'Tag: {tag}' + chr(10) for tag in tags)}"
    files = {**files, f"{info}/METADATA": (metadata.encode(), 0o644), f"{info}/WHEEL": (head.encode(), 0o644)}
    record = ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:

        def write(name, content, mode):
            entry = zipfile.ZipInfo(name, gmtime(time)[:6])
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)

        for name, (content, mode) in sorted(files.items()):
            write(name, content, mode)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(content)}\n"
        write(f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644)


def image(path, time, layer, architecture, config, name):
    """Writes a container image with one layer as an archive of the OCI layout. Old versions of Docker read its manifest.json."""
    archive = Archive(time)

    def blob(content):
        digest = hashlib.sha256(content).hexdigest()
        archive.add(f"blobs/sha256/{digest}", content)
        return {"digest": f"sha256:{digest}", "size": len(content)}

    def to_json(value):
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()

    created = "%04d-%02d-%02dT%02d:%02d:%02dZ" % gmtime(time)[:6]
    packed = blob(layer.tar_gz())
    described = blob(
        to_json(
            {
                **architecture,
                "os": "linux",
                "created": created,
                "config": config,
                "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer.tar()).hexdigest()}"]},
                "history": [{"created": created, "created_by": "packaging/dist"}],
            }
        )
    )
    kind = "application/vnd.oci.image"
    manifest = blob(
        to_json(
            {
                "schemaVersion": 2,
                "mediaType": f"{kind}.manifest.v1+json",
                "config": {"mediaType": f"{kind}.config.v1+json", **described},
                "layers": [{"mediaType": f"{kind}.layer.v1.tar+gzip", **packed}],
            }
        )
    )
    entry = {
        "mediaType": f"{kind}.manifest.v1+json",
        **manifest,
        "platform": {**architecture, "os": "linux"},
        "annotations": {"org.opencontainers.image.ref.name": name.split(":")[1], "io.containerd.image.name": name},
    }
    index = {"schemaVersion": 2, "mediaType": f"{kind}.index.v1+json", "manifests": [entry]}
    archive.add("index.json", to_json(index))
    archive.add("oci-layout", to_json({"imageLayoutVersion": "1.0.0"}))

    def path_of(item):
        return item["digest"].replace("sha256:", "blobs/sha256/")

    old = [{"Config": path_of(described), "RepoTags": [name], "Layers": [path_of(packed)]}]
    archive.add("manifest.json", to_json(old))
    path.write_bytes(archive.tar())
