"""What has to be the same on each machine."""

import hashlib
import importlib.util
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .call import name_of


def sources(modules):
    """The SHA-256 over the files of these modules."""
    digest = hashlib.sha256()
    for name in modules:
        spec = importlib.util.find_spec(name)
        content = Path(spec.origin).read_bytes() if spec else b""
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def installed(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def difference(pinned, machine):
    """How this machine differs from what was registered, and what to do, or None."""
    here = "{}.{}".format(*sys.version_info)
    again = "; or register again with --replace on a machine like it"
    if here != pinned["python"]:
        return (
            f"the machine {machine} has Python {here}, but {pinned['python']} was registered. Start the worker "
            f"with a PATH whose python3 is Python {pinned['python']}{again}"
        )
    for name, there in pinned["packages"].items():
        if installed(name) != there:
            return (
                f"the machine {machine} has {name} {installed(name) or 'not installed'}, but {there} was "
                f"registered. Run `pip install {name}=={there}` on it{again}"
            )
    try:
        found = sources(pinned["modules"])
    except (ImportError, OSError, ValueError) as error:
        found = name_of(error)
    if found != pinned["sources_sha256"]:
        return (
            f"the machine {machine} has modules {pinned['modules'][0]}… with the SHA-256 {found}, but "
            f"{pinned['sources_sha256']} was registered. Install the same files on it{again}"
        )
    return None
