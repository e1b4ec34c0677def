#!/usr/bin/env python3
"""Generates `src/arena/v1` from the repository's `proto/`.

Run it after a change of the protocol, with `grpcio-tools` installed. The result is committed,
so that the client needs no protoc; a test fails if it is not current.
"""

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROTO = HERE.parents[1] / "proto"
TARGET = HERE / "src/arena/v1"
#: The service that the client calls, and the files with its messages.
SERVICE = "coordinator"
MESSAGES = ("access", "agent", "coordinator", "record", "worker")


def generated():
    """The generated files: their names and texts."""
    import grpc_tools
    from grpc_tools import protoc

    sources = [PROTO / f"arena/v1/{name}.proto" for name in MESSAGES]
    standard = Path(grpc_tools.__file__).parent / "_proto"
    with tempfile.TemporaryDirectory() as folder:
        out = [f"--{kind}_out={folder}" for kind in ("python", "pyi", "grpc_python")]
        code = protoc.main(
            ["protoc", f"-I{PROTO}", f"-I{standard}", *out, *map(str, sources)]
        )
        if code != 0:
            raise SystemExit(f"protoc failed with {code} on {PROTO}")
        files = sorted((Path(folder) / "arena/v1").iterdir())
        unused = {f"{name}_pb2_grpc.py" for name in MESSAGES if name != SERVICE}
        return {file.name: file.read_text() for file in files if file.name not in unused}


def main():
    """Replaces every generated file."""
    for old in TARGET.glob("*_pb2*"):
        old.unlink()
    for name, text in generated().items():
        (TARGET / name).write_text(text)
        print(TARGET / name)


if __name__ == "__main__":
    sys.exit(main())
