"""One change of the recipe after another: commands, parts, measures, table."""

import json
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from autograder.course import Course
from course_lib.corpora.pairs import Pair, Split
from course_lib.experiments import __main__ as command_line
from course_lib.experiments import translation, translation_ablation
from course_lib.experiments.record import Record, read
from course_lib.lessons.environment import one_thread
from course_lib.nn.training import checkpoints
from course_lib.nn.training.tasks import TASKS
from tests.experiments.test_translation import SCORES

COURSE = Course.here()


@pytest.fixture
def run(monkeypatch):
    """Record the commands, and write scores in place of a training."""
    commands = []

    def main(arguments):
        commands.append(arguments)
        path = translation.Path(arguments[arguments.index("--output") + 1])
        path.with_suffix(".json").write_text(json.dumps(SCORES))
        return 0

    monkeypatch.setattr(translation, "main", main)
    return commands


@pytest.fixture
def few_pairs(monkeypatch):
    pairs = [Pair("The door is open now.", "Die Tür ist auf.")] * 8
    pairs += [Pair("Open the door", "Tür öffnen"), Pair("the door", "die Tür")]
    split = Split(pairs, pairs, pairs[:3])
    task = replace(
        TASKS["translation"],
        load_pairs=lambda: split,
        load_more_pairs=lambda: replace(split, train=pairs * 2),
    )
    monkeypatch.setitem(TASKS, "translation", task)


def test_each_part_has_what_is_before_it_and_one_change():
    parts = [*translation_ablation.PARTS.values()]
    for before, part in pairwise(parts):
        changed = [
            name
            for name, chosen in vars(part.recipe).items()
            if chosen != vars(before.recipe)[name]
        ]
        assert len(changed) + (part.training != before.training) == 1
        is_added = part.label != translation_ablation.PARTS["unaligned"].label
        assert all(vars(part.recipe)[name] == is_added for name in changed)


def test_part_runs_the_command_with_every_option(run, tmp_path):
    measures = translation_ablation.run_part("pairs", 2, 0.01, tmp_path)
    (command,) = run
    text = " ".join(command)
    assert "--seed 2 --steps 60 --batch-tokens 256 --rate 0.003" in text
    assert "--preprocess --more-pairs --no-alignment-start" in text
    assert measures["steps"] == 60 and measures["bleu without near copies"] == 19.0


def test_finished_part_is_not_trained_again(run, tmp_path):
    for _ in range(2):
        translation_ablation.run_part("plain", 0, 0.01, tmp_path)
    assert len(run) == 1


def test_full_collects_parts_that_are_there(run, few_pairs, monkeypatch, tmp_path):
    translation_ablation.run_part("compute", 1, 0.01, tmp_path)
    pace = dict.fromkeys(translation_ablation.PARTS, 50.0) | {"compute": 80.0}
    monkeypatch.setattr(translation_ablation, "step_times", lambda _: pace)
    results = translation_ablation.full(1, 0.01, tmp_path)
    assert len(run) == len(translation_ablation.PARTS)
    assert results["plain, seconds"] == 3.0 and results["compute, seconds"] == 4.5
    assert results["compute, bleu"] == 30.0 and "plain, samples" not in results
    json.dumps(results)


def test_step_times_measure_every_part(few_pairs):
    pace = translation_ablation.step_times(0, n_rounds=1)
    assert pace.keys() == translation_ablation.PARTS.keys()
    assert min(pace.values()) > 0


def test_parts_really_train(few_pairs, tmp_path):
    with one_thread():
        measures = translation_ablation.run_part("alignment", 0, 1 / 3000, tmp_path)
    (path,) = tmp_path.glob("*.pt")
    checkpoint = checkpoints.load(path)
    assert checkpoint["recipe"] == {
        "preprocess": True,
        "more_pairs": True,
        "alignment_start": True,
    }
    assert checkpoint["training"]["step"] == measures["steps"] == 2
    assert measures["pairs without near copies"] == 0  # all are in training


def test_tables_have_each_part_once():
    labels = [part.label for part in translation_ablation.PARTS.values()]
    runs = [
        {
            f"{name}, {measure}": value
            for name in translation_ablation.PARTS
            for measure, value in {
                "bleu": 30.0 + seed,
                "bleu without near copies": 19.0,
                "chrf": 50.0,
                "exact": 0.2,
                "seconds": 120.0,
                "samples": [SCORES["shown"][0] | {"translation": f"by {name}"}],
            }.items()
        }
        for seed in range(3)
    ]
    record = Record("translation_ablation", "command", {}, 1.0, runs)
    added = {label: [30, 31, 32] for label in labels if label != "without alignment"}
    assert translation_ablation.bleus(record) == added
    _, *rows = translation_ablation.table(record).splitlines()
    assert [row[:20].strip() for row in rows] == labels
    assert "31.0   (30.0–32.0)" in rows[0] and rows[0].endswith("2.0")
    lines = translation_ablation.before_and_after(record)
    assert "before:    by plain" in lines and "after:     by compute" in lines


def call(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["experiments", *arguments])
    command_line.main()


def test_command_runs_one_part(monkeypatch, capsys):
    calls = []
    monkeypatch.setattr(
        translation_ablation, "run_part", lambda *part: calls.append(part)
    )
    call(monkeypatch, "translation_ablation", "--part", "pairs", "--seed", "2")
    assert calls == [("pairs", 2)]
    for name, words in {
        "translation_ablation": "'x' is no part of translation_ablation: it has plain",
        "norms": "'x' is no part of norms: it has none",
    }.items():
        with pytest.raises(SystemExit):
            call(monkeypatch, name, "--part", "x")
        assert words in capsys.readouterr().err


def test_page_has_the_numbers_of_the_records():
    page = (COURSE.root / "docs" / "data-and-models.md").read_text(encoding="utf-8")
    for experiment, names in (
        ("translation_ablation", translation_ablation.PARTS),
        ("translation", translation.SYSTEM_NAMES),
    ):
        runs = read(experiment)
        for name in names:
            bleu = runs.values(f"{name}, bleu")
            chrf, seconds = (
                runs.median(f"{name}, chrf"),
                runs.median(f"{name}, seconds"),
            )
            assert f"{np.median(bleu):.1f} ({min(bleu):.1f}–{max(bleu):.1f})" in page
            assert f"| {chrf:.1f} |" in page and f" {seconds / 60:.1f} |" in page
