"""What a beam search remembers of one text: the beginnings that are still in play.

The search itself, for a batch and a model, is ``course_lib.nn.decoding.beam``.
"""

from collections.abc import Sequence

Beam = tuple[list[int], float]  # tokens without start; the sum of their logarithms


class Search:
    """The beams of one text. All rules are those of ``searching.beam_search``."""

    def __init__(self, beam_size: int, end: int) -> None:
        """Begin with one beam of no tokens.

        beam_size : how many beams, alive or ended, are kept at most
        end : the token that ends a text
        """
        self.beam_size = beam_size
        self.end = end
        self.live: list[Beam] = [([], 0.0)]
        self.done: list[Beam] = []

    def continue_by(
        self, choices: Sequence[tuple[Sequence[float], Sequence[int]]]
    ) -> list[int]:
        """Continue each live beam by its best tokens, and keep the best of all.

        choices : for each live beam logarithms of probabilities, and their tokens

        Returns for each beam that lives now the number of the one that it came from.
        """
        longer = [
            (total + log_p, row, token)
            for row, ((_, total), (log_ps, tokens)) in enumerate(
                zip(self.live, choices, strict=True)
            )
            for log_p, token in zip(log_ps, tokens, strict=True)
        ]
        longer.sort(key=lambda choice: -choice[0])
        before, self.live, came_from = self.live, [], []
        for total, row, token in longer[: self.beam_size - len(self.done)]:
            text = [*before[row][0], token]
            if token == self.end:
                self.done.append((text, total))
            else:
                self.live.append((text, total))
                came_from.append(row)
        return came_from

    def best(self, alpha: float) -> list[int]:
        """Give the best text without end; alpha favours longer ones.

        Source: Wu et al. (2016), Google's Neural Machine Translation System, section 7,
        equation 14.
        """

        def merit(each: Beam) -> float:
            text, total = each
            return total / ((5 + len(text)) / 6) ** alpha

        text, _ = max(self.done + self.live, key=merit)
        return [token for token in text if token != self.end]
