#!/usr/bin/env python3
"""Packs a built `arena` and the module into a wheel, without Rust and without network.

    services/python/wheel.py --program target/release/arena --out target/wheels

The wheel is for this machine's platform and Python 3.9 or newer. `pip wheel services/python`
makes the same with maturin, which builds the program first.
"""

import argparse
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def tag(program):
    """The platform as wheels name it, with the version of glibc that the program needs."""
    name = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    versions = [int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", program.read_bytes())]
    if name.startswith("linux") and versions:
        return f"manylinux_2_{max(versions)}{name.removeprefix('linux')}"
    return name


def metadata(project):
    """The file METADATA."""
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License-Expression: {project['license']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Author: {author['name']}" for author in project["authors"]),
        *(f"Requires-Dist: {one}" for one in project["dependencies"]),
    ]
    for extra, packages in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f'Requires-Dist: {one}; extra == "{extra}"' for one in packages]
    lines.append("Description-Content-Type: text/markdown")
    return "\n".join(lines) + "\n\n" + (HERE / project["readme"]).read_text()


def stripped(program, folder):
    """The program without debug information, if this machine has `strip`."""
    small = Path(folder) / "arena"
    # On macOS, the program has none, and its signature must not change.
    if sys.platform != "linux" or shutil.which("strip") is None:
        return program
    subprocess.run(["strip", "-o", small, program], check=True)
    return small


def pack(program, out, level=6):
    """Writes the wheel, and returns its path. A low level of compression saves time."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    name = f"{project['name'].replace('-', '_')}-{project['version']}"
    about = f"{name}.dist-info"
    kind = f"py3-none-{tag(program)}"
    path = out / f"{name}-{kind}.whl"
    path.parent.mkdir(parents=True, exist_ok=True)
    record = []
    with (
        tempfile.TemporaryDirectory() as folder,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as wheel,
    ):

        def add(to, content, mode=0o644):
            entry = zipfile.ZipInfo(to, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            record.append(f"{to},sha256={digest.decode()},{len(content)}")

        source = HERE / "src"
        for file in sorted(source.rglob("*")):
            if file.suffix in (".py", ".pyi", ".typed"):
                add(str(file.relative_to(source)), file.read_bytes())
        add(f"{name}.data/scripts/arena", stripped(program, folder).read_bytes(), 0o755)
        add(f"{about}/METADATA", metadata(project).encode())
        generator = "Wheel-Version: 1.0\nGenerator: arena\nRoot-Is-Purelib: false\n"
        add(f"{about}/WHEEL", f"{generator}Tag: {kind}\n".encode())
        for license in ("LICENSE-APACHE", "LICENSE-MIT"):
            text = (HERE.parents[1] / license).read_bytes()
            add(f"{about}/licenses/{license}", text)
        record.append(f"{about}/RECORD,,")
        wheel.writestr(f"{about}/RECORD", "\n".join(record) + "\n")
    return path


def main():
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = os.environ.get("ARENA_BIN") or HERE.parents[1] / "target/debug/arena"
    parser.add_argument("--program", type=Path, default=Path(default), help="the built arena")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder of the wheel")
    options = parser.parse_args()
    if not options.program.is_file():
        parser.error(f"there is no {options.program}: build it with cargo build, or use --program")
    print(pack(options.program, options.out))


if __name__ == "__main__":
    sys.exit(main())
