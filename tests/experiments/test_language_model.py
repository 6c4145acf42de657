"""The language model's experiments: measures, equal sizes, copies, short trainings."""

import json

import pytest
import torch

from course_lib.corpora.plays import PlaySplit
from course_lib.experiments import blocks, cache_speed, language_model, sizes
from course_lib.lessons import tiny_shakespeare
from course_lib.lessons.environment import one_thread
from course_lib.nn.training import language

SPLIT = PlaySplit(
    "To be, or not to be: that is the question.\n" * 60, "To be.\n" * 9, "Or not.\n" * 9
)


@pytest.fixture(autouse=True)
def tiny_plays(monkeypatch):
    """Learn from one line, again and again."""
    monkeypatch.setattr(language, "play_split", lambda: SPLIT)
    monkeypatch.setattr(language_model, "play_split", lambda: SPLIT)
    monkeypatch.setattr(tiny_shakespeare, "play_split", lambda: SPLIT)
    tiny_shakespeare.plays_task.cache_clear()
    with one_thread():
        yield
    tiny_shakespeare.plays_task.cache_clear()


@pytest.mark.parametrize("kind", blocks.CHANGES)
def test_kinds_differ_by_less_than_3_percent_in_parameters(kind):
    task = tiny_shakespeare.plays_task(None)
    counts = [
        blocks.count_parameters(
            tiny_shakespeare.make_trainer(task, **blocks.options(each, task)).model
        )
        for each in ("2017", kind)
    ]
    assert abs(counts[1] / counts[0] - 1) < 0.03


def test_each_kind_but_the_last_changes_one_thing():
    assert [len(each) for each in blocks.CHANGES.values()][:-1] == [0, 1, 1, 1, 1, 1]
    together = {}
    for change in [*blocks.CHANGES.values()][:-1]:
        together |= change
    assert blocks.CHANGES["all"] == together | {"bias": False}


def test_blocks_are_measured_on_the_held_out_play():
    results = blocks.full(0, steps=2)
    assert len(results) == 6 * len(blocks.CHANGES)
    losses = {kind: results[f"{kind}, loss"] for kind in blocks.CHANGES}
    assert len(set(losses.values())) > 3  # they are not the same model
    assert blocks.full(0, steps=2)["all, loss"] == losses["all"]


def test_turns_train_as_at_once():
    task = tiny_shakespeare.plays_task(None)
    one, two, alone = (
        tiny_shakespeare.make_trainer(task, seed=seed, steps=3) for seed in (0, 1, 0)
    )
    milliseconds = blocks.train_in_turns({"one": one, "two": two})
    tiny_shakespeare.train_and_report(alone)
    assert one.losses == alone.losses != two.losses
    assert all(each > 0 for each in milliseconds.values())


def test_sizes_grow():
    results = sizes.full(0, steps=2)
    counts = [results[f"{size}, parameters"] for size in sizes.SIZES]
    assert counts == sorted(counts) and counts[-1] > 9 * counts[0]


def test_cache_speed_has_a_number_for_each_length():
    results = cache_speed.full(0, (4, 8))
    assert results["lengths"] == [4, 8]
    assert all(each > 0 for each in results["with cache"] + results["without cache"])


def test_longest_copy_counts_whole_words():
    copy = language_model.longest_copy
    assert copy("x be or\nnot to bee", "to be or not  to be") == "be or not to"
    assert copy("nothing", "not hing") == ""
    assert copy("", "to be") == ""
    assert copy("a b x a b c", "a b c d, a b x") == "a b x"


@pytest.mark.thorough
def test_full_trains_by_the_command_and_collects(tmp_path):
    result = language_model.full(1, fraction=4 / language_model.STEPS, folder=tmp_path)
    assert (result["steps"], len(result["losses"])) == (4, 4)
    assert [each["seed"] for each in result["samples"]] == list(range(20, 40))
    assert len({each["text"] for each in result["samples"]}) > 10
    assert result["bits_per_byte"] > 0
    assert "scoring_seconds" not in result
    (path,) = tmp_path.glob("*.pt")
    saved = path.stat().st_mtime_ns
    repeated = language_model.full(
        1, fraction=4 / language_model.STEPS, folder=tmp_path
    )
    assert path.stat().st_mtime_ns == saved
    assert repeated["bits_per_byte"] == result["bits_per_byte"]
    json.dumps(result)


def test_tiny_training_is_deterministic_and_reports():
    task, reports = tiny_shakespeare.plays_task(None), []
    losses = []
    for _ in range(2):
        torch.rand(3)
        trainer = tiny_shakespeare.make_trainer(task, steps=6, d_model=16)
        tiny_shakespeare.train_and_report(trainer, reports.append, every=3)
        losses.append(trainer.losses)
    assert losses[0] == losses[1]
    assert reports[:2] == reports[2:] and reports[0].startswith("step     3: loss ")
    assert tiny_shakespeare.held_out_bits_per_byte(trainer, task) > 0
    texts = [tiny_shakespeare.writes(trainer, task, seed=seed) for seed in (0, 0, 1)]
    assert texts[0] == texts[1] != texts[2]
