"""What an instructor calls: from submissions to grades, feedback and reports."""

from pathlib import Path
from typing import Annotated

import typer

from autograder.course import Course

PANEL = "For instructors"
commands = typer.Typer()
Lesson = Annotated[str, typer.Argument(help="A lesson's number or name")]
Seconds = Annotated[
    float | None,
    typer.Option(
        min=1,
        help="Seconds that all of a submission may take; 300, if nbgrader_config.py "
        "does not say otherwise",
    ),
]
SeparateUser = Annotated[
    bool,
    typer.Option(
        "--separate-user",
        help="Where a container has no namespaces to give: run submissions as a user "
        "of their own, from root. docs/safety.md says what that lacks",
    ),
]


@commands.command("collect", rich_help_panel=PANEL)
def collect_command(
    archives: Annotated[
        list[Path], typer.Argument(help="Zip files of Canvas or Moodle, or folders")
    ],
    lesson: Annotated[
        str, typer.Option(help="Their lesson; what the notebooks' names say")
    ] = "",
    zone: Annotated[
        str,
        typer.Option(help="Of times without one, as Europe/Berlin; this machine's"),
    ] = "",
    times: Annotated[
        str,
        typer.Option(
            help="archive: take its times for those of handing in; none: take no time; "
            "auto: take them unless they are all alike, from when it was made"
        ),
    ] = "auto",
    force: Annotated[
        bool, typer.Option("--force", help="Replace what is newer, too")
    ] = False,
) -> None:
    """Put what Canvas or Moodle lets you download into submitted/.

    Students are found in the gradebook by Canvas's number, login or name. Exit code 1
    if something is not collected, which stderr says.
    """
    from autograder.commands import collect

    raise typer.Exit(
        collect.collect(Course.here(), archives, lesson, zone, times, force)
    )


@commands.command("grade", rich_help_panel=PANEL)
def grade_command(
    lesson: Lesson,
    jobs: Annotated[
        int, typer.Option(min=0, help="Submissions at a time; 0: as many as fit")
    ] = 0,
    student: Annotated[str, typer.Option(help="Grade this one only")] = "",
    sandbox: Annotated[
        bool,
        typer.Option(
            "--sandbox/--no-sandbox",
            help="--no-sandbox lets submissions do whatever you can: only for "
            "notebooks that you would run yourself",
        ),
    ] = True,
    anew: Annotated[
        bool,
        typer.Option(
            "--anew", help="Judge again what is known already, with the same inputs"
        ),
    ] = False,
    new_inputs: Annotated[
        bool,
        typer.Option(
            "--new-inputs",
            help="Draw other hidden inputs, from now on: what a class has learned of "
            "them is worth nothing. Everybody is judged again, in other lessons when "
            "they are next graded",
        ),
    ] = False,
    gradebook: Annotated[
        bool,
        typer.Option("--gradebook/--no-gradebook", help="Write nbgrader's gradebook"),
    ] = True,
    dask: Annotated[
        str, typer.Option(help="Address of a Dask scheduler that is to do the work")
    ] = "",
    output: Annotated[
        str, typer.Option(help="File for the results; build/grading/LESSON.jsonl")
    ] = "",
    excuse_missing: Annotated[
        bool | None,
        typer.Option(
            "--excuse-missing/--no-excuse-missing",
            help="Exercises that a submission does not contain do not count for it: "
            "for this run's students, from now on",
        ),
    ] = None,
    seconds_per_submission: Seconds = None,
) -> None:
    """Grade what students have submitted, each in a sandbox of its own.

    What is known is not graded twice, and a run that was stopped goes on. Exit code 1
    if something could not be graded or written, 130 after Ctrl-C; a bad submission gets
    its verdict and stops nothing.
    """
    from autograder.commands import grade  # rich and numpy: half a second
    from autograder.grading import classroom

    options = grade.GradeOptions(
        jobs=jobs or classroom.default_jobs(),
        student=student,
        isolated=sandbox,
        anew=anew,
        new_inputs=new_inputs,
        gradebook=gradebook,
        cluster=dask,
        output=output,
        seconds=seconds_per_submission,
        excuse_missing=excuse_missing,
    )
    raise typer.Exit(grade.grade(Course.here(), lesson, options))


