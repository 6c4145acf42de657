"""Windows of a text: from seed and step, shifted by one, shared by processes."""

import pytest
import torch

from course_lib.nn.training.distributed import SINGLE_PROCESS, ProcessGroup
from course_lib.nn.training.loop import TrainingConfig
from course_lib.nn.training.windows import WindowData

TEXT = list(range(100, 141))
CONFIG = TrainingConfig(steps=9, batch_tokens=14, seed=3)


def rows(data, step=0, config=CONFIG, group=SINGLE_PROCESS):
    batch = data.batch(step, config, group)
    return batch.inputs[0].tolist(), batch.target.tolist(), batch.n_targets


def test_targets_are_the_tokens_behind_the_inputs():
    inputs, targets, n_targets = rows(WindowData(TEXT, 4))
    assert len(inputs) == len(targets) == 3 and n_targets == 12
    for read, predicted in zip(inputs, targets, strict=True):
        assert read == list(range(read[0], read[0] + 4))
        assert predicted == [each + 1 for each in read]


def test_windows_follow_from_seed_and_step():
    data = WindowData(TEXT, 4)
    assert rows(data, 2) == rows(WindowData(TEXT, 4), 2) != rows(data, 3)
    other = TrainingConfig(steps=9, batch_tokens=14, seed=4)
    assert rows(data, 2) != rows(data, 2, other)


def test_each_window_comes_sooner_or_later():
    data = WindowData([1, 2, 3, 4], 2)
    windows = {tuple(row) for step in range(20) for row in rows(data, step)[0]}
    assert windows == {(1, 2), (2, 3)}


def test_an_epoch_reads_as_many_tokens_as_the_text_has():
    assert WindowData(TEXT, 4).batches_per_epoch(CONFIG) == 41 // 12
    assert WindowData(TEXT, 40).batches_per_epoch(CONFIG) == 1


def test_processes_share_the_windows_of_a_batch():
    data = WindowData(TEXT, 4)
    whole = rows(data)
    parts = [rows(data, group=ProcessGroup(rank, 2)) for rank in range(2)]
    for side in range(2):
        together = [row for part in parts for row in part[side]]
        assert sorted(together) == sorted(whole[side])
    assert parts[0][2] == parts[1][2] == whole[2]


def test_process_without_a_window_predicts_nothing():
    data = WindowData(TEXT, 4)
    inputs, targets, n_targets = rows(data, group=ProcessGroup(3, 4))
    assert len(inputs) == 1 and n_targets == 12
    assert targets == [[data.ignore_index] * 4]


def test_text_that_is_too_short_is_refused():
    with pytest.raises(ValueError, match="need 5 tokens, and the text has 4"):
        WindowData([1, 2, 3, 4], 4)
    assert torch.equal(
        WindowData([1, 2, 3], 2).batch(0, CONFIG, SINGLE_PROCESS).target[0],
        torch.tensor([2, 3]),
    )
