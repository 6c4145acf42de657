"""The benchmark of the diagnosis: ``python -m tests.unseen --table``.

Two tables, in Markdown. The first has what people judged of each set before anything
was changed for it: its ``.csv``, with what ``sets.toml`` adds. The second has what
becomes of the same answers now, as ``--judge`` has written it into ``judged.csv``;
nobody has read what they are told now.
"""

import csv
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.unseen import interval, judged, read_answers

HERE = Path(__file__).parent
NOT_KNOWN = "not recorded"
# Of two raters who differ, the one who saw less in a sentence counts.
VERDICTS = ("accepted", "false", "none", "vague", "true")
JUDGED = "judged.csv"
FIELDS = (
    "set",
    "date",
    "wrong",
    "rejected",
    "named",
    "told",
    "named_as_rated",
    "right",
    "accepted",
    "solved",
)

Verdicts = dict[tuple[str, int], dict[str, str]]


def read_verdicts(path: Path) -> Verdicts:
    """Read a set's verdicts by exercise and number.

    Where a second rater's stand in the column ``second``, ``verdict`` keeps the
    first's, and ``counts`` is the one that counts.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    for row in rows:
        both = row["verdict"], row.get("second") or row["verdict"]
        row["counts"] = min(both, key=VERDICTS.index)
    return {(row["exercise"], int(row["number"])): row for row in rows}


def agreement(verdicts: Verdicts) -> str:
    """Return in how many verdicts two raters agree, with Cohen's kappa.

    J. Cohen, Educational and Psychological Measurement 20 (1960), 37–46: agreement
    beyond what two raters would have by chance.
    """
    pairs = [
        (row["verdict"], row["second"])
        for row in verdicts.values()
        if row.get("second")
    ]
    if not pairs:
        return "one verdict each"
    same = sum(a == b for a, b in pairs) / len(pairs)
    first, second = (Counter(each) for each in zip(*pairs, strict=True))
    by_chance = sum(first[each] * second[each] for each in first) / len(pairs) ** 2
    kappa = 1.0 if by_chance == 1 else (same - by_chance) / (1 - by_chance)
    return f"{100 * same:.0f} % of {len(pairs)}, κ {kappa:.2f}"


def read_sets(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what is known of the sets, by date."""
    sets = tomllib.loads((folder / "sets.toml").read_text(encoding="utf-8"))
    return dict(sorted(sets.items(), key=lambda each: each[1]["judged"]))


def rated_table(folder: Path = HERE) -> str:
    """Return the table of what people judged of each set."""
    columns = (
        "set",
        "lessons",
        "judged",
        "raters agree",
        "wrong answers",
        "rejected",
        "told something true and specific",
        "vague",
        "told something false",
        "named",
        "right answers",
        "accepted",
    )
    rows = []
    for name, about in read_sets(folder).items():
        verdicts = read_verdicts(folder / f"{name}.csv")
        answers = [*read_answers(folder / name)]
        n_right = sum(answer.right for answer in answers)
        n_wrong = len(answers) - n_right
        n = Counter(row["counts"] for row in verdicts.values())
        named = sum(bool(row["diagnosis"]) for row in verdicts.values())
        share = _share_of(n_wrong)
        accepted = about.get("accepted")
        rows.append(
            (
                name,
                about["lessons"],
                about["judged"],
                agreement(verdicts),
                n_wrong,
                share(len(verdicts) - n["accepted"]),
                share(n["true"]),
                n["vague"],
                share(n["false"]),
                share(named),
                n_right,
                NOT_KNOWN if accepted is None else _share_of(n_right)(accepted),
            )
        )
    return _markdown(columns, rows)


def judged_table(folder: Path = HERE) -> str:
    """Return the table of what becomes of the answers of each set now."""
    columns = (
        "set",
        "judged again",
        "wrong answers",
        "rejected",
        "named",
        "named or told a sentence",
        "named as when it was read",
        "right answers",
        "accepted",
        "solved, with a fine point open",
    )
    stored = _stored(folder)
    rows: list[tuple[Any, ...]] = []
    for name in read_sets(folder):
        if name not in stored:
            rows.append((name, "not yet", *["–"] * (len(columns) - 2)))
            continue
        n = {each: int(stored[name][each]) for each in FIELDS[2:]}
        share = _share_of(n["wrong"])
        rows.append(
            (
                name,
                stored[name]["date"],
                n["wrong"],
                *(
                    share(n[each])
                    for each in ("rejected", "named", "told", "named_as_rated")
                ),
                n["right"],
                _share_of(n["right"])(n["accepted"]),
                n["solved"] - n["accepted"],
            )
        )
    return _markdown(columns, rows)


def judge_sets(names: Iterable[str], n_jobs: int = 1, folder: Path = HERE) -> None:
    """Judge all answers of sets and store the counts, with today's date.

    Answers that cannot be judged are named on stderr and count nowhere.
    """
    for name in names:
        verdicts = read_verdicts(folder / f"{name}.csv")
        exercises = sorted(path.stem for path in (folder / name).glob("*.txt"))
        call = partial(count_answers, folder / name, verdicts)
        # Threads and locks of libraries do not survive a fork.
        with ProcessPoolExecutor(n_jobs, get_context("spawn")) as pool:
            count = sum(pool.map(call, exercises), Counter[str]())
        row = {"set": name, "date": f"{datetime.now(UTC).date()}"}
        row |= {each: f"{count[each]}" for each in FIELDS[2:]}
        stored = _stored(folder) | {name: row}
        in_order = (stored[each] for each in read_sets(folder) if each in stored)
        with (folder / JUDGED).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(in_order)


def count_answers(folder: Path, verdicts: Verdicts, exercise: str) -> Counter[str]:
    """Judge the answers to one exercise and count what becomes of them."""
    count: Counter[str] = Counter()
    for answer in read_answers(folder):
        if answer.exercise != exercise:
            continue
        try:
            result = judged(answer)
        except Exception as error:
            print(f"{exercise} {answer.number}: {error!r}", file=sys.stderr)
            continue
        if answer.right:
            count.update(right=1, accepted=result.passed, solved=result.solved)
            continue
        named = bool(result.diagnosis or result.blamed)
        count.update(wrong=1, rejected=not result.passed, named=named)
        count.update(told=named or bool(result.evidence))
        rated = verdicts.get((exercise, answer.number), {"diagnosis": ""})
        same = bool(result.diagnosis) and result.diagnosis == rated["diagnosis"]
        count.update(named_as_rated=same)
    return count


def _stored(folder: Path) -> dict[str, dict[str, str]]:
    """Return what ``--judge`` has stored, by set."""
    path = folder / JUDGED
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {row["set"]: row for row in csv.DictReader(file)}


def _share_of(total: int) -> Callable[[int], str]:
    """Return a function that writes a count with its share and 95 % interval."""
    return lambda n: f"{n} · {interval(n, total)}"


def _markdown(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