@commands.command("judge", rich_help_panel=PANEL)
def judge_command(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Submitted notebooks")
    ] = None,
    lesson: Annotated[
        str, typer.Option(help="Their lesson, if their names do not say")
    ] = "",
    json: Annotated[
        bool,
        typer.Option("--json", help="As data, a line of JSON each: docs/judgement.md"),
    ] = False,
    recorded: Annotated[
        str,
        typer.Option(
            metavar="LESSON", help="Print what `grade` has found of a class, instead"
        ),
    ] = "",
    seed: Annotated[
        Path | None,
        typer.Option(help="File with the seed of the inputs; the course's own"),
    ] = None,
    sandbox: Annotated[
        bool, typer.Option("--sandbox/--no-sandbox", help="As for grade")
    ] = True,
    separate_user: SeparateUser = False,
    seconds_per_submission: Seconds = None,
) -> None:
    """Grade notebooks and say in words, or as JSON, why each gets its points.

    Outside a course folder the installed lessons are used, and hidden inputs are drawn
    for this call alone, unless --seed names a file. Exit code 1 if one file is invalid.
    """
    from autograder.commands import judge

    if bool(files) == bool(recorded):
        raise typer.BadParameter("name notebooks, or a lesson with --recorded")
    if recorded:
        raise typer.Exit(judge.say_recorded(Course.here(), recorded, as_json=json))
    options = judge.JudgeOptions(
        lesson,
        "user" if separate_user else "namespaces" if sandbox else "none",
        seconds_per_submission,
        json,
        seed,
    )
    raise typer.Exit(judge.judge(files or [], options))


@commands.command("verify", rich_help_panel=PANEL)
def verify_command(
    file: Annotated[Path, typer.Argument(help="A record.json")],
) -> None:
    """Judge again what somebody's completion record says is solved.

    Exit code 1 if an answer does not solve its exercise. It needs the sandbox, since
    the answers are somebody's code.
    """
    from autograder.commands import verify

    raise typer.Exit(verify.verify(file))


@commands.command("package", rich_help_panel=PANEL)
def package_command(
    lesson: Lesson,
    system: Annotated[
        str,
        typer.Option(
            "--for", help="gradescope, prairielearn, classroom50, exercism or github"
        ),
    ],
    folder: Annotated[
        Path | None,
        typer.Option(help="A new folder; build/packages/LESSON-SYSTEM"),
    ] = None,
    seed: Annotated[
        Path | None,
        typer.Option(help="File with the seed of the inputs; a new one is made"),
    ] = None,
    unsafe: Annotated[
        bool,
        typer.Option(
            "--unsafe",
            help="Judge all the same where submissions cannot be kept apart from the "
            "judge: they can then write their own results",
        ),
    ] = False,
    notebook: Annotated[
        Path | None,
        typer.Option(
            "--try", help="Judge this notebook here, in the system's own folders"
        ),
    ] = None,
) -> None:
    """Make what another grading system takes, to judge one lesson there.

    README.md in the folder says where it goes and what students see.
    """
    from autograder.commands import package, terminal

    made = package.make_package(
        Course.here(), lesson, system, folder=folder, seed=seed, unsafe=unsafe
    )
    terminal.say(f"{made} is the package; its README.md says where it goes.")
    if notebook:
        terminal.say(package.try_package(made, system, [notebook]))


