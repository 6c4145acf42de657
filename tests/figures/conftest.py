"""The living figures' tests share a browser: one for each file takes 0.6 s to start."""

from collections.abc import Iterator

import pytest

from tests.browser import one_browser


@pytest.fixture(scope="package", autouse=True)
def shared_browser() -> Iterator[None]:
    with one_browser():
        yield
