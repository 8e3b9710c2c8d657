"""Runs, results and comparisons of Prony as data frames.

    import prony
    prony.results("latest")             one row for each result of the last run
    prony.compare("web-1", "latest")    one row for each result of each machine, with its verdict
    prony.samples("latest")             one row for each sample

A run is a number, a label or a file, as on the command line. Times are in seconds, rates in units per second, sizes in
bytes. Frames are those of pandas if it is installed, otherwise those of polars; `library` names one of them.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Union

if TYPE_CHECKING:
    import pandas
    import polars

    Frame = Union[pandas.DataFrame, polars.DataFrame]

__all__ = ["PronyError", "bytes_of", "compare", "document", "parameters", "program", "results", "runs", "samples"]

StorePath = Optional[Union[str, "os.PathLike[str]"]]


_COUNTS = frozenset(["samples", "batches"])
_NUMBERS = frozenset(
    ["value", "low", "high", "level", "resolution", "rounding", "clean", "raw", "raw_low", "raw_high"]
    + ["gain", "p_value", "adjusted_p", "assumed_low", "assumed_high", "assumed_floor", "reference_rounding"]
    + ["cycles", "cycles_low", "cycles_high", "time", "time_low", "time_high", "clock", "detectable"]
)


class PronyError(Exception):
    """What the program said when it could not answer."""


def program() -> str:
    """The path of the program: the one of this package, or else that of the PATH."""
    # Of an environment, of a user, of a folder that pip was told.
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", f"{os.name}_user")]
    packaged = [Path(folder) / "prony" for folder in [*folders, str(Path(__file__).parents[1] / "bin")]]
    found = next((str(path) for path in packaged if path.exists()), None) or shutil.which("prony")
    if found is None:
        raise PronyError("could not find the program prony; install it, or add its folder to PATH")
    return found


def runs(store: StorePath = None, library: Optional[str] = None) -> Frame:
    """The stored runs, one row each: handle, id, label, machine, started, suite, results, complete, interrupted."""
    stored = json.loads(_ask(["runs"], "json", store))
    names = ["handle", "id", "label", "machine", "started", "suite", "results", "complete", "interrupted"]
    return _frame([{name: run.get(name) for name in names} for run in stored], library)


def results(*names: str, store: StorePath = None, library: Optional[str] = None) -> Frame:
    """The results of runs (the latest one, if none is named), one row each.

    `value`, `low` and `high` are the median and its interval, `level` the confidence of that interval, `outcome` says
    whether it was measured, and `detail` why not. `values` are those of the samples that count.
    """
    return _table(_ask(["show", *(names or ("latest",))], "csv", store), library)


def compare(baseline: str, *others: str, store: StorePath = None, library: Optional[str] = None) -> Frame:
    """Each result of each run beside that of the baseline, one row each.

    `gain` is how much better a machine is than the baseline (2: twice as fast), `low` and `high` its interval,
    `verdict` is slower, faster, no change or inconclusive, and `p_value` and `adjusted_p` are its evidence.
    """
    return _table(_ask(["compare", baseline, *others], "csv", store), library)


def samples(name: str = "latest", store: StorePath = None, library: Optional[str] = None) -> Frame:
    """The samples of a run, one row each, also those that do not count.

    `round` is the round that it belongs to, `began` and `wall` are seconds since the start of the run, and `batches` how
    many batches it has.
    """
    rows: List[Dict[str, Any]] = []
    for result in document(name, store)["results"]:
        shown = ",".join(f"{key}={value}" for key, value in result["parameters"].items())
        for sample in result.get("samples", []):
            row = {"benchmark": result["benchmark"], "parameters": shown, "unit": result["metric"]["unit"]}
            row.update({key: sample.get(key) for key in ("round", "began", "wall", "value")})
            row["batches"] = len(sample.get("nanos", []))
            rows.append(row)
    return _frame(rows, library)


def document(name: str = "latest", store: StorePath = None) -> Dict[str, Any]:
    """The whole document of a run; docs/reference/run.schema.json in the source describes it."""
    read: Dict[str, Any] = json.loads(_ask(["show", name], "json", store))
    return read


def parameters(text: str) -> Dict[str, str]:
    """The parameters of a result, by name: `working_set=32KiB,pages=base`."""
    return dict(part.split("=", 1) for part in text.split(",") if part)


def bytes_of(size: str) -> int:
    """A size in bytes: `32KiB` is 32768, `1MB` a million."""
    read = re.fullmatch(r"([0-9]+) ?([kKMGT]?)(i?)B", size)
    if read is None:
        raise ValueError(f"could not read the size {size!r}; write it like 32KiB")
    number, prefix, binary = read.groups()
    base = 1024 if binary else 1000
    return int(number) * int(base ** " KMGT".index(prefix.upper() or " "))


def _ask(words: List[str], form: str, store: StorePath) -> str:
    stored = [] if store is None else ["--store", os.fspath(store)]
    asked = subprocess.run([program(), *words, "--format", form, *stored], capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        raise PronyError(asked.stderr.strip() or f"prony ended with exit code {asked.returncode}")
    return asked.stdout


def _library(library: Optional[str]) -> str:
    if library not in (None, "pandas", "polars"):
        raise ValueError(f"could not use {library!r} for frames; name pandas or polars")
    for name in (library,) if library else ("pandas", "polars"):
        try:
            __import__(name)
        except ImportError:
            continue
        return name
    raise PronyError(f"could not make a frame: install {library or 'pandas or polars'}")


def _frame(rows: List[Dict[str, Any]], library: Optional[str]) -> Frame:
    if _library(library) == "pandas":
        import pandas

        return pandas.DataFrame(rows)
    import polars

    return polars.DataFrame(rows, infer_schema_length=None)


def _table(text: str, library: Optional[str]) -> Frame:
    """A table of the program as a frame; an empty cell is no value."""
    read = csv.DictReader(io.StringIO(text))
    return _frame([{name: _cell(name, cell) for name, cell in row.items()} for row in read], library)


def _cell(name: str, text: str) -> Any:
    if name == "values":
        return [float(one) for one in text.split()]
    if not text:
        return "" if name == "parameters" else None
    # Texts such as a label may look like numbers.
    return int(text) if name in _COUNTS else float(text) if name in _NUMBERS else text
