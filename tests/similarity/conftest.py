"""Dolos for the tests that compare; without it they skip, with the reason."""

import pytest

from autograder.course import CourseError
from autograder.similarity import dolos


@pytest.fixture(scope="session")
def with_dolos():
    try:
        dolos._node()
    except CourseError as error:
        pytest.skip(str(error))
