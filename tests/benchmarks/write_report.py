# SPDX-License-Identifier: Apache-2.0
"""Writes the figures of a benchmark run into a Markdown file: write_report.py RUN.json [FILE]

RUN.json is what `tests/benchmarks/run.sh --json` writes. FILE (default README.md) holds the lines `<!-- figures: begin -->` and
`<!-- figures: end -->`; what stands between them is replaced: one folded table for each topic of questions.py, with the figures that answer
its questions and those that have a goal. The file of the run holds all.
"""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from questions import QUESTIONS  # noqa: E402  pylint: disable=wrong-import-position

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def number(value):
    """Four digits, without an exponent where that is readable."""
    if value is None:
        return ""
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"


def natural(name):
    """A key that puts /8 before /32."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


# Figures that have a goal and answer no question.
OTHER = "other"


def topic_of(name):
    """The topic of the first question that a figure answers."""
    for question in QUESTIONS:
        if any(re.fullmatch(pattern, name) for pattern in question.patterns):
            return question.topic
    return None


def by_topic(figures):
    """{topic: {name of a figure: what was judged of it}}, in the order of the questions."""
    topics = {question.topic: {} for question in QUESTIONS}
    topics[OTHER] = {}
    for figure in sorted(figures, key=lambda f: natural(f["name"])):
        topic = topic_of(figure["name"]) or (OTHER if figure["goal"] else None)
        if topic:
            topics[topic].setdefault(figure["name"], []).append(figure)
    return topics


def row(judgements):
    """One figure with all its baselines and goals."""
    first = judgements[0]
    baselines, goals = [], []
    for judged in judgements:
        baseline = ""
        if judged["baseline"]:
            baseline = f"{number(judged['ratio'])} times {judged['baseline']['name']} ({number(judged['baseline']['value'])})"
            if baseline not in baselines:
                baselines.append(baseline)
        if judged["goal"]:
            goals.append(judged["goal"] + ("" if judged["met"] is None else ": met" if judged["met"] else ": **missed**"))
    return f"| {first['name']} | {number(first['value'])} {first['unit']} | {'<br>'.join(baselines)} | {'<br>'.join(goals)} |"


def summary(topic, judgements):
    """The line that stands for a folded table."""
    judged = [f for group in judgements for f in group if f["met"] is not None]
    texts = "; ".join(question.text for question in QUESTIONS if question.topic == topic and question.patterns) or "figures with a goal"
    met = f" ({sum(f['met'] for f in judged)} of {len(judged)} goals met)" if judged else ""
    return f"<details><summary><b>{topic}</b>: {texts}{met}</summary>"


def table(run):
    """The section as Markdown."""
    machine = run["machine"]
    lines = [f"{machine['processor']}, {machine['threads']} threads, {machine['system']}; {run['compiler']}; `{run['flags']}`; "
             f"commit {run['commit'][:12]}.", ""]
    if run["quick"]:
        lines += ["From a quick run: rough.", ""]
    for topic, figures in by_topic(run["figures"]).items():
        if not figures:
            continue
        lines += [summary(topic, figures.values()), "", "| Figure | Value | Over its baseline of the same run | Goal |", "|---|---|---|---|"]
        lines += [row(judgements) for judgements in figures.values()]
        lines += ["", "</details>", ""]
    elsewhere = [f"{question.text}: {question.answered_by}" for question in QUESTIONS if question.answered_by]
    lines += ["Measured by other programs: " + "; ".join(elsewhere) + "."]
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
