"""The report as HTML, and the parts that pages of a live board share with it: words, numbers and drawings.

``report`` makes one HTML file that needs nothing else, no request and no script, with colours for light and dark, and
room on a phone. ``view`` and ``table`` make of an analysis what the templates show.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.resources import files
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from softcondorcet import __version__, charts
from softcondorcet.checks import Watch, check, natural, one_of, whole
from softcondorcet.errors import DataError
from softcondorcet.evaluation.budget import MANY, distinct_pairs, fits_worth
from softcondorcet.evaluation.calibration import calibration
from softcondorcet.evaluation.task_scores import task_scores
from softcondorcet.formatting import clipped, confidence, number, percent, plural, printable, shortened
from softcondorcet.leaderboard import Row, as_dicts, flat
from softcondorcet.methods.registry import METHODS
from softcondorcet.pairs import Pairs
from softcondorcet.profile import Profile, as_profile
from softcondorcet.ratings import Ratings
from softcondorcet.reporting.analysis import Analysis, analyse, with_brief_names
from softcondorcet.reporting.groups import group_panels, groups_left_out
from softcondorcet.reporting.table import parts, spans
from softcondorcet.reporting.tasks import task_panel
from softcondorcet.reporting.verdict import Verdict, title_of, verdict
from softcondorcet.source import Source
from softcondorcet.tables import as_csv

if TYPE_CHECKING:
    from jinja2 import Environment

# A leaderboard of three bars; '#' would begin a fragment.
ICON = (
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>"
    "<path fill='rgb(42,120,184)' d='M1 2h14v3H1zM1 7h10v3H1zM1 12h6v3H1z'/></svg>"
)


# How many of the best agents a drawing shows.
WHISKERS, HEAT, BUMP = 40, 40, 12
# So many of them a heat map has room for on a phone, and its table on a desk.
SMALL = 14
# As many agents as a drawing of a cycle has room for.
_CYCLE = 12
# Letters of a name in the head of a table.
NAME = 26
# Drawings come twice, for a desk and for a phone: letters must not shrink with the screen.
WIDE, NARROW = 936.0, 328.0

Link = Callable[[str, str], str]


@dataclass(frozen=True)
class Picture:
    """A drawing at two widths, for screens and for phones."""

    wide: str
    narrow: str


def render(view: dict[str, Any], title: str, provenance: Sequence[tuple[str, str]]) -> str:
    """The report as HTML. Every word in `view` but the drawings is escaped, and invisible letters are spelt out."""
    from markupsafe import Markup

    css = style()
    template = environment(__package__).get_template("report.html")
    about = {"icon": ICON, "version": __version__, "css": Markup(css), "policy": policy(css)}
    return template.render(v=view, title=title, provenance=provenance, **about)


def environment(*packages: str) -> Environment:
    """Templates of these packages, the first first: every word is escaped, and a name that is not given is an error."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    templates = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
    )
    templates.filters["clip"] = clipped
    return templates


def style() -> str:
    """The CSS of the report, drawings included."""
    return charts.stylesheet() + (files(__package__) / "templates" / "report.css").read_text(encoding="utf-8")


def policy(css: str) -> str:
    """The Content-Security-Policy of the report: its own style, known by its hash, and its own icon."""
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"


def _visible(value: Any) -> Any:
    """Names may hold letters that hide or turn others; the style and drawings are ours and pass as they are.

    A percent sign stays on the line of its number.
    """
    return _PERCENT.sub("\u00a0%", printable(value)) if type(value) is str else value


_PERCENT = re.compile(r"(?<=\d) %")


def view(
    analysis: Analysis, rows: Sequence[Row], says: Verdict, *, top: int = WHISKERS, link: Link | None = None
) -> dict[str, Any]:
    """What the templates need, by name. Names of agents are raw in it: the templates escape them.

    `rows` are all agents, best first, and `says` the verdict of the pairs at hand; `link(a, b)` leads to a page about
    two agents, where there is one.
    """
    ratings = analysis.ratings
    best = [row for row in rows if row.unplaced is None][: min(top, WHISKERS)] or rows[: min(top, WHISKERS)]
    return {
        "verdict": analysis.headline(says),
        "badge": says.badge,
        "sure_word": analysis.sure_word,
        "sure": analysis.sure,
        "n_agents": len(ratings),
        "noun": analysis.noun,
        "method": title_of(ratings.method),
        "level": confidence(analysis.level) if analysis.level else "",
        "unsure": analysis.unsure,
        "cuts": analysis.cuts,
        "flip": analysis.flip,
        "summary": analysis.summary,
        "whiskers": whiskers(best, title_of(ratings.method)),
        "rank_ranges": rank_ranges(best),
        "n_whiskers": len(best),
        **head_to_head(analysis.pairs, ratings, link),
        "cycle": cycle(says),
        **_methods(analysis),
        **support(analysis),
    }


