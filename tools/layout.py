"""The house in numbers: how many files there are, how long, who imports whom, and how a command walks through them.

    python tools/layout.py [--flow]

`tests/test_layers.py` holds them. With --flow, also through how many files `sco rank` and a vote run, and how often
they change from one file to another.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "softcondorcet"
SHORT = 60
# Imports inside functions that go up, or in a circle: a profile makes its pairs, reads frames,
# chooses and balances votes, ratings draw themselves, each when it is asked to.
LAZY = {
    ("softcondorcet.profile", "softcondorcet.pairs"),
    ("softcondorcet.profile", "softcondorcet.io.assemble"),
    ("softcondorcet.profile", "softcondorcet.io.balance"),
    ("softcondorcet.profile", "softcondorcet.io.conditions"),
    ("softcondorcet.ratings", "softcondorcet.plots"),
}
# Notes which functions of the package are called, and how often a thread goes from one file to another. What runs only
# because a module is imported for the first time, such as decorators, is no part of the way of a datum.
_WATCH = """
import inspect
import json
import sys
import threading
from pathlib import Path
import softcondorcet
home, last, calls, loading, changes = Path(softcondorcet.__file__).parent, {}, {}, {}, 0
def watch(frame, event, _):
    global changes
    code, thread = frame.f_code, threading.get_ident()
    if code.co_name == "<module>" or code.co_qualname == "Kernel.__call__":  # one step, interpreted or compiled
        loading[thread] = loading.get(thread, 0) + {"call": 1, "return": -1}.get(event, 0)
    function = code.co_flags & inspect.CO_OPTIMIZED
    if event == "call" and function and not loading.get(thread) and code.co_filename.startswith(str(home)):
        calls.setdefault((code.co_filename, code.co_qualname))
        changes += code.co_filename != last.setdefault(thread, code.co_filename)
        last[thread] = code.co_filename
def report():
    found = [(str(Path(file).relative_to(home)), function) for file, function in calls]
    print(json.dumps({"calls": found, "changes": changes}), file=sys.stderr)
"""
_COMMAND = """
from softcondorcet.cli import main
sys.setprofile(watch)
try:
    main(sys.argv[1:], standalone_mode=False)
finally:
    sys.setprofile(None)
    report()
"""
# One POST /votes, once the service has started: in the event loop, and in the thread that writes.
_VOTE = """
import asyncio
from softcondorcet.server.ledger.service import Service, Settings
from softcondorcet.server.web.app import make_app
async def vote():
    global changes
    service, answers = Service(sys.argv[1], Settings(fitted=frozenset())), []
    app = make_app(service)
    threading.setprofile(watch)
    await service.start()
    await asyncio.sleep(0.5)  # the board is made, and nothing else goes on
    calls.clear()
    last.clear()
    changes = 0
    thread, this = threading.get_ident(), asyncio.current_task()
    def watch_vote(*event):  # and not what other tasks do while this one waits
        if threading.get_ident() != thread or asyncio.current_task() in (None, this):
            watch(*event)
    async def receive():
        return {"type": "http.request", "body": b'{"a": "x", "b": "y", "winner": "a"}', "more_body": False}
    async def send(message):
        answers.append(message.get("status"))
    scope = {"type": "http", "method": "POST", "path": "/votes", "query_string": b"", "headers": [], "client": None}
    sys.setprofile(watch_vote)
    await app(scope, receive, send)
    sys.setprofile(None)
    report()
    assert answers[0] == 201
    await service.stop()
