"""The riddle of lesson 11: a text that tells the systems apart, in any order."""

import pytest

from course_lib.experiments import record, translation
from course_lib.lessons.riddle import make_riddle

SYSTEMS = ("fixed", "additive", "transformer")


def samples(*rows):
    """Return what each system wrote; a row is a source and three translations."""
    return {
        system: [
            {"source": row[0], "target": "soll", "translation": row[1 + index]}
            for row in rows
        ]
        for index, system in enumerate(SYSTEMS)
    }


def test_riddle_takes_the_first_long_text_with_different_results():
    rows = samples(
        ("too short", "a", "b", "c"),
        ("long enough now", "a", "b", "b"),
        ("also long enough", "d", "e", "f"),
        ("long enough too", "g", "h", "i"),
    )
    riddle = make_riddle(rows, min_words=3)
    assert (riddle.source, riddle.wanted) == ("also long enough", "soll")


@pytest.mark.parametrize("seed", range(5))
def test_riddle_keeps_each_translation_with_its_author(seed):
    riddle = make_riddle(samples(("one", "d", "e", "f")), min_words=1, seed=seed)
    authors = dict(zip(riddle.translations, riddle.authors, strict=True))
    assert authors == dict(zip("def", SYSTEMS, strict=True))


def test_riddle_order_depends_on_the_seed():
    rows = samples(("one", "d", "e", "f"))
    orders = {tuple(make_riddle(rows, 1, seed).authors) for seed in range(30)}
    assert len(orders) == 6


def test_riddle_is_refused_if_translations_never_differ():
    with pytest.raises(ValueError, match=r"3 words or more .* fixed, additive"):
        make_riddle(samples(("one two three", "d", "d", "f")), min_words=3)


def test_riddle_of_the_lesson_is_not_in_the_table_order():
    run = record.read("translation").runs[0]
    written = {name: run[f"{name}, samples"] for name in SYSTEMS}
    riddle = make_riddle(written, translation.MIN_WORDS)
    assert riddle.authors != list(SYSTEMS)
