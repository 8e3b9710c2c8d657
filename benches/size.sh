#!/bin/bash
# size.sh: how large this repository is, as one table in Markdown: lines of Rust by crate, crates, packages in
# Cargo.lock, commands without subcommands, distinct options, rules, and words of Markdown outside docs/reference.
# Commands and options are those of docs/reference/commands.md, which the tests compare to the program.
set -eu
cd "$(dirname "$0")/.."
exec python3 - <<'PYTHON'
import re
import subprocess
from pathlib import Path

tracked = [Path(name) for name in subprocess.check_output(["git", "ls-files", "-z"], text=True).split("\0") if name]
tracked = [path for path in tracked if path.is_file()]
rust = {}
for path in tracked:
    if path.suffix != ".rs":
        continue
    crate = path.parts[1] if path.parts[0] == "crates" else "fuzz" if path.parts[0] == "fuzz" else "the program"
    tests = path.name == "tests.rs" or path.name.endswith("_tests.rs") or "tests" in path.parts[:-1]
    rust.setdefault(crate, [0, 0])[tests] += len(path.read_text().splitlines())

pages = Path("docs/reference/commands.md").read_text()
_, *sections = re.split(r"^### (prony .*)$", pages, flags=re.M)
options = set(re.findall(r"^ +(?:-\w, )?(--[a-z][a-z0-9-]*)", pages, re.M))
leaves = [name for name, body in zip(sections[::2], sections[1::2]) if "\nCommands:\n" not in body]

rules = re.findall(r"^ +\w+: (?:u32|f64) = ", Path("crates/core/model/src/rules.rs").read_text(), re.M)
words = sum(
    len(path.read_text().split()) for path in tracked if path.suffix == ".md" and path.parts[:2] != ("docs", "reference")
)

print("| What | How many | Of them in files of tests |\n|---|---:|---:|")
for crate, (code, tests) in sorted(rust.items()):
    print(f"| lines of Rust, {crate} | {code + tests} | {tests} |")
print(f"| lines of Rust | {sum(map(sum, rust.values()))} | {sum(tests for _, tests in rust.values())} |")
for what, number in [
    ("crates", len([path for path in tracked if path.name == "Cargo.toml"])),
    ("packages in Cargo.lock", Path("Cargo.lock").read_text().count("[[package]]")),
    ("commands without subcommands", len(leaves)),
    ("distinct options", len(options)),
    ("rules", len(rules)),
    ("words of Markdown outside docs/reference", words),
]:
    print(f"| {what} | {number} | |")
PYTHON
