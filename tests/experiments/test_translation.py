"""Three systems at equal time: their commands, measures, record and tables."""

import json
import time
from dataclasses import asdict, replace

import pytest
import torch

from course_lib.corpora.pairs import Pair, Split
from course_lib.experiments import translation, translation_tables
from course_lib.experiments.record import Record
from course_lib.nn.training import checkpoints
from course_lib.nn.training.subwords import train_tokenizer
from course_lib.nn.training.tasks import SYSTEMS, TASKS, Recipe

SAMPLES = [
    {"source": "the door is now open", "target": "die Tür ist auf", "translation": "x"}
]
SCORES = {
    "bleu": 30.0,
    "chrf": 50.0,
    "exact": 0.2,
    "greedy": {"bleu": 29.0, "chrf": 49.0, "exact": 0.1},
    "by_length": [
        {"from": 1, "to": 2, "n": 1, "bleu": 9.0, "chrf": 19.0},
        {"from": 3, "to": 3, "n": 1, "bleu": 8.0, "chrf": 18.0},
    ],
    "without near copies": {"n": 1, "bleu": 19.0, "chrf": 41.0},
    "shown": SAMPLES,
    "seconds": 9.0,  # with the scoring
}


@pytest.fixture
def run(monkeypatch):
    """Record the commands, and make no training of them."""
    commands = []

    def main(arguments):
        commands.append(arguments)
        return 0

    monkeypatch.setattr(translation, "main", main)
    return commands


