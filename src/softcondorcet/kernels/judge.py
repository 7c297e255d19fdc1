"""Votes judged by ratings that have not seen them: mistakes and log-loss, vote by vote."""

import math

from softcondorcet.kernels.compile import lean


@lean
def judge(start, agent, tier, values, unit, mistakes, surprise):
    """For each vote: pairs that the ratings put the other way round, and minus the sum of log-likelihoods of its pairs.

    Equal ratings are half a mistake, and so is a tie in a vote, whatever the ratings. With `unit` 0 ratings are no
    log-odds, and `surprise` is left alone; a tie in a vote counts as half a win for each.
    """
    for v in range(len(start) - 1):
        for i in range(start[v], start[v + 1]):
            for j in range(i + 1, start[v + 1]):
                lead = values[agent[i]] - values[agent[j]]
                tied = tier[i] == tier[j]
                if tied or lead == 0.0:
                    mistakes[v] += 0.5
                elif lead < 0.0:
                    mistakes[v] += 1.0
                if unit > 0.0:
                    d = lead / unit
                    lost = max(-d, 0.0) + math.log1p(math.exp(-abs(d)))
                    surprise[v] += lost + 0.5 * d if tied else lost
