"""Ranked pairs: lock one edge after the other unless it closes a cycle, by an order that is kept up to date."""

from softcondorcet.kernels.compile import lean


@lean
def lock(winner, loser, at, place, row, partner, filled, side, found, seen, locked):
    """Set locked[e] for each edge, taken in turn, that closes no cycle with those locked before.

    `at` lists the agents so that all locked edges lead forward, `place` is its inverse; any order will do to start
    with. An edge that leads forward is locked at once. For one that leads back, from a to b, two searches walk along
    locked edges between the places of both: down from b and up from a, the one that has worked less goes on. If they
    meet, b leads to a: a cycle. If one of them ends, what it found moves past the other's end, and a stands before b.

    Scratch, first index 0 for down and 1 for up: row, partner, filled (locked edges of each agent so far), found,
    seen (how many were found, walked from, and what that cost); side marks who found an agent.
    """
    for e in range(len(winner)):
        a, b = winner[e], loser[e]
        if place[a] > place[b]:
            way = search(a, b, place, row, partner, filled, side, found, seen)
            if way >= 0:
                move(place[b], place[a], way, at, place, side, found)
            for d in range(2):
                for k in range(seen[d, 0]):
                    side[found[d, k]] = 0
            if way < 0:
                continue
        locked[e] = True
        partner[0, row[0, a] + filled[0, a]] = b
        filled[0, a] += 1
        partner[1, row[1, b] + filled[1, b]] = a
        filled[1, b] += 1


@lean
def search(a, b, place, row, partner, filled, side, found, seen):
    """Which search ended, 0 down from b or 1 up from a; -1 if they met."""
    low, high = place[b], place[a]
    for d in range(2):
        found[d, 0] = a if d else b
        side[found[d, 0]] = d + 1
        seen[d, 0], seen[d, 1], seen[d, 2] = 1, 0, 0
    while True:
        d = 1 if seen[1, 2] < seen[0, 2] else 0
        if seen[d, 1] == seen[d, 0]:
            return d
        x = found[d, seen[d, 1]]
        seen[d, 1] += 1
        seen[d, 2] += filled[d, x] + 1
        for k in range(row[d, x], row[d, x] + filled[d, x]):
            y = partner[d, k]
            if side[y] == 2 - d:
                return -1
            if side[y] == 0 and low < place[y] < high:
                side[y] = d + 1
                found[d, seen[d, 0]] = y
                seen[d, 0] += 1


@lean
def move(low, high, way, at, place, side, found):
    """Close ranks between two places: what search 0 found goes to the end, or what search 1 found to the beginning."""
    step = -1 if way else 1
    source, goal, kept = high if way else low, high if way else low, 0
    for _ in range(high - low + 1):
        x = at[source]
        if side[x] == way + 1:
            found[way, kept] = x  # in order of place now: edges among them stay forward
            kept += 1
        else:
            at[goal], place[x] = x, goal
            goal += step
        source += step
    for k in range(kept):
        at[goal], place[found[way, k]] = found[way, k], goal
        goal += step