def support(analysis: Analysis) -> dict[str, Any]:
    """The panel of findings: what the data can support."""
    return {
        "inspected": analysis.findings is not None,
        "findings": analysis.findings or (),
        "unchecked": [(name.replace("-", " "), why) for name, why in (analysis.unchecked or {}).items()],
        "warnings": analysis.warnings,
    }


def _methods(analysis: Analysis) -> dict[str, Any]:
    names = analysis.ratings.agents
    ranks = {
        title_of(method): {names[int(k)]: rank for k, rank in given.items()}
        for method, given in (analysis.methods or {}).items()
    }
    picture, shown = bump(ranks)
    return {
        "bump": picture,
        "n_bump": shown,
        "n_linked": min(map(len, ranks.values()), default=0),
        "violations": analysis.violations,
        "moves": analysis.moves,
        "agree": picture is not None and not analysis.moves,
        "method_notes": analysis.method_notes,
    }


def whiskers(rows: Sequence[Row], method: str) -> Picture:
    """Ratings with their intervals; agents that cannot be told apart in bands."""
    names, values = [row.agent for row in rows], [row.rating or 0.0 for row in rows]
    low = [value if row.rating_low is None else row.rating_low for row, value in zip(rows, values, strict=True)]
    high = [value if row.rating_high is None else row.rating_high for row, value in zip(rows, values, strict=True)]
    bands = [(first, last) for first, last in spans(rows) if last > first and rows[first].unplaced is None]
    axis = f"rating by {method}"
    return Picture(
        *(charts.whiskers(names, values, low, high, bands=bands, width=w, axis=axis) for w in (WIDE, NARROW))
    )


def rank_ranges(rows: Sequence[Row]) -> Picture | None:
    """Ranks with their intervals, where those are known."""
    known = [row for row in rows if row.rank is not None and row.rank_low is not None and row.rank_high is not None]
    if not known:
        return None
    ranks, low, high = ([float(getattr(row, name) or 0) for row in known] for name in ("rank", "rank_low", "rank_high"))
    draw = partial(charts.whiskers, [row.agent for row in known], ranks, low, high, axis="rank", whole=True)
    return Picture(*(draw(width=width) for width in (WIDE, NARROW)))


def head_to_head(pairs: Pairs, ratings: Ratings, link: Link | None = None) -> dict[str, Any]:
    """The best agents against each other, as a picture and as a table; `link(a, b)` is where a cell leads.

    Agents without a rank are not among them, unless no agent has one.
    """
    placed = ratings.listing[ratings.places[ratings.listing] > 0]
    chosen = (placed if len(placed) else ratings.listing)[:HEAT]
    names = [ratings.agents[k] for k in chosen]
    marks = [str(place) for place in ratings.places[chosen].tolist()] if len(placed) else ()
    wins, ties = pairs.dense(chosen)
    listed = names if link is None else names[:SMALL]  # links make a table large
    places = range(len(listed))
    to = None if link is None else lambda a, b: link(names[a], names[b])
    drawn = [(names, WIDE), (names[:SMALL], NARROW)]
    return {
        "heat_map": Picture(
            *(
                charts.heat_map(few, wins.tolist(), ties.tolist(), marks=marks[: len(few)], width=width, link=to)
                for few, width in drawn
            )
        ),
        "n_heat": len(names),
        "n_few": min(len(names), SMALL),
        "scores": [(listed[a], [_score(wins[a, b], wins[b, a], ties[a, b]) for b in places]) for a in places],
        "short": shortened(listed, NAME),
        "pair_link": link,
    }


def _score(won: float, lost: float, level: float) -> str:
    if not won + lost + level:
        return ""
    return f"{number(won)} : {number(lost)}" + (f" ({number(level)})" if level else "")


