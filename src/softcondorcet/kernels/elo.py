"""Elo, vote by vote: the ratings of a vote's agents move together, by what each won above expectation."""

from softcondorcet.kernels.batch import exp
from softcondorcet.kernels.compile import lean

FAR = 700.0  # exp is exact up to here; a lead of 700 units is certain to win in any case


@lean
def run_elo(r, start, agent, tier, weight, k, unit, lead, gain):
    """One pass over the votes, in place. `lead` and `gain` are scratch as long as the longest vote."""
    for v in range(len(weight)):
        first, size = start[v], start[v + 1] - start[v]
        who, place = agent[first : first + size], tier[first : first + size]
        for i in range(size):
            lead[i] = r[who[i]] / unit
            gain[i] = 0.0
        for i in range(size):
            own, total = lead[i], 0.0
            for j in range(i + 1, size):
                expected = 1.0 / (1.0 + exp(min(max(lead[j] - own, -FAR), FAR)))
                won = (0.5 if place[i] == place[j] else 1.0) - expected
                total += won
                gain[j] -= won
            gain[i] += total
        for i in range(size):
            r[who[i]] += k * weight[v] * gain[i]
