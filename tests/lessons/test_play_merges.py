"""The merges of the plays with which lesson 06 begins."""

from course_lib.bpe import train_bpe
from course_lib.corpora.plays import plays
from course_lib.lessons import play_merges


def test_merges_are_those_that_the_exercise_learns():
    words = {tuple("cat"): 4, tuple("mat"): 5, tuple("mats"): 2}
    text = "Cat cat CAT cat, mat mat mat mat mat; mats mats a"
    learned = play_merges.learn(text, 4)
    assert [(left, right) for left, right, _ in learned] == train_bpe(words, 4)
    assert [count for *_, count in learned] == [11, 7, 4, 2]


def test_stored_merges_are_learned_from_the_plays():
    learned = play_merges.learn("\n".join(plays().values()), 60)
    assert play_merges.load()[:60] == learned
    assert len(play_merges.load()) == play_merges.N_MERGES
