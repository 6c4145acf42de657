"""The living figures' tests share a browser, file by file."""

from collections.abc import Iterator

import pytest

from tests.browser import one_browser


@pytest.fixture(scope="module", autouse=True)
def shared_browser() -> Iterator[None]:
    with one_browser():
        yield
