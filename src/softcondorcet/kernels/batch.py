"""What both stochastic losses share: a generator, the votes of a batch, the projected update, exp and log.

The generator is one uint64 counter, advanced in place: SplitMix64 (Steele, Lea and Flood 2014) scrambles a counter, so
a loop that fills noise has no chain of states and vectorises. numba's np.random is process-wide, and its exp and log
are library calls that stop vectorisation.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from softcondorcet.kernels.compile import fused

Array = npt.NDArray[Any]

LANES = 32  # short votes are handled this many at a time, side by side: the innermost loop runs over them
SHORT = 32  # a longer vote fills the vector unit by itself

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # SplitMix64's stride: 2^64 over the golden ratio, made odd
LOG2E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01  # ln 2 in two parts: the first ends in zero bits, so k * LN2_HIGH is exact
LN2_LOW = 1.90821492927058770002e-10
ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, which is left in the low bits
SQRT_HALF = np.int64(0x3FE6A09E667F3BCD)  # the bits of sqrt(1/2)


class Scratch(NamedTuple):
    """Working arrays of a run. A batch lies flat in `touched`, `x` and `d`, vote after vote or block after block."""

    picks: Array  # the votes of the batch
    first: Array  # where the votes of a block start, longest vote first
    length: Array
    row: Array  # entry i of lane q lies at row[i] + q within its block; rows get shorter as votes end
    touched: Array  # agent of each entry; unsigned, so that numba need not look for negative indices
    tier: Array  # tier of each entry of a block of lanes
    x: Array  # rating of each entry, in the form the loss wants it
    y: Array  # noise by entry
    d: Array  # gradient by entry


def scratch(batch: int, longest: int) -> Scratch:
    """Room for `batch` votes of length `longest`."""
    size = batch * longest
    by_lane = np.empty(LANES, np.int64), np.empty(LANES, np.int64), np.empty(SHORT + 1, np.int64)
    lane_tiers = np.empty(LANES * SHORT, np.int32)
    by_entry = np.empty(size, np.uint32), lane_tiers, np.empty(size), np.empty(size), np.empty(size)
    return Scratch(np.empty(batch, np.int64), *by_lane, *by_entry)


def seed_state(rng: np.random.Generator) -> Array:
    """A generator state for the kernels, drawn from the caller's generator."""
    return rng.integers(0, 2**64, size=1, dtype=np.uint64)


def frozen(values: npt.ArrayLike, dtype: npt.DTypeLike) -> Array:
    """A read-only view: one array type whoever made the array, so that each kernel is compiled once."""
    view = np.ascontiguousarray(values, dtype).view()
    view.flags.writeable = False
    return view


def batches(picks: npt.ArrayLike | None) -> Array:
    """Batches given by the caller, one row per step; no rows when they are to be drawn."""
    return np.empty((0, 0), np.int64) if picks is None else np.ascontiguousarray(picks, np.int64)


def alias_table(weight: Array) -> tuple[Array, Array]:
    """Walker's alias method: slot v keeps v with probability keep[v], else gives other[v]. Empty for equal weights."""
    n = len(weight)
    if np.all(weight == weight[:1]):
        return np.empty(0), np.empty(0, np.int64)
    # Up to a power of two, which rounds nothing: the sum of the smallest numbers there are has no inverse.
    share = np.ldexp(np.asarray(weight, np.float64), -int(np.frexp(np.max(weight))[1]))
    keep = (share * (n / np.sum(share))).tolist()
    other = list(range(n))
    short, full = [v for v in other if keep[v] < 1], [v for v in other if keep[v] >= 1]
    while short and full:
        low, high = short.pop(), full[-1]
        other[low] = high
        keep[high] -= 1 - keep[low]
        if keep[high] < 1:
            short.append(full.pop())
    for v in short + full:
        keep[v] = 1.0  # differs from 1 by rounding only
    return np.array(keep), np.array(other, np.int64)


