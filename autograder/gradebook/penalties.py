"""Points taken off for handing in late, as nbgrader's plugin says.

nbgrader is imported only where a course has configured one: without, it takes nothing.
"""

import math
import sys
from functools import cached_property
from typing import Any

from autograder.course import Course, CourseError
from autograder.gradebook.settings import configured, in_a_line
from autograder.startup import skip_address_parser

CONFIGURES = ("LateSubmissionPlugin", "AssignLatePenalties")


class Penalties:
    """Says what a late submission costs."""

    def __init__(self, course: Course) -> None:
        """Take the course; its configuration is read when it is needed."""
        self._course = course

    def of(self, student: str, score: float, seconds_late: float) -> float | None:
        """Give the points to take off, from 0 to the score; None for no penalty."""
        if self.plugin is None:
            return None
        try:
            found = self.plugin.late_submission_penalty(student, score, seconds_late)
            if found is None:
                return None
            penalty = float(found)
            if math.isnan(penalty):
                raise ValueError("the penalty is no number")
        except Exception as error:  # anybody's program
            raise self._fault(error) from None
        # nbgrader's order: it matters where extra credit has made the score negative
        return 0.0 if penalty < 0 else min(penalty, score)

    @cached_property
    def plugin(self) -> Any:
        """The plugin, None if none is configured."""
        config = configured(self._course, *CONFIGURES)
        if config is None:
            return None
        skip_address_parser()
        here = str(self._course.root)
        sys.path.insert(0, here)  # where nbgrader, too, looks for the plugin's module
        try:
            from nbgrader.preprocessors import AssignLatePenalties

            preprocessor = AssignLatePenalties(config=config)
            preprocessor.init_plugin()
            return preprocessor.plugin_inst
        except Exception as error:  # whatever its module does at import
            raise self._fault(error) from None
        finally:
            sys.path.remove(here)

    def _fault(self, error: Exception) -> CourseError:
        return CourseError(
            "the plugin for late submissions that nbgrader_config.py names stops with "
            f"{in_a_line(error)}: correct it; nothing in the gradebook was changed"
        )
