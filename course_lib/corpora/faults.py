"""What can go wrong with the data, each as one sentence that says what to run."""

import errno
from pathlib import Path

COMMAND = "make data"


class DataFault(RuntimeError):
    """The data is not there, or was not prepared: one sentence, with what to do."""


def missing(what: str, folder: Path) -> DataFault:
    """The data was never prepared, or only in part."""
    return DataFault(
        f"The data of {what} is not in {folder}: run `{COMMAND}` in the course's "
        "folder once, with a network."
    )


def damaged(what: str, folder: Path) -> DataFault:
    """The data was prepared, and files of it were lost or cut short since."""
    return DataFault(
        f"The data of {what} in {folder} is damaged: run `{COMMAND}` in the course's "
        "folder, which replaces it."
    )


def wrong_hash(what: str, expected: str, found: str) -> DataFault:
    """What was downloaded is not the file that the course was made with."""
    return DataFault(
        f"{what} was downloaded, but is not the file that the course was made with "
        f"(its sha256 is {found[:12]}…, not {expected[:12]}…), so it was thrown away: "
        f"run `{COMMAND}` again, or ask whoever runs the package index."
    )


def no_network(what: str) -> DataFault:
    """The package index could not be reached."""
    return DataFault(
        f"{what} could not be downloaded, because the package index was not reached: "
        f"run `{COMMAND}` again when there is a network."
    )


def pip_failed(what: str, last_line: str) -> DataFault:
    """Pip ended with an error that is none of the others."""
    return DataFault(
        f"{what} could not be downloaded: pip says “{last_line}”. Mend that and run "
        f"`{COMMAND}` again."
    )


def from_system(error: OSError, folder: Path) -> DataFault:
    """Turn what the file system refused into a sentence."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        reason = f"There is no space left in {folder}: free some"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        reason = f"There is no right to write in {folder}: allow it"
    else:
        reason = f"{folder} cannot be used ({error.strerror or error}): mend that"
    return DataFault(
        f"{reason}, or set ATTENTION_COURSE_DATA to another folder, and run "
        f"`{COMMAND}` again."
    )
