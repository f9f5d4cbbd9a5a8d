# SPDX-License-Identifier: Apache-2.0
"""Writes the figures of a benchmark run into a Markdown file: write_report.py RUN.json [FILE]

RUN.json is what `tests/benchmarks/run.sh --json` writes. FILE (default README.md) holds the lines `<!-- figures: begin -->` and
`<!-- figures: end -->`; what stands between them is replaced. Figures with a goal are shown, in the order of their names;
the file of the run holds all.
"""
import json
import os
import re
import sys

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def number(value):
    """Four digits, without an exponent where that is readable."""
    if value is None:
        return ""
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def natural(name):
    """A key that puts /8 before /32."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def table(run):
    """The section as Markdown."""
    machine = run["machine"]
    lines = [f"{machine['processor']}, {machine['threads']} threads, {machine['system']}; {run['compiler']}; `{run['flags']}`; "
             f"commit {run['commit'][:12]}.", ""]
    if run["quick"]:
        lines += ["From a quick run: rough.", ""]
    shown = sorted((f for f in run["figures"] if f["goal"] is not None), key=lambda f: natural(f["name"]))
    lines += ["| Figure | Value | Baseline of the same run | Ratio | Goal | Met |", "|---|---|---|---|---|---|"]
    for figure in shown:
        baseline = f"{number(figure['baseline']['value'])} {figure['unit']} ({figure['baseline']['name']})" if figure["baseline"] else ""
        met = {None: "", True: "yes", False: "**no**"}[figure["met"]]
        lines.append(f"| {figure['name']} | {number(figure['value'])} {figure['unit']} | {baseline} | {number(figure['ratio'])} "
                     f"| {figure['goal'] or ''} | {met} |")
    return "\n".join(lines)


def main():
    """Replaces the section."""
    if len(sys.argv) not in (2, 3) or sys.argv[1] in ("-h", "--help"):
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        run = json.load(file)
    project = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = sys.argv[2] if len(sys.argv) == 3 else os.path.join(project, "README.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        print(f"{path}: needs one line '{BEGIN}' and one '{END}' after it", file=sys.stderr)
        return 1
    text = text[:text.index(BEGIN)] + BEGIN + "\n" + table(run) + "\n" + text[text.index(END):]
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
