"""The systems for which ``autograder package`` makes packages."""

from collections.abc import Mapping

from autograder.adapters import gradescope
from autograder.adapters.package import System

SYSTEMS: Mapping[str, System] = {
    "gradescope": gradescope,
}
