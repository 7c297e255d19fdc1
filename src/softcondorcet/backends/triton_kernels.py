"""Kernels for an NVIDIA GPU, in Triton: the gradient of the pairwise family, for one problem or for many resamples.

One program a row, as on the CPU: every agent's gradient is written once, without atomics, and sums are taken in a fixed
order, so that the same data gives the same bits. A directed pair is 4 bytes of column and 4 or 8 of margin, read once
and not kept in the cache, which is for the ratings that are gathered.
"""

import triton
import triton.language as tl


@triton.jit
def pairwise_gradient(
    row, column, margin, played, x, gradient, q, SHARP: tl.constexpr, FLAT: tl.constexpr, BLOCK: tl.constexpr
):
    """As ``kernels.pairwise.family_gradient``; SHARP is q = 1, where only margins count, FLAT is q = 0."""
    a = tl.program_id(0)
    first = tl.load(row + a)
    last = tl.load(row + a + 1)
    own = tl.load(x + a)
    total = tl.zeros([BLOCK], dtype=x.dtype.element_ty)
    for start in range(first, last, BLOCK):
        k = start + tl.arange(0, BLOCK)
        there = k < last
        c = tl.load(column + k, mask=there, other=0, eviction_policy="evict_first")
        m = tl.load(margin + k, mask=there, other=0.0, eviction_policy="evict_first").to(own.dtype)
        d = own - tl.load(x + c, mask=there, other=0.0)
        t = tl.exp(-tl.abs(d))
        high = 1.0 / (1.0 + t)
        low = t * high
        if SHARP:
            total -= m * (low * high)
        else:
            n = tl.load(played + k, mask=there, other=0.0, eviction_policy="evict_first").to(own.dtype)
            p = tl.where(d >= 0, high, low)
            rest = tl.where(d >= 0, low, high)
            if FLAT:
                total += n * (p - 0.5) - 0.5 * m
            else:
                sharp = tl.load(q)  # by address: as a plain argument it would be a single
                log_high = -tl.log(1.0 + t)
                log_p = tl.where(d >= 0, log_high, log_high + d)
                log_rest = tl.where(d >= 0, log_high - d, log_high)
                total += 0.5 * (n - m) * tl.exp(sharp * log_rest) * p - 0.5 * (n + m) * tl.exp(sharp * log_p) * rest
    tl.store(gradient + a, tl.sum(total, 0))


@triton.jit
def resampled_gradient(row, column, pair, margin, x, gradient, R: tl.constexpr, BLOCK: tl.constexpr):
    """The case q = 1 for R resamples side by side: ``margin[pair, r]`` seen from the left, ``x[agent, r]``.

    `pair` holds the number of a row's pair plus one, negative where the row is the pair's right agent.
    """
    a = tl.program_id(0)
    first = tl.load(row + a)
    last = tl.load(row + a + 1)
    r = tl.arange(0, R)
    own = tl.load(x + a * R + r)
    total = tl.zeros([R], dtype=tl.float32)
    for start in range(first, last, BLOCK):
        k = start + tl.arange(0, BLOCK)
        there = k < last
        c = tl.load(column + k, mask=there, other=0, eviction_policy="evict_first").to(tl.int64)
        signed = tl.load(pair + k, mask=there, other=1, eviction_policy="evict_first").to(tl.int64)
        place = tl.abs(signed) - 1
        m = tl.load(margin + place[:, None] * R + r[None, :], mask=there[:, None], other=0.0).to(tl.float32)
        m = tl.where(signed[:, None] < 0, -m, m)
        d = own[None, :] - tl.load(x + c[:, None] * R + r[None, :], mask=there[:, None], other=0.0)
        t = tl.exp(-tl.abs(d))
        p = 1.0 / (1.0 + t)
        total += tl.sum(m * (t * p * p), 0)
    tl.store(gradient + a * R + r, -total)


@triton.jit
def resampled_strength(row, pair, margin, strength, R: tl.constexpr, BLOCK: tl.constexpr):
    """The sum of absolute margins of each agent, in each of R resamples."""
    a = tl.program_id(0)
    first = tl.load(row + a)
    last = tl.load(row + a + 1)
    r = tl.arange(0, R)
    total = tl.zeros([R], dtype=tl.float32)
    for start in range(first, last, BLOCK):
        k = start + tl.arange(0, BLOCK)
        there = k < last
        place = tl.abs(tl.load(pair + k, mask=there, other=1).to(tl.int64)) - 1
        m = tl.load(margin + place[:, None] * R + r[None, :], mask=there[:, None], other=0.0)
        total += tl.sum(tl.abs(m), 0)
    tl.store(strength + a * R + r, total)
