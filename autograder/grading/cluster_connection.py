"""Get hold of a Dask scheduler, or say in one sentence why there is none."""

import asyncio
import contextlib
import logging
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from autograder.course import CourseError

if TYPE_CHECKING:
    from distributed import Client

PATIENCE = 8.0  # seconds until an address counts as one that does not answer
SAME = ("distributed", "dask")  # packages whose versions must be the same everywhere
TOLD = ("distributed", "tornado", "asyncio")  # whose logs would be tracebacks for users


def connect(address: str) -> "Client":
    """Connect to a scheduler; only inside ``quiet``.

    address : such as tcp://host:8786; tls://host:8786 with Dask's own configuration

    Raises ``CourseError`` if that cannot be done.
    """
    from distributed import Client

    _look_at(address)
    with warnings.catch_warnings():  # of versions: what matters has been compared
        warnings.simplefilter("ignore")
        try:
            return Client(address, timeout=PATIENCE, set_as_default=False)
        except Exception as error:
            raise _no_answer(address, error) from None


def _look_at(address: str) -> None:
    """See who is there. A client would wait for ever if it is no scheduler."""
    try:
        peer, versions = asyncio.run(asyncio.wait_for(_ask(address), PATIENCE + 2))
    except Exception as error:
        raise _no_answer(address, error) from None
    if peer.get("type") != "Scheduler":
        raise CourseError(
            f"at {address} there is no Dask scheduler, but a {peer.get('type')}: give "
            "the address that `dask scheduler` prints"
        )
    _compare(address, versions.get("packages", {}))


async def _ask(address: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    from distributed import Security
    from distributed.core import rpc

    secured = Security().get_connection_args("client")
    async with rpc(address, timeout=PATIENCE, connection_args=secured) as peer:
        return await peer.identity(), await peer.versions()


def _compare(address: str, theirs: Mapping[str, str]) -> None:
    from distributed.versions import get_versions

    ours = get_versions()["packages"]
    for name in SAME:
        if theirs.get(name) != ours.get(name):
            raise CourseError(
                f"the scheduler at {address} runs {name} {theirs.get(name)}, and here "
                f"it is {ours.get(name)}: call `make setup` on both machines"
            )


def _no_answer(address: str, error: Exception) -> CourseError:
    """Say what is wrong with an address."""
    if isinstance(error, TimeoutError | OSError):
        why = "nobody answers there, or not as one would"
    else:  # of Dask's own, about the address or the configuration of TLS
        why = " ".join(f"{error or type(error).__name__}".split())[:300]
    return CourseError(
        f"there is no Dask scheduler at {address!r} ({why}): give the address that "
        "`dask scheduler` prints, such as tcp://host:8786"
    )


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep Dask's own words from stderr: what matters is said in sentences.

    Raises ``CourseError`` if Dask is not installed.
    """
    try:
        import dask
        import distributed  # noqa: F401 (gives its loggers their levels)
    except ImportError:
        raise CourseError(
            "--dask needs the package distributed: install it with `pip install "
            "'attention-course[dask]'`, or call `make setup`"
        ) from None
    loggers = [
        logging.getLogger(name)
        for name in [*TOLD, *logging.root.manager.loggerDict]
        if name.partition(".")[0] in TOLD
    ]
    before = [(logger, logger.level) for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        with dask.config.set(
            {"distributed.admin.large-graph-warning-threshold": "1GB"}
        ):
            yield
    finally:
        for logger, level in before:
            logger.setLevel(level)
