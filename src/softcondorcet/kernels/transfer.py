"""Single transferable vote: for whom votes count, and how they move on when agents leave.

A vote counts for the agents of its best tier that has any left, in equal shares. `head` is where that tier begins in a
vote, or the end of the vote when it has run out; `sharing` is how many of the tier are left, `worth` what the vote is
still worth, `score` what each agent holds.
"""

from softcondorcet.kernels.compile import lean


@lean
def settle(v, start, agent, tier, staying, head, sharing, worth, score):
    """Move a vote on to its best tier with agents that stay, and add its shares to their scores."""
    while head[v] < start[v + 1]:
        first = last = head[v]
        left = 0
        while last < start[v + 1] and tier[last] == tier[first]:
            left += staying[agent[last]]
            last += 1
        if left > 0:
            sharing[v] = left
            add_shares(v, worth[v] / left, start, agent, tier, staying, head, score)
            return
        head[v] = last


@lean
def add_shares(v, share, start, agent, tier, staying, head, score):
    """Add a share to each agent that a vote counts for."""
    e = head[v]
    while e < start[v + 1] and tier[e] == tier[head[v]]:
        if staying[agent[e]]:
            score[agent[e]] += share
        e += 1


@lean
def settle_all(start, agent, tier, staying, head, sharing, worth, score):
    """The first count."""
    for v in range(len(start) - 1):
        settle(v, start, agent, tier, staying, head, sharing, worth, score)


@lean
def leave(leaving, kept, row, entry, vote, start, agent, tier, staying, head, sharing, worth, score, spent, touched):
    """Agents leave together; each keeps the part `kept` of what it holds and passes on the rest.

    Agent x stands in the votes ``vote[row[x]:row[x + 1]]`` at ``entry[...]``. All votes that count for one of them are
    taken back before any moves on, so that the order of `leaving` does not matter. Scratch: `spent`, all -1; `touched`.
    """
    votes = 0
    for n in range(len(leaving)):
        x = leaving[n]
        for k in range(row[x], row[x + 1]):
            v = vote[k]
            if head[v] < start[v + 1] and tier[entry[k]] == tier[head[v]]:
                if spent[v] < 0.0:
                    spent[v] = 0.0
                    touched[votes] = v
                    votes += 1
                spent[v] += kept * worth[v] / sharing[v]
    for n in range(votes):
        v = touched[n]
        add_shares(v, -worth[v] / sharing[v], start, agent, tier, staying, head, score)
    for n in range(len(leaving)):
        staying[leaving[n]] = False
    for n in range(votes):
        v = touched[n]
        worth[v] -= spent[v]
        spent[v] = -1.0
        settle(v, start, agent, tier, staying, head, sharing, worth, score)
