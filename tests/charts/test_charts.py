"""Drawings: well-formed, made of a few harmless elements whatever the names are, and true to the numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from xml.etree import ElementTree

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from softcondorcet import charts
from softcondorcet.charts import bump, calibration, cycle, heat_map, shares, timeline, whiskers
from softcondorcet.charts.svg import ticks
from softcondorcet.formatting import clipped, printable, wide

SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = {"svg", "g", "path", "text", "title", "circle", "rect"}
ATTRIBUTES = {
    "class", "d", "x", "y", "cx", "cy", "r", "rx", "width", "height", "viewBox", "role", "aria-label", "fill-opacity",
}  # fmt: skip
HOSTILE = [
    "<script>alert(1)</script>",
    '"/><image href="x" onerror="alert(1)"/>',
    "]]><!--",
    "&lt;b&gt;",
    '=HYPERLINK("http://x")',
    "a\x00b\x1b[31m\u202e\u2066\ud800",
    "العربية",
    "👩‍👩‍👧 emoji",
    "x" * 5000,
    "e" + "\u0301" * 5000,
    "{{ 7 * 7 }}",
    " ",
]


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str, kind: str) -> list[str]:
    found = [node for node in parsed(svg).iter(f"{SVG}text") if kind in node.attrib["class"].split()]
    return [node.text or "" for node in found]


def of_class(svg: str, kind: str) -> list[ElementTree.Element]:
    return [node for node in parsed(svg).iter() if kind in node.attrib.get("class", "").split()]


def all_drawings(names: Sequence[str]) -> list[str]:
    m = len(names)
    counts = [[float(a + 2 * b) if a != b else 0.0 for b in range(m)] for a in range(m)]
    arrows = [(k, (k + 1) % m, 3.0) for k in range(m)] if m > 2 else []
    return [
        whiskers(names, [float(-k) for k in range(m)], [-k - 1.0 for k in range(m)], [0.5 - k for k in range(m)]),
        heat_map(names, counts, counts),
        heat_map(names, counts, counts, width=328),
        cycle(names, arrows, loop=range(m) if m > 2 else ()),
        bump(["one", *names[:3]], names, [[k + 1] * (1 + len(names[:3])) for k in range(m)]),
        shares((names[0], names[-1]) if names else ("", ""), m, 1, 2),
        calibration([0.5 + 0.5 * k / m for k in range(m)], [0.6] * m, [0.4] * m, [0.9] * m),
        timeline([1e9 + 70.0 * k for k in range(m)], [k % 3 for k in range(m)], names),
    ]


@pytest.mark.parametrize("m", [0, 1, 2, 3, 12, 40])
def test_drawings_are_well_formed_at_any_size(m: int) -> None:
    for svg in all_drawings([f"agent {k}" for k in range(m)]):
        root = parsed(svg)
        assert root.attrib["role"] == "img"
        assert len(root.attrib["aria-label"]) > 10
        assert float(root.attrib["width"]) > 0
        assert float(root.attrib["height"]) > 0


def harmful(svg: str) -> list[str]:
    """Elements and attributes that drawings do not use, and text with letters that cannot be seen."""
    found = []
    for node in parsed(svg).iter():
        tag = node.tag.removeprefix(SVG)
        found += [name for name in (tag,) if name not in ELEMENTS]
        found += [f"{tag} {name}" for name in node.attrib if name not in ATTRIBUTES]
        found += [repr(text) for text in (node.text or "", *node.attrib.values()) if not text.isprintable()]
    return found


def test_hostile_names_stay_text() -> None:
    for svg in all_drawings(HOSTILE):
        assert harmful(svg) == []
        assert "<script" not in svg
    assert clipped(HOSTILE[0], 26) in texts(all_drawings(HOSTILE)[0], "name")


@settings(max_examples=100)
@given(st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=6))
def test_any_names_stay_text(names: list[str]) -> None:
    for svg in all_drawings(names):
        assert harmful(svg) == []


def test_every_class_has_a_look() -> None:
    css = charts.stylesheet()
    names = [f"agent {k}" for k in range(14)]
    used = {word for svg in all_drawings(names) for node in parsed(svg).iter() for word in _classes(node)}
    groups_only = {"row", "arrow", "agent", "weak", "strong", "band0", "moment", "part"}
    assert {word for word in used - groups_only if f".{word}" not in css} == set()


def _classes(node: ElementTree.Element) -> list[str]:
    return node.attrib.get("class", "").split()


def test_chances_that_are_right_stand_on_the_line() -> None:
    said = [0.55, 0.7, 0.95]
    svg = calibration(said, said, [share - 0.1 for share in said], [1.0] * 3)
    (right,) = of_class(svg, "right")
    x1, y1, x2, y2 = (float(n) for n in re.findall(r"[\d.]+", right.attrib["d"]))
    for node in of_class(svg, "point"):
        x, y = float(node.attrib["cx"]), float(node.attrib["cy"])
        assert (y - y1) / (x - x1) == pytest.approx((y2 - y1) / (x2 - x1), abs=0.02)  # coordinates have one digit
    assert "said 70 %, came out 70 % (60 % to 100 %)" in svg


def test_whiskers_put_values_to_scale() -> None:
    svg = whiskers(["a", "b", "c"], [10.0, 4.0, 1.0], [9.0, 2.0, 0.0], [12.0, 5.0, 1.5], bands=[(1, 2)])
    x = [float(node.attrib["cx"]) for node in of_class(svg, "point")]
    assert (x[0] - x[1]) / (x[1] - x[2]) == pytest.approx(2.0, abs=0.01)  # coordinates have one digit
    lines = [[float(n) for n in re.findall(r"[\d.]+", node.attrib["d"])] for node in of_class(svg, "whisker")]
    for dot, (low, _, high, _) in zip(x, lines, strict=True):
        assert low <= dot <= high
    assert (lines[0][2] - lines[0][0]) / (lines[1][2] - lines[1][0]) == pytest.approx(1.0, abs=0.01)
    assert texts(svg, "name") == ["a", "b", "c"]
    band = of_class(svg, "band")[0]
    assert float(band.attrib["height"]) == 42.0  # two rows of 22 and the gap between bands
    assert "b: 4, 2 to 5" in svg


def test_whiskers_without_intervals_are_dots() -> None:
    svg = whiskers(["a", "b"], [1.0, 1.0])
    assert len(of_class(svg, "point")) == 2
    assert "a: 1<" in svg


def test_the_heat_map_is_blue_where_the_row_wins() -> None:
    wins = [[0, 8, 3, 0], [2, 0, 0, 0], [3, 0, 0, 0], [0, 0, 0, 0]]
    ties = [[0, 1, 0, 0], [1, 0, 0, 4], [0, 0, 0, 0], [0, 4, 0, 0]]
    svg = heat_map(["a", "b", "c", "d"], wins, ties)
    assert len(of_class(svg, "won")) == len(of_class(svg, "lost")) == 1
    seen = {
        node[1].attrib["class"]: node[0].text for node in parsed(svg) if len(node) > 1 and "class" in node[1].attrib
    }
    assert str(seen["won"]).startswith("a against b")
    assert str(seen["lost"]).startswith("b against a")
    assert len(of_class(svg, "even")) == 2  # 3 to 3, seen from both sides
    assert len(of_class(svg, "level")) == 2  # only ties
    assert texts(svg, "share") == ["80", "50", "20", "50"]
    assert "a against b: 8 won, 2 lost, 1 tied" in svg
    assert "b against d: 0 won, 0 lost, 4 tied" in svg
    assert of_class(svg, "won")[0].attrib["fill-opacity"] == of_class(svg, "lost")[0].attrib["fill-opacity"]


def test_a_heat_map_of_many_is_small_enough_for_a_page() -> None:
    names = [f"somebody/some-rather-long-name-{k}" for k in range(40)]
    counts = [[1234.0 if a != b else 0.0 for b in range(40)] for a in range(40)]
    svg = heat_map(names, counts, counts, width=780)
    assert len(svg) < 400_000
    assert float(parsed(svg).attrib["width"]) <= 780


def test_a_cycle_has_its_arrows_and_margins() -> None:
    svg = cycle(["a", "b", "c", "d"], [(0, 1, 5.0), (1, 2, 3.5), (2, 0, 1.0), (0, 3, 2.0)], loop=[0, 1, 2])
    assert len(of_class(svg, "shaft")) == len(of_class(svg, "head")) == 4
    assert texts(svg, "margin") == ["+2", "+5", "+3.5", "+1"]
    assert sum("strong" in _classes(node) for node in of_class(svg, "arrow")) == 3
    assert "a beats b by 5" in svg


def test_an_arrow_points_at_the_loser() -> None:
    svg = cycle(["a", "b"], [(0, 1, 1.0)])
    (start, tip) = of_class(svg, "node")[0], of_class(svg, "head")[0]
    first, second = (float(node.attrib["cy"]) for node in (start, of_class(svg, "node")[1]))
    y = float(re.findall(r"[\d.]+", tip.attrib["d"])[1])
    assert abs(y - second) < abs(y - first)


def test_bump_shows_each_rank_and_each_order() -> None:
    svg = bump(["one", "two"], ["a", "b", "c"], [[1, 3], [2, 1], [2, 2]])
    assert texts(svg, "place") == ["1", "3", "2", "1", "2", "2"]
    assert texts(svg, "name") == ["a", "b", "c"]
    y = [float(node.attrib["y"]) for node in of_class(svg, "stop")]
    assert y[0] < y[2] < y[4]  # one: a, then b and c, which share a rank, as they are given
    assert y[3] < y[5] < y[1]  # two: b, c, a
    assert "a: 1 by one, 3 by two" in svg


def test_bump_has_room_for_long_ranks() -> None:
    svg = bump(["one"], ["a", "b"], [[1], [53_000]])
    assert sorted(float(node.attrib["width"]) for node in of_class(svg, "stop")) == [20.0, 44.0]


def test_bump_colours_who_is_first_and_who_moves() -> None:
    ranks = [[1, 1], [2, 3], [3, 2], [4, 4]]
    svg = bump(["one", "two"], list("abcd"), ranks)
    coloured = {_classes(node)[1]: node[0].text or "" for node in of_class(svg, "agent") if len(_classes(node)) > 1}
    assert {text[0] for text in coloured.values()} == {"a", "b", "c"}
    assert coloured["c1"].startswith("a")


def test_narrow_columns_have_their_titles_on_two_lines() -> None:
    methods = ["SCO", "Bradley-Terry", "Elo", "Copeland", "Kemeny"]

    def heights(width: float) -> list[str]:
        svg = bump(methods, ["a name", "b"], [[1] * 5, [2] * 5], width=width)
        nodes = [n for n in of_class(svg, "tick") if n.text in ("SCO", "Elo", "Copeland", "Kemeny")]
        return [n.attrib["y"] for n in nodes]

    assert len(set(heights(780))) == 1
    assert len(set(heights(260))) == 2


@settings(max_examples=300)
@given(st.floats(-1e6, 1e6), st.floats(0, 1e6), st.integers(1, 12))
def test_ticks_are_inside_and_not_too_many(low: float, span: float, most: int) -> None:
    found = ticks(low, low + span, most)
    assert 1 <= len(found) <= most + 1
    for tick in found:
        assert low - 1e-6 * max(span, 1) <= tick <= low + span + 1e-6 * max(span, 1)


@given(st.text(max_size=80), st.integers(4, 60))
def test_a_clipped_name_fits(name: str, columns: int) -> None:
    shown = clipped(name, columns)
    assert wide(shown) <= columns
    assert len(shown) <= columns
    assert shown.isprintable()
    if len(printable(name)) <= columns and wide(printable(name)) <= columns:
        assert shown == printable(name)
    else:
        assert "…" in shown


def palettes() -> dict[str, dict[str, str]]:
    """The colours of each block of the style: light, dark, print."""
    css = charts.stylesheet()
    found = [dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block)) for block in re.findall(r":root \{(.*?)\}", css, re.S)]
    return dict(zip(("light", "dark", "print"), found, strict=True))


def luminance(rgb: Sequence[float]) -> float:
    """WCAG 2.1, relative luminance."""
    parts = [c / 255 for c in rgb]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: Sequence[float], b: Sequence[float]) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def rgb(colour: str) -> list[float]:
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_words_can_be_read(theme: str) -> None:
    colours = {name: rgb(value) for name, value in palettes()[theme].items()}
    for ground in ("paper", "panel", "tint", "tint2"):
        for ink in ("ink", "soft", "accent", "problem", "caution", "note", "good"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, f"{ink} on {ground}"
    for line in ("c1", "c2", "c3", "c4", "c5", "c6", "won", "lost"):
        # WCAG asks 3 to 1 of graphics; a cell of a heat map also has its counts in words.
        assert contrast(colours[line], colours["panel"]) >= (3.0 if line.startswith("c") else 2.7), line
    for cell in ("won", "lost"):
        pale = [0.55 * c + 0.45 * p for c, p in zip(colours[cell], colours["paper"], strict=True)]
        assert contrast(colours["ink"], pale) >= 4.5, cell


def test_themes_have_the_same_colours() -> None:
    light, dark, printed = (set(palette) for palette in palettes().values())
    assert light == dark == printed


@pytest.mark.parametrize("draw", [whiskers, heat_map, cycle, bump])
def test_drawing_changes_nothing(draw: Callable[..., str]) -> None:
    names, matrix = ["b", "a", "c"], [[0.0, 1.0, 2.0], [2.0, 0.0, 3.0], [1.0, 1.0, 0.0]]
    given_ = {
        whiskers: (names, [3.0, 2.0, 1.0]),
        heat_map: (names, matrix, matrix),
        cycle: (names, [(0, 1, 2.0)]),
        bump: (["x", "y"], names, [[1, 2], [2, 1], [3, 3]]),
    }[draw]
    before = repr(given_)
    assert draw(*given_) == draw(*given_)
    assert repr(given_) == before


def test_cells_of_a_heat_map_lead_where_they_are_told_to() -> None:
    wins = [[0, 8, 0], [2, 0, 1], [0, 3, 0]]
    svg = heat_map(["a", "b", "c"], wins, [[0] * 3] * 3, link=lambda a, b: f'pair?a="{a}"&b={b}')
    links = list(parsed(svg).iter(f"{SVG}a"))
    assert [node.attrib["href"] for node in links] == [
        f'pair?a="{a}"&b={b}' for a, b in ((0, 1), (1, 0), (1, 2), (2, 1))
    ]
    assert {node.attrib["tabindex"] for node in links} == {"-1"}
    assert parsed(svg).attrib["role"] == "group", "an image has no parts that lead on"


def test_a_timeline_is_to_scale() -> None:
    day = 86400.0
    svg = timeline([0, day, 3 * day], [10.0, 30.0, 20.0], ["one", "two", "three"], axis="rating")
    x, y = ([float(node.attrib[c]) for node in of_class(svg, "point")][::-1] for c in ("cx", "cy"))
    assert (x[2] - x[1]) / (x[1] - x[0]) == pytest.approx(2.0, abs=0.01)
    assert (y[0] - y[1]) / (y[2] - y[1]) == pytest.approx(2.0, abs=0.01), "higher is better, and higher"
    assert [text for text in texts(svg, "tick") if text.startswith("1970")] == [f"1970-01-0{k}" for k in range(1, 5)]
    assert [node[0].text for node in of_class(svg, "moment")] == ["three", "two", "one"]


def test_a_timeline_of_one_moment_and_of_many() -> None:
    assert len(of_class(timeline([5.0], [1.0], ["x"]), "point")) == 1
    many = timeline([float(k) for k in range(5000)], [float(k % 7) for k in range(5000)], ["x"] * 5000)
    assert len(of_class(many, "point")) < 100, "dots keep apart"


def test_shares_are_to_scale() -> None:
    svg = shares(("a", "b"), 6, 0, 3, width=900)
    won, lost = of_class(svg, "won")[0], of_class(svg, "lost")[0]
    assert float(won.attrib["width"]) == 599  # of 900, less the gap
    assert float(lost.attrib["x"]) == 600
    assert texts(svg, "share") == ["67 %", "33 %"]
    assert of_class(svg, "level") == []


SIMILAR = [f"claude-opus-4-5-20251101-thinking-{effort}-effort" for effort in ("high", "low", "medium", "max")]


def test_no_two_rows_read_the_same() -> None:
    counts = [[0.0 if a == b else 3.0 for b in range(4)] for a in range(4)]
    for svg in (
        whiskers(SIMILAR, [4.0, 3.0, 2.0, 1.0], width=328),
        heat_map(SIMILAR, counts, counts, width=328),
        bump(["one", "two"], SIMILAR, [[k, k] for k in range(1, 5)], width=328),
        cycle(SIMILAR, [(0, 1, 1.0)], width=328),
    ):
        shown = [name.lstrip("1234 ") for name in texts(svg, "name")]
        assert len(set(shown)) == 4, shown


def test_the_diagonal_of_a_heat_map_is_blank() -> None:
    counts = [[0.0, 2.0], [1.0, 0.0]]
    svg = heat_map(["a", "b"], counts, [[0.0] * 2] * 2, marks=["7", "9"])
    assert texts(svg, "tick") == ["7", "9"], "above the columns alone"
    assert texts(svg, "name") == ["7  a", "9  b"]


def test_ranks_have_whole_marks() -> None:
    svg = whiskers(["a", "b"], [1.0, 2.0], [1.0, 1.0], [2.0, 2.0], axis="rank", whole=True)
    assert texts(svg, "tick") == ["1", "2", "rank"]


def test_bars_in_rows_share_their_axis() -> None:
    axis = charts.Axis(0.0, 100.0)
    (low,), (middle,), (high,) = (of_class(axis.bar(0.0, value, 100.0), "point") for value in (0.0, 50.0, 100.0))
    x = [float(node.attrib["cx"]) for node in (low, middle, high)]
    assert x[1] - x[0] == pytest.approx(x[2] - x[1])
    whisker = [float(n) for n in re.findall(r"[\d.]+", of_class(axis.bar(0.0, 50.0, 100.0), "whisker")[0].attrib["d"])]
    assert (whisker[0], whisker[2]) == (x[0], x[2])
    assert texts(axis.head(), "tick")[0] == "0"
    assert parsed(axis.bar(1.0, 2.0, 3.0)).attrib["aria-hidden"] == "true"
