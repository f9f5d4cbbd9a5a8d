# SPDX-License-Identifier: Apache-2.0
"""server/telemetry/metrics.md as a table, an exposition as one, and what differs between them."""
import dataclasses
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "server", "telemetry", "metrics.md")


@dataclasses.dataclass(frozen=True)
class Family:
    """Type and label names of a metric."""
    type: str
    labels: frozenset


def parse_table(text):
    """Name -> Family, of the rows of the table."""
    families = {}
    for line in text.splitlines():
        match = re.match(r"\| `(\w+)` \| (\w+) \|([^|]*)\|", line)
        if match:
            families[match.group(1)] = Family(match.group(2), frozenset(re.findall(r"`(\w+)`", match.group(3))))
    return families


def read_table():
    """The table of the project."""
    with open(TABLE, encoding="utf-8") as file:
        return parse_table(file.read())


def parse_exposition(text):
    """(name -> Family, series -> value) of an answer to GET /metrics."""
    types, labels, values = {}, {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            types[name] = kind
            labels.setdefault(name, set())
        elif line and not line.startswith("#"):
            series, value = line.rsplit(" ", 1)
            values[series] = float(value)
            name = series.split("{")[0]
            base = name if name in types else re.sub(r"_(bucket|sum|count)$", "", name)
            # Bounds and quantiles belong to the type.
            labels.setdefault(base, set()).update(set(re.findall(r'(\w+)="', series)) - {"le", "quantile"})
    return {name: Family(kind, frozenset(labels[name])) for name, kind in types.items()}, values


def differences(table, exposed):
    """One line for each disagreement, in either direction."""
    lines = [f"{name} is in the table and not exposed" for name in sorted(table.keys() - exposed.keys())]
    lines += [f"{name} is exposed and not in the table" for name in sorted(exposed.keys() - table.keys())]
    for name in sorted(table.keys() & exposed.keys()):
        if table[name].type != exposed[name].type:
            lines.append(f"{name} is a {exposed[name].type}, the table says {table[name].type}")
        if table[name].labels != exposed[name].labels:
            lines.append(f"{name} has the labels {sorted(exposed[name].labels)}, the table says {sorted(table[name].labels)}")
    return lines
