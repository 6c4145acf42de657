"""What these modules share: an engine for each."""

import pytest

from tests.grading.engines import engine_of
from tests.submissions import COURSE


@pytest.fixture(scope="module")
def engine():
    with engine_of(COURSE) as started:
        yield started


@pytest.fixture(scope="module")
def sandbox(engine):
    return engine.sandbox