@fused
def uniform(counter):
    """A number in (0, 1), both ends excluded: 52 random bits become the fraction of a float in [1, 2)."""
    z = (counter ^ (counter >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.uint64((z >> np.uint64(12)) | np.uint64(0x3FF0000000000000)).view(np.float64) - (1.0 - 2.0**-53)


@fused
def choose_votes(picks, given, step, n, keep, other, state):
    """Fill `picks` with row `step` of `given` if it has rows, else by drawing with replacement."""
    counter = state[0]
    for b in range(len(picks)):
        if len(given) > 0:
            picks[b] = given[step, b]
            continue
        counter += GOLDEN
        place = uniform(counter) * n
        v = np.int64(place)
        if len(keep) > 0 and place - v >= keep[v]:
            v = other[v]
        picks[b] = v
    state[0] = counter


@fused
def next_block(start, agent, tier, tied, short, b, filled, z):
    """Lay out the next votes of the batch from place `filled` on: one long vote, or up to LANES short ones.

    Returns the next b, the length of the (longest) vote and the number of entries laid out. In lanes the entries i of
    all votes lie side by side; with the longest vote first, the votes that have an entry i are a prefix.
    """
    lanes = 0
    while b < len(z.picks) and lanes < LANES:
        v = z.picks[b]
        first, length = start[v], start[v + 1] - start[v]
        if length > short and lanes > 0:
            break
        q = lanes
        while q > 0 and z.length[q - 1] < length:
            z.first[q], z.length[q] = z.first[q - 1], z.length[q - 1]
            q -= 1
        z.first[q], z.length[q] = first, length
        lanes += 1
        b += 1
        if length > short:
            for i in range(length):
                z.touched[filled + i] = agent[first + i]
            return b, length, length
    size = 0
    for i in range(z.length[0]):
        while z.length[lanes - 1] <= i:
            lanes -= 1
        z.row[i] = size
        for q in range(lanes):
            z.touched[filled + size + q] = agent[z.first[q] + i]
        if tied:
            for q in range(lanes):
                z.tier[size + q] = tier[z.first[q] + i]
        size += lanes
    z.row[z.length[0]] = size
    return b, z.length[0], size


@fused
def move(r, touched, d, filled, c, lo, hi):
    """Project r - c d on the box, for the touched agents; one touched twice is clipped after its whole gradient."""
    for e in range(filled):
        r[touched[e]] -= c * d[e]
    if filled < len(r):
        for e in range(filled):
            a = touched[e]
            r[a] = min(max(r[a], lo), hi)
    else:
        for a in range(len(r)):
            r[a] = min(max(r[a], lo), hi)


@fused
def exp(x):
    """e^x to 2 ulp for |x| <= 700: Cody-Waite reduction, then the Taylor polynomial on |t| <= ln(2) / 2."""
    shifted = x * LOG2E + ROUND
    k = shifted - ROUND
    t = x - k * LN2_HIGH - k * LN2_LOW
    p = 1.0 / 6227020800.0
    p = p * t + 1.0 / 479001600.0
    p = p * t + 1.0 / 39916800.0
    p = p * t + 1.0 / 3628800.0
    p = p * t + 1.0 / 362880.0
    p = p * t + 1.0 / 40320.0
    p = p * t + 1.0 / 5040.0
    p = p * t + 1.0 / 720.0
    p = p * t + 1.0 / 120.0
    p = p * t + 1.0 / 24.0
    p = p * t + 1.0 / 6.0
    p = p * t + 0.5
    p = p * t + 1.0
    p = p * t + 1.0
    return np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64) * p


@fused
def log(x):
    """Natural logarithm to a relative 3e-9, close to 1 too: enough for noise. 2 atanh(f / (2 + f)), 1 + f near 1."""
    bits = np.float64(x).view(np.int64)
    k = (bits - SQRT_HALF) >> 52
    f = np.int64(bits - (k << 52)).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    p = 2.0 / 9.0
    p = p * z + 2.0 / 7.0
    p = p * z + 2.0 / 5.0
    p = p * z + 2.0 / 3.0
    p = p * z + 2.0
    return k * (LN2_HIGH + LN2_LOW) + s * p