def cycle(says: Verdict) -> Picture | None:
    if says.kind != "cycle" or len(says.names) > _CYCLE:
        return None
    return Picture(*(charts.cycle(says.names, says.arrows, loop=says.loop, width=width) for width in (520.0, NARROW)))


def bump(ranks: Mapping[str, Mapping[str, int]]) -> tuple[Picture | None, int]:
    """Ranks by title of a method and name of an agent: the best by the first method, and the first three by each.

    The picture, if there is something to compare, and how many agents it shows.
    """
    titles = list(ranks)
    orders = [sorted(given, key=lambda name: given[name]) for given in ranks.values()]
    best = [name for order in orders[:1] for name in order[:BUMP]]
    names = list(dict.fromkeys([*best, *(name for order in orders for name in order[:3])]))
    if len(titles) < 2 or len(names) < 2:
        return None, len(names)
    places = [[given[name] for given in ranks.values()] for name in names]
    return Picture(*(charts.bump(titles, names, places, width=width) for width in (WIDE, NARROW))), len(names)


def report(
    profile: Profile,
    path: str | os.PathLike[str] | None = None,
    *,
    method: str = "sco",
    options: Mapping[str, Any] | None = None,
    methods: Sequence[str] | None = None,
    resamples: int = 200,
    by: Literal["votes", "groups"] = "votes",
    top: int = 5000,
    seed: int = 0,
    title: str | None = None,
    source: str | os.PathLike[str] | None = None,
    command: str | None = None,
    now: datetime | None = None,
    watch: Watch | None = None,
) -> str:
    """A report about a profile as HTML, written to `path` too where one is given.

    Parameters
    ----------
    profile: the votes.
    path: file to write; it is replaced if it is there.
    method, options: what rates the agents.
    methods: names of methods to hold it against; those that readers use, by default.
    resamples: of the votes, for intervals and tie groups; 0 for none.
    by: what a resample draws: "votes", or "groups", all votes of a judge or task together.
    top: at most so many agents with a rank in the table, the best ones. Where the page has no room for all agents, a
        csv beside it has them.
    seed: of the resamples and of methods that draw at random.
    title: stands above the answer; the name of the source by default.
    source: the file that the votes were read from, for its name and hash.
    command: what made the report, for its last section.
    now: time of making; with the same time and seed the same votes give the same report, byte by byte.
    watch: called as ``watch(resample, resamples, None)``.

    >>> "A comes first" in report(Profile.from_rankings([["A", "B"], ["A", "C"], ["A", "C"]]), resamples=0)
    True
    """
    as_profile(profile, "a Profile; sc.read makes one")
    one_of("method", METHODS, method)
    own = {"n", "by", "interval", "level", "seed", "watch"} & set(options or {})
    check(not own, "options", "options of the method without a seed, which is given apart", options)
    natural("resamples", resamples)
    check(resamples != 1, "resamples", "0, or at least 2", resamples)
    one_of("by", ("votes", "groups"), by)
    natural("seed", seed)
    whole("top", top)
    check(now is None or isinstance(now, datetime), "now", "a datetime", now)
    profile = with_brief_names(profile)
    analysis = analyse(
        profile, method=method, options=options, methods=methods, resamples=resamples, by=by, seed=seed, watch=watch
    )
    name = "votes" if source is None else os.path.basename(os.path.normpath(os.fsdecode(source)))
    scores = task_scores(profile)
    more = {} if scores is None or scores.means is None else {"mean_score": scores.means}
    rows, says = analysis.rows(more), verdict(analysis.pairs, analysis.ratings, analysis.noun)
    shown = view(analysis, rows, says, top=top) | {"facts": facts(analysis)}
    shown["trust"] = trust(profile, method, options or {}, seed)
    shown["table"] = parts(rows, analysis.ratings, says, top=top, noun=analysis.noun)
    shown["tasks"] = task_panel(profile, scores, analysis.ratings, options or {}, seed)
    shown["groups"] = group_panels(profile, method, options or {}, seed)
    shown["cuts"] = [*analysis.cuts, *groups_left_out(profile, options or {})]
    shown["left_out"] = left_out(shown["table"].left_out, len(rows), path)
    made = now or datetime.now(UTC)
    html = render(shown, title or name, provenance(analysis, source, command, made, seed, profile.source))
    if path is not None:
        write(html, path)
        if shown["left_out"]:
            write(f"{as_csv(flat(as_dicts(rows)))}\n", beside(path))
    return html