@commands.command("extend", rich_help_panel=PANEL)
def extend_command(
    student: Annotated[str, typer.Argument(help="The student's id")],
    lesson: Lesson,
    days: Annotated[float, typer.Option(min=0, max=3650, help="Days more")] = 0,
    hours: Annotated[float, typer.Option(min=0, max=87600, help="Hours more")] = 0,
) -> None:
    """Extend a student's time for a lesson; without days and hours, take that back.

    It counts from the due date, instead of what was given before, and may be given
    before anything is handed in. It is nbgrader's own extension.
    """
    from autograder.commands import gradebook

    code = gradebook.extend(Course.here(), student, lesson, days * 24 + hours)
    raise typer.Exit(code)


@commands.command("drop", rich_help_panel=PANEL)
def drop_command(
    exercise: Annotated[str, typer.Argument(help="An exercise's name")],
    undo: Annotated[bool, typer.Option("--undo", help="Let it count again")] = False,
    lesson: Annotated[
        str, typer.Option(help="Its lesson, if several have the exercise")
    ] = "",
) -> None:
    """Let an exercise no longer count, for anybody.

    Points, grades by hand and comments come back with --undo.
    """
    from autograder.commands import gradebook

    raise typer.Exit(gradebook.drop(Course.here(), exercise, lesson, undo=undo))


@commands.command("feedback", rich_help_panel=PANEL)
def feedback_command(
    lesson: Lesson,
    student: Annotated[str, typer.Option(help="Of this one only")] = "",
) -> None:
    """Write a page for each student: verdicts, hints, grades and comments."""
    from autograder.commands import gradebook

    raise typer.Exit(gradebook.feedback(Course.here(), lesson, student))


@commands.command("summaries", rich_help_panel=PANEL)
def summaries_command(
    lesson: Lesson,
    student: Annotated[str, typer.Option(help="For this one only")] = "",
    sender: Annotated[
        str, typer.Option("--from", help="Sender, as 'Ada Lovelace <ada@example.org>'")
    ] = "",
    attach: Annotated[
        bool, typer.Option("--attach", help="Attach each student's feedback page")
    ] = False,
    link: Annotated[
        str,
        typer.Option(help="Address of a page, with {student} and {lesson} in it"),
    ] = "",
) -> None:
    """Write a short message for each student, for your mailer; nothing is sent.

    An .eml file each and a CSV file for a mail merge, in build/summaries. Exit code 1
    if somebody gets none, which stderr says.
    """
    from autograder.commands import gradebook
    from autograder.gradebook.summaries import Delivery

    delivery = Delivery(sender, link, attach)
    raise typer.Exit(gradebook.summaries(Course.here(), lesson, student, delivery))


@commands.command("report", rich_help_panel=PANEL)
def report_command(
    lesson: Annotated[
        str, typer.Argument(help="A lesson's number or name; the term without one")
    ] = "",
    output: Annotated[
        str, typer.Option(help="File for the page; build/report/LESSON.html")
    ] = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="Write the term's numbers as data, too")
    ] = False,
) -> None:
    """Write the instructor's page: the class's grades and its misconceptions.

    Without a lesson: the term, in build/report/term.html, and all lessons beside it.
    """
    from autograder.commands import gradebook

    raise typer.Exit(gradebook.report(Course.here(), lesson, output, as_json))


@commands.command("similar", rich_help_panel=PANEL)
def similar_command(
    lessons: Annotated[list[str], typer.Argument(help="Lessons, compared together")],
    limit: Annotated[int, typer.Option(min=1, max=500, help="Pairs at most")] = 30,
    least: Annotated[
        float | None,
        typer.Option(min=0, help="Rarity of a pair at least; more than by chance"),
    ] = None,
    anonymous: Annotated[
        bool,
        typer.Option("--anonymous", help="Without names; code may still hold some"),
    ] = False,
    output: Annotated[
        str, typer.Option(help="File for the page; build/similar/LESSON.html")
    ] = "",
) -> None:
    """Show pairs whose answers share more than class and lesson explain.

    Both codes stand side by side on a page, for you to look at: similar is no verdict.
    """
    from autograder.commands import similar

    code = similar.similar(
        Course.here(),
        lessons,
        limit=limit,
        least=least,
        anonymous=anonymous,
        output=output,
    )
    raise typer.Exit(code)


