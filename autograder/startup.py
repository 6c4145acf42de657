"""Leave out what the commands never use and what takes seconds to start."""

import sys


def skip_address_parser() -> None:
    """Have jsonschema do without its parser for international web addresses.

    Building that parser takes two to three seconds at import, and nothing here checks
    such an address. jsonschema does without it where the import fails. Call this before
    the first import of nbformat, nbgrader or JupyterLab.
    """
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
