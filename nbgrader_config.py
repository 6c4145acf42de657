"""Lets nbgrader and formgrader work on this repository as it is."""

import sys

c = get_config()  # noqa: F821 - nbgrader puts it here

c.CourseDirectory.course_id = "attention"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
c.CourseDirectory.ignore = ["*.py", ".ipynb_checkpoints", "*.pyc", "__pycache__"]
c.CourseDirectory.ignore += ["*.before-update-*.ipynb"]  # what `update` has kept
c.ClearSolutions.code_stub = {
    "python": "raise NotImplementedError  # replace this line with your answer"
}
c.Execute.timeout = 120
c.ExecutePreprocessor.timeout = 120

# Grading and feedback are the course's own: `autograder --help` says how to call them
# without nbgrader. Manual grades, comments and penalties stay nbgrader's.
c.Autograde.exporter_class = "autograder.gradebook.exporters.AutogradeExporter"
c.ExchangeFactory.collect = "autograder.gradebook.entrance.NotebookCollect"
c.ZipCollectApp.extractor_plugin = "autograder.gradebook.zip_collect.LmsExtractor"
c.ZipCollectApp.collector_plugin = "autograder.gradebook.zip_collect.LmsCollector"
c.ExchangeFactory.release_feedback = "autograder.gradebook.exchange.FeedbackRelease"
c.GenerateFeedback.exporter_class = "autograder.gradebook.exporters.FeedbackExporter"

# What a late submission costs, of the points earned: "10 % a day, at most 50 %". There
# must be a due date (`nbgrader db assignment add LESSON --duedate=…`).
c.AssignLatePenalties.plugin_class = "autograder.gradebook.late_policy.LatePolicy"
c.LatePolicy.late = ""

if "nbgrader.server_extensions.formgrader" in sys.modules:  # formgrader loads this file
    from autograder.gradebook.entrance import guard_formgrader

    guard_formgrader()

if "nbgrader.converters" in sys.modules:  # whatever a student's notebook is called
    from autograder.gradebook.entrance import guard_autograde

    guard_autograde()

if "nbgrader.api" in sys.modules:  # a submission's own maximum, not its assignment's
    from autograder.gradebook.own_maximum import count_own_maximum

    count_own_maximum()
