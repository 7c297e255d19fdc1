"""A small valid file of each format that ``sc.read`` takes; those of evaluation tools are from ``logs``."""

from __future__ import annotations

import copy
import io
import zipfile
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from helpers.logs import FILES, encoded

SHEET = """<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>%s</sheetData></worksheet>"""


def workbook(rows: list[list[str | float | None]]) -> bytes:
    """The least that is a workbook: cells as inline texts and numbers."""

    def cell(value: str | float | None, place: str) -> str:
        if value is None:
            return ""
        if isinstance(value, str):
            return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
        return f'<c r="{place}"><v>{value}</v></c>'

    lines = [
        f'<row r="{r}">' + "".join(cell(value, f"{chr(65 + k)}{r}") for k, value in enumerate(row)) + "</row>"
        for r, row in enumerate(rows, 1)
    ]
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    files = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/>'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kinds}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
        f'xmlns:r="{relations}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{relations}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": SHEET % "".join(lines),
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def parquet_of(columns: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    parquet.write_table(pa.table(columns), out)
    return out.getvalue()


def main_file(name: str) -> tuple[str, Any]:
    """The file of a tool's fixture that holds its scores and is text."""
    files = FILES[name]
    path = next(path for path in files if not path.endswith((".eval", "model_meta.json", "run_spec.json")))
    return path, copy.deepcopy(files[path])


BATTLES = {"model_a": ["x", "y", "x"], "model_b": ["y", "z", "z"], "winner": ["model_a", "tie", "model_b"]}
ROWS = [list(row) for row in zip(*BATTLES.values(), strict=True)]
ELECTION = (
    "# DATA TYPE: %s\n# NUMBER ALTERNATIVES: 2\n# ALTERNATIVE NAME 1: x\n# ALTERNATIVE NAME 2: y\n3: 1,2\n1: 2,1\n"
)

# The name and the bytes of a file of each format.
SAMPLES: dict[str, tuple[str, bytes]] = {
    **{suffix: (f"x.{suffix}", (ELECTION % suffix).encode()) for suffix in ("soc", "soi", "toc", "toi")},
    "preflib": ("x", (ELECTION % "soc").encode()),
    "csv": ("x.csv", "\n".join(",".join(row) for row in [[*BATTLES], *ROWS]).encode()),
    "tsv": ("x.tsv", "\n".join("\t".join(row) for row in [[*BATTLES], *ROWS]).encode()),
    "jsonl": ("x.jsonl", encoded("x.jsonl", [dict(zip(BATTLES, row, strict=True)) for row in ROWS])),
    "json": ("x.json", encoded("x.json", [dict(zip(BATTLES, row, strict=True)) for row in ROWS])),
    "parquet": ("x.parquet", parquet_of(BATTLES)),
    "md": ("x.md", b"# Board\n\n| model | MMLU | ARC |\n|---|---:|---|\n| x | **71.2** | 1 |\n| y | 70 | 2 |\n"),
    "xlsx": ("x.xlsx", workbook([["model", "MMLU", "ARC"], ["x", 71.2, 1], ["y", 70, 2]])),
    **{name: (main_file(name)[0], encoded(*main_file(name))) for name in FILES},
}