asyncio.run(vote())
"""


@dataclass(frozen=True)
class Module:
    """One file of the package, by its dotted name."""

    name: str
    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    @property
    def folder(self) -> str:
        """The room it is in: a folder of the package, of the server two deep; of a file beside them its own name."""
        parts = self.name.split(".")[1:]
        deep = 2 if parts[:1] == ["server"] and len(parts) > 2 else 1
        return ".".join(parts[:deep])

    @property
    def functions(self) -> dict[str, int]:
        """Lines of each function, those inside it included, without its docstring.

        A public function documents each of its options, so a docstring grows with them: `sco` has 21.
        """
        kinds = ast.FunctionDef | ast.AsyncFunctionDef
        found = [node for node in ast.walk(self.tree) if isinstance(node, kinds)]
        return {f"{self.name}.{node.name}": _span(node) - _docstring_lines(node) for node in found}


def _span(node: ast.stmt) -> int:
    return (node.end_lineno or 0) - node.lineno + 1


def _docstring_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return 0 if ast.get_docstring(function, clean=False) is None else _span(function.body[0])


def modules(source: Path = SOURCE) -> dict[str, Module]:
    found = {}
    for path in sorted(source.rglob("*.py")):
        name = ".".join(path.relative_to(source.parent).with_suffix("").parts).removesuffix(".__init__")
        found[name] = Module(name, path)
    return found


def imports(all_modules: dict[str, Module]) -> dict[str, set[str]]:
    """What each module imports when it runs, also inside functions; imports for type checkers do not count."""
    found: dict[str, set[str]] = {}
    for module in all_modules.values():
        typing = {
            child
            for node in ast.walk(module.tree)
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            for child in ast.walk(node)
        }
        named: set[str] = set()
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom) and node not in typing and node.module:
                below = [f"{node.module}.{alias.name}" for alias in node.names]
                named |= {name if name in all_modules else node.module for name in below}
            elif isinstance(node, ast.Import) and node not in typing:
                named |= {alias.name for alias in node.names}
        found[module.name] = (named & set(all_modules)) - {module.name}
    return found


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Modules that import each other in a circle, but for the lazy exceptions."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(one: str) -> None:
        number[one] = low[one] = len(number)
        stack.append(one)
        for other in sorted(graph[one]):
            if (one, other) in LAZY:
                continue
            if other not in number:
                visit(other)
                low[one] = min(low[one], low[other])
            elif other in stack:
                low[one] = min(low[one], number[other])
        if low[one] == number[one]:
            circle = stack[stack.index(one) :]
            del stack[stack.index(one) :]
            if len(circle) > 1:
                found.append(sorted(circle))

    for one in graph:
        if one not in number:
            visit(one)
    return found


def both_ways(all_modules: dict[str, Module], graph: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Folders that import each other."""
    between = {
        (all_modules[one].folder, all_modules[other].folder)
        for one, others in graph.items()
        for other in others
        if (one, other) not in LAZY
    }
    return sorted((a, b) for a, b in between if a < b and (b, a) in between)


def short_with_one_importer(all_modules: dict[str, Module], graph: dict[str, set[str]]) -> list[str]:
    importers: dict[str, set[str]] = defaultdict(set)
    for one, others in graph.items():
        for other in others:
            importers[other].add(one)
    short = (module for module in all_modules.values() if module.lines < SHORT and module.path.name != "__init__.py")
    return [module.name for module in short if len(importers[module.name]) == 1]


@dataclass(frozen=True)
class Flow:
    """What runs: each function that is called, by file and name in the order of first calls, and changes of file."""

    calls: list[tuple[str, str]]
    changes: int

    @property
    def files(self) -> int:
        return len({file for file, _ in self.calls})


def flow(code: str, *words: str) -> Flow:
    env = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    command = [sys.executable, "-c", _WATCH + code, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    said = json.loads(done.stderr.splitlines()[-1])
    return Flow([(file, function) for file, function in said["calls"]], said["changes"])


def flow_of_command(*words: str) -> Flow:
    """The flow of a command about `battles.csv`, a few battles."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "battles.csv"
        file.write_text("model_a,model_b,winner\nx,y,model_a\ny,z,model_a\nz,x,tie\n")
        return flow(_COMMAND, *(word.replace("FOLDER", folder) for word in words))


def flow_of_rank() -> Flow:
    return flow_of_command("rank", "FOLDER/battles.csv")


def flow_of_report() -> Flow:
    return flow_of_command("report", "FOLDER/battles.csv", "-o", "FOLDER/report.html")


def flow_of_vote() -> Flow:
    """The flow of a vote, from the ASGI application to the disk and back."""
    with tempfile.TemporaryDirectory() as folder:
        return flow(_VOTE, str(Path(folder) / "board.db"))


def main() -> None:
    found = modules()
    graph = imports(found)
    circles, pairs, short = cycles(graph), both_ways(found, graph), short_with_one_importer(found, graph)
    functions = {name: lines for module in found.values() for name, lines in module.functions.items()}
    longest = max(found.values(), key=lambda module: module.lines)
    function = max(functions, key=functions.__getitem__)
    lines = sum(module.lines for module in found.values())
    print(f"source files                     {len(found)}")
    print(f"lines of Python                  {lines:,} ({lines / len(found):.0f} a file)")
    print(f"under {SHORT} lines, one importer      {len(short)}: {', '.join(short)}")
    print(f"folders that import each other   {len(pairs)}: {', '.join(' and '.join(pair) for pair in pairs)}")
    print(f"import cycles                    {len(circles)}: {'; '.join(', '.join(circle) for circle in circles)}")
    print(f"longest file                     {longest.lines} {longest.name}")
    print(f"longest function                 {functions[function]} {function}")
    if "--flow" in sys.argv[1:]:
        for name, flow in {"sco rank battles.csv": flow_of_rank(), "a vote": flow_of_vote()}.items():
            print(f"{name:32} {flow.files} files, {flow.changes} changes")


if __name__ == "__main__":
    main()
