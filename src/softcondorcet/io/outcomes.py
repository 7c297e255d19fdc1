"""Battles as people write them: 1-0, 1/2-1/2, 0.5, white, draw; or three columns of which one is 1.

The reader of battles takes words (``model_a``, ``tie``, the winner's name). This one takes what game results are
written in: a column ``result`` beside two players, the points of both (``home_score, away_score``), ``winner, loser``,
and LMArena's ``winner_model_a, winner_model_b, winner_tie``. A result is what the first player of the row has: 1 a win,
0 a loss, a half a draw, anything between a share of a win.

Battles may be counted already: a row for each two agents with the wins of both, or a matrix of wins. In a matrix the
cell of row x and column y is how often x beat y, as far as it is a count; shares of wins are votes of that weight, too.
Its rows and columns are the same agents, and no cell of the diagonal holds a win.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import takewhile
from typing import Any

import numpy as np

from softcondorcet.errors import DataError
from softcondorcet.formatting import some
from softcondorcet.io.cells import Table, fold, is_blank, read_flag, read_score, read_weight, shown
from softcondorcet.io.column_names import PAIRS, TIES, TIME, WEIGHT
from softcondorcet.io.logs.verdicts import graded
from softcondorcet.io.number_text import Numbers
from softcondorcet.io.pgn import RESULTS
from softcondorcet.io.records import Battles, name_of

PLAYERS = (
    *PAIRS,
    *(("white", "black"), ("p1", "p2"), ("player1", "player2"), ("player_1", "player_2"), ("home", "away")),
    *(("model_1", "model_2"), ("model1", "model2"), ("team_1", "team_2"), ("team1", "team2"), ("team_a", "team_b")),
    *(("left_model", "right_model"), ("model_left", "model_right"), ("response_a_model", "response_b_model")),
    *(("candidate_a", "candidate_b"), ("option_a", "option_b"), ("system_1", "system_2"), ("system1", "system2")),
    *(("agent1", "agent2"), ("agent_1", "agent_2"), ("system_a", "system_b"), ("generator_1", "generator_2")),
    *(("white_id", "black_id"), ("white_player", "black_player"), ("home_team", "away_team"), ("hometeam", "awayteam")),
)
WON_LOST = (("winner", "loser"), ("winner_name", "loser_name"), ("chosen_model", "rejected_model"))
RESULT = (
    *("result", "outcome", "score", "winner", "verdict", "preference", "win_rate", "winrate", "ftr"),
    *("preferred", "preferred_model", "choice", "label"),
)
# Of numbers, nobody knows whether 0 is a tie or the first; 1 and 2 alone are the first and the second.
_WORDS = ("verdict", "preference", "preferred", "preferred_model", "choice", "label")
POINTS = (
    *(("home_score", "away_score"), ("home_goals", "away_goals"), ("fthg", "ftag"), ("score_a", "score_b")),
    *(("score_1", "score_2"), ("score1", "score2"), ("points_a", "points_b"), ("points_1", "points_2")),
)
UNFINISHED = ("*", "?", "-", "unfinished", "void", "no result")
_WON, _LOST = ("win", "won", "w", "1:0"), ("loss", "lost", "lose", "l", "0:1")
_DRAWN = (
    *TIES,
    "d",
    "t",
    "=",
    "drawn",
    "tied",
    "equal",
    "0.5-0.5",
    "1/2:1/2",
    "neither",
    "both",
    "same",
    "both_good",
    "both good",
    *("about the same", "the same", "similar", "about_the_same", "no preference", "equally good", "equally bad"),
)
# Points of a game that was won without being played.
_FORFEITS = {"+--": 1.0, "--+": 0.0, "+/-": 1.0, "-/+": 0.0, "+:-": 1.0, "-:+": 0.0}
# "A is much better": the side is what stands first.
_BETTER = re.compile(
    r"(.+?)[ _](?:is[ _])?(?:(?:much|slightly|a[ _](?:bit|lot|little)|significantly|marginally|somewhat|strongly"
    r"|clearly|far)[ _])?(?:better|preferred|wins|won)"
)
_DAY = ("day",)
# Columns that say no result, however few names they hold.
_PEOPLE = ("rater", "judge", "annotator", "voter", "user", "language", "category", "date")
_TITLES_OF_TIES = ("ties", "tie", "draws", "draw", "n_ties", "n_draws", "tied", "num_ties")
# Columns that a profile's reader gets from battles in any case.
_MADE = ("model_a", "model_b", "winner", "weight")


def read_outcomes(table: Table, columns: Mapping[str, str] | None = None, keep: Collection[str] = ()) -> Battles | None:
    """Battles from a table of results; None where it is none, or one that the reader of battles takes.

    ``columns`` may name those of ``a``, ``b`` and ``winner``; other columns stay if they are short or in `keep`.
    """
    given = columns or {}
    pair = (given["a"], given["b"]) if "a" in given and "b" in given else None
    pair = pair and (table.need(pair[0]), table.need(pair[1]))
    pair = pair or next(((a, b) for x, y in PLAYERS if (a := table.find(x)) and (b := table.find(y))), None)
    if pair is None:
        won = next(((a, b) for x, y in WON_LOST if (a := table.find(x)) and (b := table.find(y))), None)
        return None if won is None or given else _battles(table, *won, [], [1.0] * table.n_rows, keep)
    a, b = pair
    if not given and (counted := read_win_counts(table, a, b)) is not None:
        return counted
    flags = _indicators(table, a, b)
    if flags is not None and "winner" not in given:
        return _battles(table, a, b, flags, _from_flags(table, flags), keep)
    column = table.need(given["winner"]) if given.get("winner") else None
    column = column or next(
        (found for name in RESULT if (found := table.find(name)) and not _is_scores(table, found)), None
    )
    if column is None:
        points = next(((x, y) for p, q in POINTS if (x := table.find(p)) and (y := table.find(q))), None)
        return None if points is None or "winner" in given else _of_points(table, a, b, points, keep)
    if given or (column.strip().casefold() == "winner" and (a.strip().casefold(), b.strip().casefold()) in PAIRS):
        words = [str(value).strip().casefold() for value in table.column(column).values]
        results = (word in RESULTS or _share(word) is not None for word in words)
        if not any(results) and not any(graded(word.upper()) for word in words if set(word) & set("<=>")):
            return None
    return _battles(table, a, b, [column], _from_words(table, a, b, column), keep)


def missing_outcome(table: Table) -> str | None:
    """The error for a table with two players where no column says who won; None for other tables."""
    pair = next(((x, y) for x, y in PLAYERS if table.find(x) and table.find(y)), None)
    if pair is None:
        return None
    others = [title for title in table.columns if title.strip().casefold() not in (*pair, *_PEOPLE)]
    named = next(
        (title for title in others if table.column(title).values and len(table.column(title).values) <= 4), None
    )
    hint = (
        f"; found {named!r}: --column winner={named}"
        if named
        else f"; found {some(map(repr, others)) if others else 'none'}"
    )
    return f"there is {pair[0]!r} and {pair[1]!r}, but no column says who won{hint}"


def _is_scores(table: Table, column: str) -> bool:
    """A column called score holds results only where all of it can be one; one called preference, only words."""
    if column.strip().casefold() in _WORDS:
        words = {str(value).strip() for value in table.column(column).values}
        return not ({"1", "2"} <= words and "0" not in words) and any(_share(word) is not None for word in words)
    return column.strip().casefold() == "score" and not all(
        is_blank(value) or _share(str(value).strip()) is not None or str(value).strip() in RESULTS
        for value in table.column(column).values
    )


def _indicators(table: Table, a: str, b: str) -> list[str] | None:
    """The columns ``winner_model_a, winner_model_b, winner_tie``, or any two of them that leave no doubt."""
    names = [
        table.find(f"winner_{a.strip()}", f"{a.strip()}_wins", "winner_a"),
        table.find(f"winner_{b.strip()}", f"{b.strip()}_wins", "winner_b"),
        table.find("winner_tie", "winner_draw", "tie", "draw"),
    ]
    return [name for name in names if name] if names[0] and names[1] and names[2] else None


def _from_flags(table: Table, flags: list[str]) -> list[float | None]:
    told = [table.numbers(name, read_flag) for name in flags]
    total = told[0] + told[1] + told[2]
    wrong = total != 1
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(f"{table.place(row)}: {int(total[row])} of {', '.join(flags)} are 1; expected exactly one")
    shares: list[float | None] = (told[0] + told[2] / 2).tolist()
    return shares


def _of_points(table: Table, a: str, b: str, points: tuple[str, str], keep: Collection[str]) -> Battles:
    """Battles by points: who has more wins; a game without points did not end."""
    first, second = (table.numbers(column, read_score) for column in points)
    shares = [None if x != x or y != y else (x > y) + (x == y) / 2 for x, y in zip(first, second, strict=True)]
    battles = _battles(table, a, b, [*points], shares, keep)
    battles.notes.append(f"who has more in {points[0]!r} and {points[1]!r} wins")
    return battles


def _from_words(table: Table, a: str, b: str, column: str) -> list[float | None]:
    """The share of a win of the first player in each row; None for a game that did not end."""
    first, second = (title.strip().casefold() for title in (a, b))
    meaning = {
        **dict.fromkeys(_WON, 1.0),
        **dict.fromkeys(_LOST, 0.0),
        **dict.fromkeys(_DRAWN, 0.5),
        **RESULTS,
        **_FORFEITS,
        first: 1.0,
        second: 0.0,
    }
    cells = table.column(column)
    plain = [_plain(value) for value in cells.values]
    meaning |= _short_words(first, second, set(plain))
    if "2" in plain and "0" not in plain and column.strip().casefold() != "result":  # the first or the second
        meaning |= {"1": 1.0, "2": 0.0}
    shares: list[float | str | None] = []
    for value, word in zip(cells.values, plain, strict=True):
        side = better[1] if word not in meaning and (better := _BETTER.fullmatch(word)) else word
        known = None if is_blank(value) or word in UNFINISHED else meaning.get(side, _share(side))
        known = verdict[0] if known is None and (verdict := graded(str(value))) else known
        shares.append("?" if known is None and not (is_blank(value) or word in UNFINISHED) else known)
    found: list[float | None] = []
    if "?" not in shares:
        return [shares[code] for code in cells.codes.tolist()]
    names = zip(table.cells(a), table.cells(b), strict=True)
    for row, (code, (one, other)) in enumerate(zip(cells.codes.tolist(), names, strict=True)):
        share = shares[code]
        if share == "?":
            value = str(cells.values[code]).strip()
            share = 1.0 if value == str(one).strip() else 0.0 if value == str(other).strip() else "?"
        if isinstance(share, str):
            raise DataError(
                f"{table.place(row)}: {column} is {shown(cells.values[code])}; expected 1-0, 0-1 or 1/2-1/2, "
                f"a number from 0 to 1 (what {a} has), {first!r}, {second!r} or 'draw'"
            )
        found.append(share)
    return found


def _short_words(first: str, second: str, said: set[str]) -> dict[str, float]:
    """What ``white`` and ``w`` mean beside ``white_id`` and ``black_id``: the parts that tell the columns apart.

    A letter that also stands for a win or a loss, such as the ``l`` of ``left``, counts if the other one is ``said``.
    """
    starts, ends = _shared(first, second), _shared(first[::-1], second[::-1])
    words = [name[starts : len(name) - ends].strip("_ ") for name in (first, second)]
    meaning = dict(zip(words, (1.0, 0.0), strict=True)) if all(word.isalpha() for word in words) else {}
    parts = [re.split("[_ ]", name)[0] for name in (first, second)]
    if parts[0] != parts[1]:  # left_model, right_model end with the same t
        meaning |= dict(zip(parts, (1.0, 0.0), strict=True))
    letters = [word[:1] for word in words]
    if all(letter.isalpha() for letter in letters) and letters[0] != letters[1]:
        taken = {*_WON, *_LOST, *_DRAWN}
        clear = taken.isdisjoint(letters) or said >= set(letters)
        meaning |= dict(zip(letters, (1.0, 0.0), strict=True)) if clear else {}
    return meaning


def _shared(first: str, second: str) -> int:
    """How many letters two words begin with alike."""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return sum(1 for _ in alike)


def _plain(value: object) -> str:
    """A result with plain dashes and halves: ``1\u20130`` is ``1-0``, ``\u00bd-\u00bd`` is ``1/2-1/2``."""
    word = str(value).strip().casefold().replace("\u00bd", "1/2")
    word = {"[[a]]": "a", "[[b]]": "b", "[[c]]": "tie"}.get(word, word)  # as judges are asked to write it
    return re.sub(r"\s*-\s*", "-", re.sub("[\u2010-\u2015\u2212]", "-", word))


def is_result(word: str) -> bool:
    """Whether a word is a result by itself: 1-0, 1/2, 0.5, 75%."""
    plain = _plain(word).strip()
    return plain in RESULTS or _share(plain) is not None or graded(plain.upper()) is not None


def _share(word: str) -> float | None:
    """A number from 0 to 1, a percentage, or a fraction such as 1/2."""
    over, slash, under = word.partition("/")
    try:
        if word.endswith("%"):
            share = float(word[:-1].replace(",", ".")) / 100
        else:
            share = float(over) / float(under) if slash else float(word.replace(",", "."))
    except (ValueError, ZeroDivisionError):
        return None
    return share if 0 <= share <= 1 else None


def _battles(
    table: Table, a: str, b: str, used: list[str], shares: list[float | None], keep: Collection[str]
) -> Battles:
    battles = Battles(table.name)
    rows: list[int] = []
    battles.place, battles.text = (lambda k: table.place(rows[k])), table.text
    weight = next((name for word in (*WEIGHT, "n") if (name := table.find(word)) and name not in used), None)
    weights = table.numbers(weight, read_weight).tolist() if weight else [1.0] * table.n_rows
    if len(used) == 1:  # a verdict such as A>>B is worth several votes
        cells_of = table.column(used[0])
        worth = [verdict[1] if (verdict := graded(str(value))) else 1.0 for value in cells_of.values]
        weights = [count * worth[code] for count, code in zip(weights, cells_of.codes.tolist(), strict=True)]
    others = [name for name in table.columns if name and name not in (a, b, *used, weight)]
    wanted = [name for name in others if name in keep or _short(table, name)]
    wanted += [name for name in (a, b, *used) if name in keep and name not in _MADE]
    kept = {("when" if _day(name, others) else name): table.cells(name) for name in wanted}
    cells = zip(table.cells(a), table.cells(b), shares, weights, strict=True)
    for row, (one, other, share, count) in enumerate(cells):
        if share is None:
            battles.left_out["games without a result"] += 1
            continue
        place = table.place
        first = one if type(one) is str and one and one == one.strip() else name_of(one, place(row), a)
        second = other if type(other) is str and other and other == other.strip() else name_of(other, place(row), b)
        if first == second:
            raise DataError(f"{place(row)}: {first!r} against itself; expected two agents")
        columns = {name: None if is_blank(column[row]) else column[row] for name, column in kept.items()}
        rows.append(row)
        battles.add(first, second, share, count, **columns)
    return battles


def _day(name: str, others: list[str]) -> bool:
    """Whether a column counts days, as files for WHR do, and no other column holds a time."""
    return name.strip().casefold() in _DAY and not any(other.strip().casefold() in TIME for other in others)


def _short(table: Table, name: str) -> bool:
    """Whether all cells of a column are short, as those of judges or languages are, and texts of prompts are not."""
    try:
        return all(len(str(value)) <= 100 for value in table.column(name).values)
    except DataError:  # lists or objects
        return False


def read_win_counts(table: Table, a: str, b: str) -> Battles | None:
    """The battles in a table such as ``a, b, a_wins, b_wins, ties``; None where its columns count no wins."""
    titles = [_titles(side, name) for side, name in ((0, fold(a)), (1, fold(b)))]
    columns = [table.find(*either) for either in titles]
    if columns[0] is None or columns[1] is None or columns[0] == columns[1]:
        return None
    counts = [columns[0], columns[1], *([ties] if (ties := table.find(*_TITLES_OF_TIES)) else [])]
    told = [table.numbers(column, _read_count) for column in counts]
    if all(((found == 0) | (found == 1)).all() for found in told) and bool((np.sum(told, axis=0) == 1).all()):
        return None  # who won each single battle
    battles, rows = Battles(table.name), list[int]()
    battles.place = lambda k: table.place(rows[k])
    for row, (one, other) in enumerate(zip(table.cells(a), table.cells(b), strict=True)):
        first, second = name_of(one, table.place(row), a), name_of(other, table.place(row), b)
        if first == second:
            raise DataError(f"{table.place(row)}: {first!r} against itself; expected two agents")
        for share, found in zip((1.0, 0.0, 0.5), told, strict=False):
            if found[row]:
                rows.append(row)
                battles.add(first, second, share, float(found[row]))
    battles.notes.append(f"wins are counted in {', '.join(map(repr, counts))}")
    return battles


def _titles(side: int, name: str) -> list[str]:
    """Names that the column with the wins of one side may have."""
    words = [name, "ab"[side], "12"[side], ("model_a", "model_b")[side]]
    ends = [(f"{word}_wins", f"wins_{word}", f"{word}_won", f"n_wins_{word}", f"win_{word}") for word in words]
    return [title for titles in ends for title in titles] + [f"wins{'12'[side]}"]


def _read_count(cell: Any) -> float:
    return 0.0 if is_blank(cell) else read_weight(cell)


def read_matrix(table: Table, agent: str, names: list[str | None], columns: Mapping[str, Numbers]) -> Battles | None:
    """The battles in a matrix of wins; None where rows and columns are not the same agents, or the diagonal is full."""
    agents = [title.strip() for title in columns]
    if len(agents) < 3 or [*agents] != [name for name in names if name is not None]:
        return None
    won = np.array([found.values for found in columns.values()]).T
    if (np.diag(won) > 0).any() or np.isinf(won).any():
        return None
    battles, rows = Battles(table.name), list[int]()
    battles.place = lambda k: table.place(rows[k])
    for row, one in enumerate(agents):
        for column, other in enumerate(agents):
            count = won[row, column]
            if row != column and count < 0:
                cell = shown(table.cells([*columns][column])[row])
                raise DataError(f"{table.place(row)}: {other} is {cell}; expected how often {one!r} beat it")
            if row != column and count > 0:
                rows.append(row)
                battles.add(one, other, 1.0, float(count))
    battles.notes.append(f"matrix of wins: the agents of rows in {agent or 'the first column'!r} beat those of columns")
    return battles
