"""The reader says what the program says: python3 -m unittest discover packaging/python/tests, with prony in PATH."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import prony

RUNS = [str(Path(__file__).parents[3] / "tests/docs" / f"{name}.json.zst") for name in ("alone", "loaded")]


class Reader(unittest.TestCase):
    folder: "tempfile.TemporaryDirectory[str]"
    store: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.store = cls.folder.name + "/runs.sqlite"
        subprocess.run([prony.program(), "import", *RUNS, "--store", cls.store], check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def test_results_are_those_of_the_document(self) -> None:
        document = prony.document("alone", store=self.store)
        kept = [result for result in document["results"] if "measured" in result["outcome"]]
        for library in ("pandas", "polars"):
            table = prony.results("alone", store=self.store, library=library)
            measured = [row for row in _rows(table) if row["outcome"] == "measured"]
            shown = {(row["benchmark"], row["parameters"]): row for row in measured}
            self.assertGreater(len(shown), 10)
            for result in kept:
                name = ",".join(f"{key}={value}" for key, value in result["parameters"].items())
                row = shown.get((result["benchmark"], name))
                if row is None:
                    continue
                estimate = result["outcome"]["measured"]
                self.assertEqual([row["value"], row["low"], row["high"]], [estimate[key] for key in ("value", "low", "high")])
                self.assertEqual(len(row["values"]), estimate["samples"])
                self.assertTrue(all(isinstance(one, float) for one in row["values"]))

    def test_several_runs_are_one_table(self) -> None:
        table = prony.results("alone", "loaded", store=self.store, library="pandas")
        self.assertEqual(sorted(set(table["label"])), ["alone", "loaded"])

    def test_verdicts_are_those_of_the_program(self) -> None:
        said = subprocess.run(
            [prony.program(), "compare", "alone", "loaded", "--format", "json", "--store", self.store],
            check=True, capture_output=True, text=True,
        ).stdout
        tally = json.loads(said)["machines"][1]["tally"]
        for library in ("pandas", "polars"):
            rows = _rows(prony.compare("alone", "loaded", store=self.store, library=library))
            verdicts = [row["verdict"] for row in rows if row["machine"] == "loaded"]
            for word in ("slower", "faster", "no change", "inconclusive"):
                self.assertEqual(verdicts.count(word), tally[word.replace(" ", "_")], word)

    def test_samples_and_stored_runs(self) -> None:
        document = prony.document("loaded", store=self.store)
        wanted = sum(len(result.get("samples", [])) for result in document["results"])
        for library in ("pandas", "polars"):
            self.assertEqual(len(prony.samples("loaded", store=self.store, library=library)), wanted)
            stored = _rows(prony.runs(store=self.store, library=library))
            self.assertEqual([run["label"] for run in stored], ["alone", "loaded"])

    def test_what_cannot_be_answered_says_why(self) -> None:
        with self.assertRaisesRegex(prony.PronyError, "could not"):
            prony.results("absent", store=self.store)
        with self.assertRaisesRegex(ValueError, "pandas or polars"):
            prony.results("alone", store=self.store, library="numpy")

    def test_parameters_and_sizes(self) -> None:
        self.assertEqual(prony.parameters("working_set=32KiB,pages=base"), {"working_set": "32KiB", "pages": "base"})
        self.assertEqual([prony.bytes_of(size) for size in ("8B", "32KiB", "1MB")], [8, 32768, 1000000])
        with self.assertRaises(ValueError):
            prony.bytes_of("much")


def _rows(frame):  # type: ignore[no-untyped-def]
    return frame.to_dict("records") if hasattr(frame, "to_dict") and not hasattr(frame, "to_dicts") else frame.to_dicts()


if __name__ == "__main__":
    unittest.main()