def save_system(folder, system):
    """Write a checkpoint of a tiny untrained system, and scores beside it."""
    subwords = train_tokenizer(["the door is now open", "die Tür ist auf"], 60)
    options = SYSTEMS[system].config_options(d_model=8)
    if system == "transformer":
        options["n_heads"] = 2
    model = SYSTEMS[system].make({"vocab_size": len(subwords), **options}, "cpu")
    training = {"parameters": model.state_dict(), "losses": torch.arange(120.0)}
    path = folder / f"{system}.pt"
    whole = {"system": system, "config": asdict(model.config), "training": training}
    whole["recipe"] = asdict(Recipe())
    whole["seconds"] = 4.0  # as it ran, which is not used
    checkpoints.save(path, whole, subwords)
    path.with_suffix(".json").write_text(json.dumps(SCORES))
    return path


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Measure untrained systems, without the real pairs."""
    errors = {"error types": dict.fromkeys(translation_tables.ERROR_TYPES, 1)}
    errors |= {"seen pairs": 1, "seen bleu": 2.0, "unseen pairs": 3}
    errors |= {"unseen bleu": 4.0}
    monkeypatch.setattr(translation, "greedy_errors", lambda *_: errors)
    return lambda system: translation.evaluate_system(save_system(tmp_path, system))


def test_train_system_runs_the_command(run, tmp_path):
    path = translation.train_system("additive", 2, 30, tmp_path)
    (command,) = run
    assert command[:4] == ["--task", "translation", "--system", "additive"]
    assert command[4:8] == ["--seed", "2", "--steps", "30"]
    assert command[-2:] == ["--output", str(path)]


def test_train_system_resumes_a_stopped_training(run, tmp_path):
    path = translation.train_system("fixed", 0, 30, tmp_path)
    path.touch()
    translation.train_system("fixed", 0, 30, tmp_path)
    assert run[1] == [*run[0], "--resume"]


def test_train_system_skips_a_finished_training(run, tmp_path):
    path = translation.train_system("fixed", 0, 30, tmp_path)
    path.with_suffix(".json").touch()
    translation.train_system("fixed", 0, 30, tmp_path)
    assert len(run) == 1


def test_seconds_are_steps_times_step_time(run, measured, monkeypatch, tmp_path):
    pace = {"fixed": 40.0, "additive": 60.0, "transformer": 50.0}
    monkeypatch.setattr(translation, "step_times", lambda _: pace)
    measures = measured("fixed")
    monkeypatch.setattr(translation, "evaluate_system", lambda _: measures)
    results = translation.full(0, fraction=0.01, folder=tmp_path)
    assert results["additive, milliseconds per step"] == 60.0
    assert results["additive, seconds"] == 3.4  # 56 steps
    assert results["fixed, seconds"] == 3.0
    assert results["transformer, seconds"] == 2.8


def test_step_times_measure_real_steps(monkeypatch):
    pairs = [Pair("the door is now open", "die Tür ist auf")] * 8
    split = Split(pairs, pairs, pairs)
    task = replace(TASKS["translation"], load_pairs=lambda: split, recipe=Recipe())
    monkeypatch.setitem(TASKS, "translation", task)
    before = time.perf_counter()
    pace = translation.step_times(0, n_rounds=1)
    spent = 1000 * (time.perf_counter() - before)
    assert pace.keys() == translation.STEPS.keys()
    assert 0 < sum(pace.values()) * translation.STEPS_PER_ROUND < spent


def test_failing_command_raises(monkeypatch, tmp_path):
    monkeypatch.setattr(translation, "main", lambda _: 130)
    monkeypatch.setattr(translation, "step_times", lambda _: {})
    with pytest.raises(RuntimeError, match="exit code 130"):
        translation.full(0, folder=tmp_path)


def test_evaluate_system_returns_plain_data(measured):
    measures = measured("transformer")
    assert measures["steps"] == 120 and measures["parameters"] > 0
    assert measures["bleu without near copies"] == 19.0
    assert measures["losses"][:2] == [0.5, 2.5] and len(measures["losses"]) == 60
    (attention_map,) = measures["attention maps"]
    assert len(attention_map["weights"]) == len(attention_map["target"])
    assert len(attention_map["weights"][0]) == len(attention_map["source"])
    assert all(abs(sum(row) - 1) < 0.1 for row in attention_map["weights"])  # rounded
    json.dumps(measures)  # plain data


def test_attention_maps_without_attention_have_no_weights(measured):
    assert measured("fixed")["attention maps"][0]["weights"] is None


def test_tables_have_each_system_once(measured):
    run = {
        f"{system}, {name}": value
        for system in translation.SYSTEM_NAMES
        for name, value in measured(system).items()
    }
    for system in translation.SYSTEM_NAMES:
        run[f"{system}, milliseconds per step"] = 50.0
        run[f"{system}, seconds"] = 300.0
    record = Record("translation", "command", {}, 1.0, [run])
    made = (
        translation_tables.trainings,
        translation_tables.scores,
        translation_tables.known_words,
    )
    for table in (each(record) for each in made):
        for label in translation.SYSTEM_NAMES.values():
            assert sum(row.startswith(label + " ") for row in table.splitlines()) == 1
    assert "30.0" in translation_tables.scores(record)
    assert translation_tables.length_ranges(record) == ["1–2", "3"]
    assert translation_tables.by_length(record)["Transformer"] == [[19.0, 18.0]]
    assert translation_tables.by_length(record, "bleu")["Transformer"] == [[9.0, 8.0]]
    assert [
        row.split()[-2:]
        for row in translation_tables.lengths(record, "bleu").splitlines()
    ][1:] == [["30.0", "1000"], ["9.0", "1"], ["8.0", "1"]]
    assert len(translation_tables.error_types(record).splitlines()) == 1 + len(
        translation_tables.ERROR_TYPES
    )
    assert SAMPLES[0]["source"] in translation_tables.greedy_and_beam(record)
    attention_map = translation_tables.attention_map(record, 0)
    assert attention_map["weights"].shape == (
        len(attention_map["targets"]),
        len(attention_map["sources"]),
    )


def test_rankings_compare_the_ranges_of_runs():
    runs = []
    for number in range(3):
        run = {}
        for i, name in enumerate(translation.SYSTEM_NAMES):
            score = 10.0 * i + number  # apart
            close = 30.0 + i + number  # each overlaps the next
            run[f"{name}, bleu"] = score
            run[f"{name}, by length"] = [{"from": 1, "to": 2, "n": 5, "bleu": close}]
        runs.append(run)
    record = Record("translation", "command", {}, 1.0, runs)
    _, over_all, short = translation_tables.rankings(record, "bleu").splitlines()
    assert over_all.split()[:4] == ["all", "Transformer", "21.0", "(20.0–22.0),"]
    assert over_all.endswith("GRU, attention 11.0 (10.0–12.0): ranges apart")
    assert short.startswith("1–2 words") and short.endswith(": ranges overlap")
    alone = Record("translation", "command", {}, 1.0, runs[:1])
    assert translation_tables.rankings(alone, "bleu").count(": one run each") == 2
