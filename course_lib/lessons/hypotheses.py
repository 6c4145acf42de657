"""The hypotheses of a beam search, step by step (lesson 11): what the figure draws.

Apart from the search: whoever draws it imports no model.
"""

from dataclasses import dataclass

IN_BEAM, PRUNED, FINISHED = "kept", "pruned", "finished"


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis of one step.

    token_id : its newest token
    parent : index, in the step before, of the hypothesis that it continues; −1 in the
        first step, where it continues the start
    total : the sum of its log-probabilities
    score : that sum divided by the length penalty
    state : "kept", "pruned" or "finished"
    """

    token_id: int
    parent: int
    total: float
    score: float
    state: str


@dataclass(frozen=True)
class BeamTree:
    """All steps of a beam search.

    start_id : the token id with which every hypothesis begins
    steps : the hypotheses of each step, the greatest sum first
    n_continuations : for each step, how many hypotheses it chose from
    best : step and index of the hypothesis that has the best score at the end; None if
        there was no step
    """

    start_id: int
    steps: list[list[Hypothesis]]
    n_continuations: list[int]
    best: tuple[int, int] | None

    def token_ids(self, step: int, index: int) -> list[int]:
        """Return the tokens of a hypothesis, with the end and without the start."""
        token_ids: list[int] = []
        while step >= 0:
            hypothesis = self.steps[step][index]
            token_ids.append(hypothesis.token_id)
            step, index = step - 1, hypothesis.parent
        return token_ids[::-1]