def beside(path: str | os.PathLike[str]) -> str:
    """The file with the rows of all agents, where a page has no room for them: report-agents.csv of report.html.

    It replaces such a file, and never another one.
    """
    stem = f"{os.path.splitext(os.fsdecode(path))[0]}-agents"
    names = (f"{stem}{'' if k == 1 else f'-{k}'}.csv" for k in count(1))
    return next(name for name in names if not os.path.exists(name) or _lists_agents(name))


def _lists_agents(path: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(100).startswith("rank,rank_low,rank_high,agent,")
    except OSError:
        return False


def left_out(agents: int, total: int, path: str | os.PathLike[str] | None) -> str:
    """What is said of agents that a page has no room for."""
    if not agents:
        return ""
    where = "sco rank --format csv lists" if path is None else f"{os.path.basename(beside(path))} beside this page has"
    return f"{plural(agents, 'agent')} of {total:,} {'is' if agents == 1 else 'are'} not on this page: {where} all."


def trust(profile: Profile, method: str, options: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """How far to trust the chances: what came out of held-out votes, as a picture and in words, or why it is not known.

    Size decides how many parts the votes are cut into, so that the same votes give the same report.
    """
    parts = min(5, fits_worth(profile, options) // 2, int(profile.counts.sum()))
    if parts < 2 or distinct_pairs(profile) > MANY:
        return {"picture": None, "lines": ["The votes are too few to hold some out, or too many to be fitted again."]}
    methods = {method: (method, options)}
    methods.setdefault("bradley_terry", ("bradley_terry", {}))
    try:
        found = calibration(profile, methods, folds=parts, seed=seed)
    except DataError as error:
        return {"picture": None, "lines": [f"The chances cannot be checked: {error}."]}
    bins = found[method].bins
    chance, came_out, low, high = (
        [getattr(one, name) for one in bins] for name in ("chance", "came_out", "low", "high")
    )
    drawn = (charts.calibration(chance, came_out, low, high, width=width) for width in (WIDE, NARROW))
    return {"picture": Picture(*drawn), "lines": found.summary()}


def facts(analysis: Analysis) -> list[str]:
    """The size of the data, for the top of the report."""
    data = analysis.inspection
    assert data is not None
    compared = percent(data.pairs_seen / data.pairs_possible, 1) if data.pairs_possible else "none"
    return [
        plural(data.n_agents, "agent"),
        plural(round(data.total_weight), analysis.noun),
        f"{plural(round(data.comparisons), 'comparison')}, {percent(data.tied_share, 1)} of them ties",
        f"{compared} of the pairs compared",
    ]


def provenance(
    analysis: Analysis,
    source: str | os.PathLike[str] | None,
    command: str | None,
    now: datetime,
    seed: int,
    read: Source | None = None,
) -> list[tuple[str, str]]:
    """Where the report comes from: no folder, no user, no machine."""
    ratings, lines = analysis.ratings, []
    if source is not None:
        path = os.fsdecode(source)
        known = read is not None and read.name == path
        lines.append(("file", os.path.basename(os.path.normpath(path))))
        lines.append(("SHA-256 of it", read.sha256 if read is not None and known else digest(source)))
    lines += [("read", note) for note in (read.notes if read is not None else ())]
    lines.append(("votes", f"{plural(analysis.n_votes, 'row')}, {plural(len(ratings), 'agent')}"))
    lines.append(("method", ratings.method))
    lines.append(("options", ", ".join(f"{name} {_plain(value)}" for name, value in ratings.options.items()) or "none"))
    if analysis.level is not None:
        lines.append(("intervals", f"{analysis.source}; {confidence(analysis.level)}"))
    lines.append(("seed", str(seed)))
    lines.append(("made", now.strftime("%Y-%m-%d %H:%M:%S ") + (now.tzname() or "")))
    lines.append(("by", f"softcondorcet {__version__}"))
    return [*lines, ("command", command)] if command else lines


def _plain(value: Any) -> str:
    """The value of an option as text, without needless digits."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def digest(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file; of the archive, for a member of one."""
    try:
        with open(os.fsdecode(path).partition("::")[0], "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{os.fsdecode(path)}: cannot be read ({error.strerror})") from None


def write(html: str, path: str | os.PathLike[str]) -> None:
    try:
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(html)
    except OSError as error:
        raise DataError(f"{os.fsdecode(path)}: cannot be written ({error.strerror})") from None
