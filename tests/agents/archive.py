"""Makes an archive of a folder: FOLDER ARCHIVE ENTRY, where ENTRY is a JSON object of
one more entry as it should not be, or {}."""

import io
import json
import os
import sys
import tarfile
import zipfile

TAR = {
    "file": tarfile.REGTYPE,
    "symlink": tarfile.SYMTYPE,
    "hardlink": tarfile.LNKTYPE,
    "fifo": tarfile.FIFOTYPE,
    "device": tarfile.CHRTYPE,
}


def files(folder):
    for top, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(top, name)
            yield path, os.path.relpath(path, folder)


class Zeros(io.RawIOBase):
    """So many zero bytes."""

    def __init__(self, size):
        self.left = size

    def read(self, size=-1):
        size = min(self.left, size if size >= 0 else self.left)
        self.left -= size
        return bytes(size)


def make_tar(folder, out, entry):
    with tarfile.open(out, "w:gz" if out.endswith(".gz") else "w") as archive:
        for path, name in files(folder):
            archive.add(path, name)
        if entry:
            info = tarfile.TarInfo(entry["name"])
            info.type = TAR[entry["kind"]]
            info.linkname = entry["target"]
            info.size = entry["size"]
            archive.addfile(info, Zeros(info.size))


def make_zip(folder, out, entry):
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path, name in files(folder):
            archive.write(path, name)
        if entry:
            info = zipfile.ZipInfo(entry["name"])
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            kinds = {"file": 0o100644, "symlink": 0o120777, "fifo": 0o010644}
            info.external_attr = kinds[entry["kind"]] << 16
            zeros = Zeros(entry["size"])
            with archive.open(info, "w") as written:
                written.write(entry["target"].encode())
                while part := zeros.read(1 << 20):
                    written.write(part)


folder, out, entry = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
if out.endswith(".zip"):
    make_zip(folder, out, entry)
else:
    make_tar(folder, out, entry)
