"""Each form of the field's own code gets what a careful teacher would give it."""

import pytest

from autograder.checking.registry import load
from tests.textbook import all_forms, result_of, verdict

FORMS = all_forms()


@pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])
def test_form_gets_what_it_must(form):
    assert verdict(result_of(form)) == form.expected


def test_each_form_is_there_once():
    assert len({form.name for form in FORMS}) == len(FORMS)


def test_each_refusal_is_named():
    for form in FORMS:
        if form.expected.startswith("refused"):
            names = {each.name for each in load(form.exercise).misconceptions}
            misconceptions = form.expected.removeprefix("refused: ").split(" & ")
            assert names.issuperset(misconceptions), form.name
        else:
            assert form.expected in ("full", "fine point open"), form.name
