"""English to German: the course's translation task, split once and for all."""

from functools import cache as remember

from course_lib.corpora.splits import Split, split
from course_lib.corpora.translations import most_frequent_pairs


@remember
def translation_pairs() -> Split:
    """Give English texts of 2–14 words with their German, in three parts.

    The texts are Home Assistant's (Apache-2.0), cleaned as in
    ``course_lib.corpora.cleaning``; an English text occurs once, with its most frequent
    German. No part has a near copy of what another part has: what shares a skeleton,
    on either side, stays together.

    Raises ``DataFault``, which says what to run, if the data is not there.
    """
    return split(most_frequent_pairs("en", "de"))
