"""What makes the commands quick: what they never use of libraries is left out."""

import sys


def skip_address_parser() -> None:
    """Make jsonschema do without its parser for international web addresses.

    Building that parser takes two to three seconds at import, and nothing here checks
    such an address. jsonschema does without it where the import fails. Call this before
    the first import of nbformat, nbgrader or JupyterLab.
    """
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]


def use_one_thread() -> None:
    """Make PyTorch compute in one thread, if it is imported.

    The tensors of the exercises have at most some hundred numbers: several threads
    spend their time waiting for each other, up to seven times as long on two cores.
    """
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
