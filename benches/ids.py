#!/usr/bin/env python3
"""Counts the ids of benchmarks in string literals of the code outside `crates/core/benchmarks`, by file; tests are left out.

benches/ids.py [-l]: `-l` lists every place."""
import collections, pathlib, re, sys

root = pathlib.Path(__file__).resolve().parent.parent
benchmarks = root / "crates/core/benchmarks/src"
ids = {found for path in benchmarks.rglob("*.rs") for found in re.findall(r'\bid: "([a-z]+\.[a-z0-9_]+)"', path.read_text())}
pattern = re.compile(r"(?<![\w.])(?:" + "|".join(sorted(map(re.escape, ids), key=len, reverse=True)) + r")(?![\w.]*\w)")
literal = re.compile(r'"(?:[^"\\]|\\.)*"', re.S)
test = re.compile(r"^#\[cfg\(test\)\]\n(?:#\[.*\]\n)*mod \w+ \{\n.*?^\}\n", re.S | re.M)
count = collections.Counter()
for path in sorted([*(root / "crates").rglob("*.rs"), *(root / "src").rglob("*.rs")]):
    name = str(path.relative_to(root))
    if re.search(r"/tests/|tests\.rs$|/planted\.rs$|^crates/core/(benchmarks|testing)/", name):
        continue
    text = test.sub("", path.read_text())
    text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    for string in literal.findall(text):
        for found in pattern.findall(string):
            count[name] += 1
            if "-l" in sys.argv:
                print(f"{name}: {found}")
for name, number in count.most_common():
    print(f"{number:4} {name}")
print(f"{sum(count.values()):4} of {len(ids)} ids in {len(count)} files")
