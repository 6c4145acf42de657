"""A small pure-Python wheel in place of a package of Pyodide that is not at hand."""

import zipfile
from io import BytesIO

REGEX = "regex-1.0-py3-none-any.whl"
# As much of the syntax of regex as the course uses: classes of letters and of numbers.
OF_RE = r"""
import re


def compile(pattern):
    outside = pattern.replace(r"[^\s\p{L}\p{N}]", r"(?:(?![^\W_]|\s).)")
    letters = outside.replace(r"\p{L}", r"[^\W\d_]").replace(r"\p{N}", r"\d")
    return re.compile(letters, re.DOTALL)
"""


def wheel_of(name: str, text: str) -> bytes:
    """Return a wheel of version 1.0 with one module."""
    about = f"{name}-1.0.dist-info"
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{name}.py", text)
        archive.writestr(
            f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{about}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
            "Tag: py3-none-any\n",
        )
        archive.writestr(f"{about}/RECORD", "")
    return file.getvalue()
