"""Dates and number words: right, all different, the same from run to run."""

import datetime
import itertools
import re

import pytest

from course_lib.corpora.generated import FORMATS, LOCALES, _written, dates, number_words

DRAWN = [dates, number_words]


@pytest.mark.parametrize("draw", DRAWN)
def test_same_seed_draws_the_same_and_more(draw):
    few, many = draw(50, seed=3), draw(200, seed=3)
    assert many[:50] == few
    assert draw(50, seed=4) != few
    assert len({pair.source for pair in many}) == 200
    assert draw(0, seed=3) == []


@pytest.mark.parametrize("draw", DRAWN)
@pytest.mark.parametrize("n", [-1, 100_001])
def test_number_of_pairs_is_checked(draw, n):
    with pytest.raises(ValueError, match=f"n={n} is not 0 … 100000"):
        draw(n, seed=0)


def test_date_contains_its_day_and_year():
    for pair in dates(300, seed=0):
        day = datetime.date.fromisoformat(pair.target)
        numbers = [int(number) for number in re.findall(r"\d+", pair.source)]
        assert day.year in numbers and day.day in numbers
        assert " ".join(pair.source.split()) == pair.source


def test_no_written_date_means_two_days():
    days: dict[str, set[datetime.date]] = {}
    for month, day in itertools.product(range(1, 13), repeat=2):
        for locale, style in itertools.product(LOCALES, FORMATS):
            date = datetime.date(2031, month, day)
            days.setdefault(_written(date, style, locale), set()).add(date)
    assert {len(dates) for dates in days.values()} == {1}


def test_year_is_at_several_positions():
    later = {pair.source.find(pair.target[:4]) > 6 for pair in dates(100, seed=0)}
    assert len(LOCALES) == 10
    assert later == {True, False}


def test_number_words_have_the_german_order():
    words = dict(number_words(3000, seed=0))
    assert words["seventy-three"] == "dreiundsiebzig"
    assert words["five"] == "fünf"
    assert any("tausend" in german for german in words.values())
