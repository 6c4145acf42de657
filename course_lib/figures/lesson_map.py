"""The small map that opens a lesson: what of the Transformer is written in it."""

from collections.abc import Mapping

from course_lib.figures.living import LivingFigure
from course_lib.figures.transformer import LESSONS, architecture

# In the order of the lessons: what each of them writes of the Transformer.
_ATTENTIONS = ("self-attention", "causal attention", "cross-attention")
PARTS_OF_LESSONS: dict[str, tuple[str, ...]] = {
    "01": (*_ATTENTIONS, "softmax"),
    "02": ("self-attention", "cross-attention"),
    "03": _ATTENTIONS,
    "04": ("causal attention",),
    "05": ("positions",),
    "06": ("tokens",),
    "09": ("embedding", "feed-forward", "norm", "shift right", "logits"),
}
# Lessons that write parts anew, which are filled by then.
PARTS_WRITTEN_ANEW: dict[str, tuple[str, ...]] = {
    "12": ("causal attention", "feed-forward", "norm", "softmax"),
    "16": (
        *("shift right", "embedding", "positions", "self-attention"),
        *("causal attention", "norm", "softmax"),
    ),
}
DECODER_ONLY = {"12"}  # lessons whose model has no encoder


def lesson_map(
    lesson: str, *, alt: str | None = None, sections: Mapping[str, str] | None = None
) -> LivingFigure:
    """Draw the Transformer as a map: a lesson's parts lit, earlier lessons' filled.

    lesson : its number with two digits, such as "03"; the lessons are the keys of
        ``PARTS_OF_LESSONS`` and of ``PARTS_WRITTEN_ANEW``
    sections : part to the section of this lesson that writes it; with sections, the
        map has full size

    A part that several lessons work on is filled once the last of them is behind. What
    the lesson's model leaves out is grey.
    Raises ``ValueError`` for a lesson that writes no part of the Transformer.
    """
    if lesson not in {*PARTS_OF_LESSONS, *PARTS_WRITTEN_ANEW}:
        raise ValueError(
            f"lesson={lesson!r} writes no part of the Transformer; those that do are "
            f"{', '.join([*PARTS_OF_LESSONS, *PARTS_WRITTEN_ANEW])}"
        )
    parts: dict[str, str] = {}
    for number, names in PARTS_OF_LESSONS.items():
        for name in names:
            if number == lesson:
                parts[name] = "current"
            elif parts.get(name) != "current":
                parts[name] = "done" if number < lesson else "to come"
    parts |= dict.fromkeys(PARTS_WRITTEN_ANEW.get(lesson, ()), "current")
    lessons = {
        part: f"{LESSONS.get(part, lesson)}, section “{title}”"
        for part, title in (sections or {}).items()
    }
    return architecture(
        parts=parts,
        lessons=lessons,
        small=not sections,
        decoder_only=lesson in DECODER_ONLY,
        alt=alt,
    )
