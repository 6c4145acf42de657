"""The systems for which ``autograder package`` makes packages."""

from collections.abc import Mapping

from autograder.adapters import classroom50, exercism, github, gradescope, prairielearn
from autograder.adapters.package import GradingSystem

SYSTEMS: Mapping[str, GradingSystem] = {
    "gradescope": gradescope,
    "prairielearn": prairielearn,
    "classroom50": classroom50,
    "exercism": exercism,
    "github": github,
}
