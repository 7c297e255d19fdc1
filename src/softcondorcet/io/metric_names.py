"""Metrics by name: whether higher is better, and which one of several to take.

A name is read word by word (``word_perplexity,none`` holds ``perplexity``), so that ``latency_ms`` and ``Error rate``
are known as well. A name that says nothing gives None: whoever asked must then ask the user.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from softcondorcet.errors import DataError
from softcondorcet.formatting import some

LOWER = frozenset(
    (
        *("loss", "perplexity", "ppl", "nll", "error", "errors", "err", "latency", "wer"),
        *("cer", "ter", "mer", "mae", "rmse", "mse", "time", "seconds"),
        *("runtime", "duration", "cost", "price", "toxicity", "hallucination", "hallucinations", "flops", "memory"),
        *("rank", "ranking", "place", "position", "losses", "carbon", "emissions", "energy"),
        *("regret", "distance", "fid", "fvd", "kid", "lpips", "brier", "ece", "bpb"),
        "bpc",
    )
)
_LOWER_PHRASES = (
    "lower is better",
    "lower better",
    "bits per byte",
    "bits per character",
    "brier score",
    "time to",
    "longest common prefix length",
)
HIGHER = frozenset(
    (
        *("acc", "accuracy", "match", "em", "f1", "precision", "recall", "auc", "auroc"),
        *("roc", "mcc", "bleu", "chrf", "rouge", "meteor", "comet", "bleurt", "pass"),
        *("score", "reward", "win", "winrate", "elo", "likelihood", "logprob", "pearson", "spearman"),
        *("correlation", "ndcg", "mrr", "map", "ap", "hit", "hits", "correct", "correctness"),
        *("success", "exact", "return", "returns", "grade", "rating", "psnr", "ssim", "iou", "dice", "r2"),
        *("qem", "pem", "pqem", "contains", "resolved", "verify", "faithfulness", "relevancy", "factuality"),
        *("throughput", "comparable", "mc1", "mc2", "bertscore"),
    )
)
_HIGHER_PHRASES = (
    "higher is better",
    "higher better",
    "bert score",
    "r squared",
    "win rate",
    "v measure",
    "reciprocal rank",
)
# Columns of a leaderboard that sum up the others, or that describe the agent: never a task.
SUMMARIES = frozenset(
    f"{word}{end}"
    for word in (
        "mean",
        "average",
        "avg",
        "overall",
        "rank",
        "ranking",
        "total",
        "macro avg",
        "macro average",
        "micro avg",
        "mean win rate",
        "average win rate",
        "global average",
        "global avg",
        "grand total",
        "sum",
        "aggregate",
        "final",
    )
    for end in ("", " score", " rank", " accuracy", " acc")
)
FACTS = frozenset(
    (
        *("id", "index", "no", "row", "year", "params", "parameters", "num params", "n params", "n parameters"),
        *("number of parameters", "params b", "parameters b", "size", "size b", "model size", "context"),
        *("embedding dimensions", "dimensions", "zero shot", "release date"),
        *("n", "samples", "support", "delta", "\u03b4", "rank delta", "rank \u03b4"),
        *("memory usage", "hub", "co\u2082 cost", "co2 cost", "co2 emissions", "number of params"),
        *("context length", "max tokens", "likes", "hub likes", "downloads", "votes", "count", "avg length"),
    )
)
_SPREADS = frozenset(("lower", "upper", "lb", "ub", "std", "stderr", "stdev", "sd", "se", "ci", "variance", "var"))
_SPREAD_PHRASES = (
    "standard error",
    "standard deviation",
    "std err",
    "std dev",
    "ci low",
    "ci lower",
    "ci high",
    "ci upper",
)
# Words that say how a number was measured or summed up, not what it is: "latency_ms" and "loss (mean)".
UNITS = frozenset(
    (
        *("ms", "s", "sec", "rate", "ratio", "percent", "pct", "mean", "avg"),
        *("average", "median", "p50", "p90", "p95", "p99", "usd", "none", "score"),
        "per",
    )
)
_FIRST = frozenset(
    (
        *("perplexity", "ppl", "wer", "cer", "latency", "mae", "rmse", "mse", "nll"),
        *("bpb", "runtime"),
    )
)


_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


def words_of(name: str) -> list[str]:
    """The words of a name in lower case: ``Error-Rate (%)`` is error, rate."""
    apart = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return re.findall(r"[^\W_]+", apart.casefold())


def higher_is_better(name: str) -> bool | None:
    """True, False, or None where the name does not say.

    The last word decides, units apart: an ``error rate`` is to be low, ``error detection`` does not say.
    """
    if ("\u2191" in name) != ("\u2193" in name):  # an arrow in a table says it
        return "\u2191" in name
    if re.search(r"rank\s?[@-]\s?\d", name.casefold()):  # the share of answers among the first few
        return True
    answer = _by_words(words_of(name))
    inner = _IN_BRACKETS.sub(" ", name)  # Cost ($/1M tokens) is a cost
    return answer if answer is not None or inner == name else _by_words(words_of(inner))


def _by_words(words: list[str]) -> bool | None:
    joined = f" {' '.join(words)} "
    for phrases, answer in ((_LOWER_PHRASES, False), (_HIGHER_PHRASES, True)):
        if any(f" {phrase} " in joined for phrase in phrases):
            return answer
    last = next((word for word in reversed(words) if word not in UNITS and not word.isdigit()), "")
    if last in LOWER or (words and words[0] in _FIRST and last not in HIGHER):
        return False
    return True if last in HIGHER else None


def metric_is_higher_better(metric: str) -> bool | None:
    """The same of a metric, ``acc_norm,none``: any word of it may decide, as it is no task that is called so."""
    name = metric.partition(",")[0]
    answer, words = higher_is_better(name), words_of(name)
    if answer is None and LOWER.isdisjoint(words) != HIGHER.isdisjoint(words):
        return LOWER.isdisjoint(words)
    return answer


def is_summary(name: str) -> bool:
    """Whether a column is the mean, the rank or the total of the others."""
    return " ".join(words_of(_IN_BRACKETS.sub(" ", name))) in SUMMARIES


def is_fact(name: str) -> bool:
    """Whether a column of numbers describes the agent rather than what it scored."""
    words = words_of(_IN_BRACKETS.sub(" ", name)) or words_of(name)
    if words[:1] == ["unnamed"]:  # the rows of a pandas table, numbered
        return True
    counted = len(words) > 1 and words[0] in ("n", "num")
    return name.strip() in ("", "#") or counted or not FACTS.isdisjoint((" ".join(words), " ".join(words_of(name))))


def is_spread(name: str) -> bool:
    """Whether a column says how sure another one is: a standard error, a bound of an interval."""
    words = words_of(name)
    joined = f" {' '.join(words)} "
    return (
        "\u00b1" in name
        or (bool(words) and words[-1] in _SPREADS)
        or any(f" {phrase} " in joined for phrase in _SPREAD_PHRASES)
    )


def choose(metrics: Collection[str], order: tuple[str, ...], where: str) -> str:
    """The main one of several metrics: the only one, else the first of `order` that is among them."""
    if len(metrics) == 1:
        return next(iter(metrics))
    for name in order:
        if name in metrics:
            return name
    raise DataError(f"{where} has the metrics {some(sorted(metrics), 8)}; expected one: --metric NAME chooses")
