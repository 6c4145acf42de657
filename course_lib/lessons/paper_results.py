"""What the paper reports of its translators and their training, for lesson 11.

Source: Vaswani et al. (2017), Attention Is All You Need, sections 5.2 and 6.1 and
table 2, which has 41.8 for English to French where the text of section 6.1 has 41.0.
"""

from typing import NamedTuple


class PaperResult(NamedTuple):
    """One size of the paper's model.

    german, french : BLEU from English, on the test sets newstest2014
    steps : number of optimizer steps
    days : on all GPUs together
    """

    german: float
    french: float
    steps: int
    days: float


PAPER = {
    "base": PaperResult(27.3, 38.1, 100_000, 0.5),
    "big": PaperResult(28.4, 41.8, 300_000, 3.5),
}
GPUS = 8
OPERATIONS_PER_SECOND = 9.5e12  # of a P100, as the paper estimates them


def operations(result: PaperResult) -> float:
    """Estimate the floating-point operations of a training, as the paper does.

    >>> f"{operations(PAPER['big']):.1e}"
    '2.3e+19'
    """
    return result.days * 24 * 3600 * GPUS * OPERATIONS_PER_SECOND


def table(bleu: float, steps: float, seconds: float) -> str:
    """Format the paper's results and below them our own.

    bleu, steps, seconds : of our training on one processor core
    """
    lines = [f"{'':10} en–de  en–fr    steps  time                operations"]
    for name, result in PAPER.items():
        spent = f"{result.days} days, {GPUS} GPUs"
        lines.append(
            f"{'paper, ' + name:12}{result.german:4}{result.french:7}"
            f"{result.steps:9,}  {spent:20}{operations(result):.1e}"
        )
    spent = f"{seconds / 60:.0f} minutes, 1 core"
    lines.append(f"{'ours':12}{bleu:4.1f}{'–':>7}{steps:9,.0f}  {spent:20}–")
    return "\n".join(lines)
