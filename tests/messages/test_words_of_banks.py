"""What the banks' sentences say to a learner is what a native speaker would write."""

import re

import pytest

from autograder.checking.registry import exercise_names, load

ODD = re.compile(
    r"\bstays? as (it|they) (is|are|was|were)\b|\bwhole numbers?\b|\banew\b"
    r"|\bby heart\b|\btempting\b|\bbehind the point\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("name", exercise_names())
def test_sentences_of_a_bank_have_no_odd_phrases(name):
    exercise = load(name)
    sentences = [case.claim for case in exercise.cases]
    for each in exercise.misconceptions:
        sentences += [each.diagnosis, each.question, each.why]
    assert [each for each in sentences if ODD.search(each)] == []