Send = Annotated[
    bool,
    typer.Option(
        "--send",
        help="With --to canvas: write no file, but say which grades would change "
        "in Canvas. CANVAS_TOKEN in the environment is the access token",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="With --send: send those grades")]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite", help="With --send: also over grades set by hand in Canvas"
    ),
]
Address = Annotated[str, typer.Option(help="Of Canvas; c.CanvasExportPlugin.address")]
CanvasCourse = Annotated[
    str,
    typer.Option("--course", help="Its number in Canvas; c.CanvasExportPlugin.course"),
]


@commands.command("export", rich_help_panel=PANEL)
def export_command(
    lessons: Annotated[
        list[str] | None, typer.Argument(help="Lessons; all that are graded")
    ] = None,
    to: Annotated[str, typer.Option(help="csv, canvas or moodle")] = "csv",
    missing_as_zero: Annotated[
        bool, typer.Option(help="0 points for what was not handed in, not no grade")
    ] = False,
    drop_lowest: Annotated[
        int,
        typer.Option(min=0, help="Add a total without so many lessons, the lowest"),
    ] = 0,
    output: Annotated[str, typer.Option(help="File; build/export/KIND.csv")] = "",
    send: Send = False,
    yes: Yes = False,
    overwrite: Overwrite = False,
    address: Address = "",
    canvas_course: CanvasCourse = "",
) -> None:
    """Write the grades as a spreadsheet or a learning management system reads them.

    With --send they go to Canvas itself. Exit code 1 if something is left out, which
    stderr says, 130 after Ctrl-C: the next call goes on.
    """
    from autograder.commands import gradebook
    from autograder.gradebook.sheets import MissingAs

    missing: MissingAs = "zero" if missing_as_zero else "empty"
    if send:
        if to != "canvas" or output or drop_lowest:
            raise typer.BadParameter(
                "--send goes with --to canvas, without --output and --drop-lowest"
            )
        options = gradebook.CanvasOptions(address, canvas_course, yes, overwrite)
        raise typer.Exit(
            gradebook.send_to_canvas(Course.here(), lessons or [], missing, options)
        )
    if yes or overwrite or address or canvas_course:
        raise typer.BadParameter(
            "--yes, --overwrite, --address and --course go with --send"
        )
    code = gradebook.export(
        Course.here(), lessons or [], to, missing, output, drop_lowest
    )
    raise typer.Exit(code)


@commands.command("open", rich_help_panel=PANEL)
def open_command(lesson: Lesson) -> None:
    """Enter a lesson into nbgrader's gradebook; grade does that by itself."""
    from autograder.commands import gradebook

    raise typer.Exit(gradebook.open_lesson(Course.here(), lesson))


@commands.command("roster", rich_help_panel=PANEL)
def roster_command(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV: nbgrader's columns, Canvas's gradebook or Moodle's participants"
        ),
    ],
    id_column: Annotated[
        str,
        typer.Option("--id", help="The column with the names of students' folders"),
    ] = "",
) -> None:
    """Enter names, e-mail addresses, LMS ids and sections into the gradebook.

    All rows or none: bad ones are named. An empty cell changes nothing, and nobody is
    removed.
    """
    from autograder.commands import gradebook

    raise typer.Exit(gradebook.roster(Course.here(), file, id_column))


@commands.command("doctor", rich_help_panel=PANEL)
def doctor_command() -> None:
    """Try whether this machine can grade submissions safely; say what is missing.

    Exit code 1 if something is missing that grading needs.
    """
    from autograder.commands import doctor

    raise typer.Exit(doctor.doctor(Course.here()))


@commands.command("demo", rich_help_panel=PANEL)
def demo_command() -> None:
    """Run a sample class from release to feedback and LMS files, in build/demo."""
    from autograder.demo.run import demo  # nbformat: half a second of imports

    raise typer.Exit(demo(Course.here()))
