"""Numbers and dates: cut and linked as the languages say, measured, recorded."""

import pytest
import torch

from course_lib.corpora.generated import dates, number_words
from course_lib.experiments import alignments, record
from course_lib.lessons.reference_alignments import (
    date_links,
    english_words,
    german_parts,
    number_links,
)
from course_lib.lessons.small_seq2seq import FIRST_TOKEN_ID, decoder_input


def test_german_parts_lose_no_letter():
    for pair in number_words(2000, seed=5):
        assert "".join(german_parts(pair.target)) == pair.target


def test_number_links_cover_all_german_parts_but_und():
    for pair in number_words(2000, seed=5):
        source, target = english_words(pair.source), german_parts(pair.target)
        links = number_links(source, target)
        linked = [i for i, part in enumerate(target) if part != "und"]
        assert [row for row, _ in links] == linked, pair
        assert len({column for _, column in links}) == len(links), pair


def test_number_links_cross_for_units_and_tens():
    source = english_words("seventy-three thousand")
    links = number_links(source, german_parts("dreiundsiebzigtausend"))
    assert links == [(0, 1), (2, 0), (3, 2)]


def test_number_links_tell_equal_digits_apart():
    source = english_words("seven thousand, seven hundred and seventy-seven")
    target = german_parts("siebentausendsiebenhundertsiebenundsiebzig")
    assert number_links(source, target) == [
        (0, 0), (1, 1), (2, 2), (3, 3), (4, 6), (6, 5),
    ]  # fmt: skip


def test_date_links_join_equal_digits():
    for pair in dates(2000, seed=5):
        for row, column in date_links(*pair):
            if row not in (5, 6):
                assert pair.target[row] == pair.source[column], pair


@pytest.mark.parametrize(
    ("source", "target", "month"),
    [
        ("lunes, 19 de septiembre de 1966", "1966-09-19", "septiembre"),
        ("Sunday, August 26, 2096", "2096-08-26", "August"),
        ("24.11.1950", "1950-11-24", "11"),
        ("22 janv. 2024", "2024-01-22", "janv"),
        ("maanantai 20. syyskuuta 2010", "2010-09-20", "syyskuuta"),
    ],
)
def test_date_links_find_the_month(source, target, month):
    linked = {column for row, column in date_links(source, target) if row in (5, 6)}
    assert "".join(source[column] for column in sorted(linked)) == month


def test_batches_contain_no_held_out_pair():
    task = alignments.numbers_task(400)
    held_out = {tuple(task.encode([pair[0]])[0].tolist()) for pair in task.pairs[-300:]}
    import numpy as np

    source, _ = task.batch(np.random.default_rng(0))
    rows = {tuple(number for number in row if number) for row in source.tolist()}
    assert rows and not rows & held_out


def test_examples_are_new_and_in_the_vocabulary():
    for name, task in (
        ("numbers", alignments.numbers_task()),
        ("dates", alignments.dates_task()),
    ):
        source, target = alignments.example(name)
        assert tuple(source) not in {tuple(pair[0]) for pair in task.pairs}
        assert task.encode([source, target]).max() < FIRST_TOKEN_ID + len(
            task.vocabulary
        )
        assert task.links(source, target)


def test_weights_of_new_states_are_the_next_rows():
    task = alignments.numbers_task(400)
    model = alignments.train(task, steps=2)
    pair = alignments.example("numbers")
    late = alignments.weights_of_new_states(model, task, *pair)
    torch.testing.assert_close(late[:-1], alignments.weights(model, task, *pair)[1:])


def test_weights_without_attention_are_refused():
    task = alignments.numbers_task(400)
    model = alignments.train(task, "none", steps=1)
    with pytest.raises(ValueError, match="no weights"):
        alignments.weights(model, task, *alignments.example("numbers"))


def test_record_supports_the_lesson():
    for run in record.read("alignments").runs:
        for name, task in (
            ("numbers", alignments.numbers_task()),
            ("dates", alignments.dates_task()),
        ):
            even = alignments.uniform_mass(task)
            assert run[f"{name}, additive, mass"] > 3 * even
            assert run[f"{name}, additive, long"] > run[f"{name}, none, long"]


@pytest.mark.parametrize("kind", ["none", "additive", "multiplicative"])
def test_states_and_weights_are_those_of_each_step(kind):
    task = alignments.numbers_task(400)
    model = alignments.train(task, kind, steps=2, d_hidden=8)
    source, target = task.pairs[0]
    drawn = alignments.states_and_weights(model, task, source, target)
    assert drawn["hidden_states"].shape == (len(source) + 1, 16)
    state = model.initial_state(model.encode(task.encode([source])))
    states = [state.hidden]
    for token_ids in decoder_input(task.encode([target])).unbind(dim=1):
        state = model.step(token_ids, state)[1]
        states.append(state.hidden)
    expected = torch.cat(states).detach()
    torch.testing.assert_close(torch.tensor(drawn["decoder_states"]), expected)
    if kind == "none":
        assert drawn["weights"] is None
        return
    weights = torch.tensor(drawn["weights"])
    assert torch.equal(weights, alignments.weights(model, task, source, target))
    mean = weights @ torch.tensor(drawn["hidden_states"])
    torch.testing.assert_close(torch.tensor(drawn["contexts"]), mean)
