"""Runs the Python examples of docs/results.md in a folder of results: readers.py DIR. Needs pandas, pyarrow, polars, duckdb."""

import os
import re
import sys
from pathlib import Path

document = Path(__file__).resolve().parents[2] / "docs" / "results.md"
examples = re.findall(r"```python\n(.*?)```", document.read_text(), re.DOTALL)
os.chdir(sys.argv[1])
for example in examples:
    exec(example, {})
print(f"{len(examples)} examples work")
