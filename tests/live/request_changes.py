# SPDX-License-Identifier: Apache-2.0
"""Changes to a request, as tables write them: `path = value; path = value`.

`{a,b}` in a path and `one of` before values stand for one change each; a value is JSON or a function: straight(n), circle(n), zigzag(n), line(n),
text(n), zeros(n), items(n): n empty ones, crowd(n): 10,000 small items of a batch and among them one of n portals. `delete path` removes a field; `scaled(f)` and `moved(d)` act on every coordinate; `bytes = ...` replaces the message.
"""
import copy
import itertools
import json
import math
import re

_CALL = re.compile(r"^([a-z_]+)\(([^()]*)\)$")
_STEP = re.compile(r"([A-Za-z_0-9]+)|\[(\d+)\]")


class ChangeError(Exception):
    """A change that cannot be understood or applied."""


def expand(change):
    """Every single change that a change with `{a,b}` and `one of` stands for, as lists of (path, value text)."""
    variants = [[]]
    for part in _split(change, ";"):
        part = part.strip()
        if not part:
            continue
        if part.startswith("delete "):
            choices = [(path, None) for path in _expand_path(part[len("delete "):].strip())]
        elif " = " in part:
            path, value = part.split(" = ", 1)
            values = _split(value[len("one of "):], ",") if value.startswith("one of ") else [value]
            choices = list(itertools.product(_expand_path(path.strip()), [v.strip() for v in values]))
        else:
            choices = [(None, part)]
        variants = [variant + [choice] for variant in variants for choice in choices]
    return variants


def _split(text, separator):
    """Splits at separators outside brackets and quotes."""
    parts, depth, quoted, current = [], 0, False, ""
    for character in text:
        if character == '"':
            quoted = not quoted
        elif not quoted:
            depth += (character in "([{") - (character in ")]}")
            if character == separator and depth == 0:
                parts.append(current)
                current = ""
                continue
        current += character
    return parts + [current]


def _expand_path(path):
    match = re.search(r"\{([^{}]*)\}", path)
    if not match:
        return [path]
    return [p for choice in match.group(1).split(",")
            for p in _expand_path(path[:match.start()] + choice.strip() + path[match.end():])]


def apply(base, change, limits):
    """(request as a dict, or bytes) after a single change. `limits` maps the names of GetLimits to values."""
    request = copy.deepcopy(base)
    for path, text in change:
        if path is None:
            request = _transform(request, text, limits)
        elif path == "bytes":
            value = _value(text, limits)
            return value if isinstance(value, bytes) else bytes.fromhex(value)
        elif text is None:
            _delete(request, path)
        else:
            value = _value(text, limits)
            if path == "corridor.portals" and isinstance(value, Straight):
                request["start"], request["goal"] = {"x": 0, "y": 0}, {"x": value.count + 1, "y": 0}
                value = value.portals()
            elif path == "corridor.polygons" and isinstance(value, Circle):
                request["start"], request["goal"] = {"x": 0, "y": 0}, {"x": 1, "y": 1}
                value = value.polygons()
            elif isinstance(value, Polyline):
                value = value.columns()
            _assign(request, path, value)
    return request


class Straight:
    """n portals across the X axis."""

    def __init__(self, count):
        self.count = count

    def portals(self):
        """The columns."""
        x = [float(i) for i in range(1, self.count + 1)]
        return {"left": {"x": x, "y": [1.0] * self.count}, "right": {"x": x, "y": [-1.0] * self.count}}


def _crowd(portals):
    """Items of a batch that share their agent: 9,999 of two portals, all different, and one of many."""
    items = []
    for i in range(10000):
        straight = Straight(portals if i == 5000 else 2)
        items.append({"agent_index": 0, "corridor": {"corridor": {"portals": straight.portals()}, "start": {"y": i * 1e-6},
                                                     "goal": {"x": straight.count + 1}}})
    return items


class Polyline:
    """n points one apart along the X axis, every other one moved off it by `offset`."""

    def __init__(self, count, offset):
        self.count, self.offset = count, offset

    def columns(self):
        """The columns."""
        return {"x": [float(i) for i in range(self.count)], "y": [self.offset * (i % 2) for i in range(self.count)]}


class Circle:
    """A polygon of n vertices round the origin."""

    def __init__(self, count):
        self.count = count

    def polygons(self):
        """The columns."""
        angles = [2.0 * math.pi * i / self.count for i in range(self.count)]
        return {"vertices": {"x": [10.0 * math.cos(a) for a in angles], "y": [10.0 * math.sin(a) for a in angles]},
                "vertex_count": [self.count]}


def _number(text, limits):
    total = 0
    for term in text.split("+"):
        term = term.strip()
        total += limits[term.removeprefix("limits.")] if term.startswith("limits.") else float(term)
    return total


def _value(text, limits):
    call = _CALL.match(text)
    if not call:
        try:
            return json.loads(text)
        except ValueError as error:
            raise ChangeError(f"{text}: neither JSON nor a known function") from error
    name, argument = call.group(1), _number(call.group(2), limits)
    functions = {"straight": Straight, "circle": Circle, "zigzag": lambda n: Polyline(n, 1.0),
                 "line": lambda n: Polyline(n, 0.0), "text": lambda n: "a" * n, "zeros": bytes,
                 "items": lambda n: [{}] * n, "crowd": _crowd}
    if name not in functions:
        raise ChangeError(f"{text}: unknown function")
    return functions[name](int(argument))


def _steps(path):
    return [name or int(index) for name, index in _STEP.findall(path)]


def _assign(request, path, value):
    *parents, last = _steps(path)
    place = request
    for step in parents:
        place = place[step] if isinstance(step, int) else place.setdefault(step, {})
    place[last] = value


def _delete(request, path):
    *parents, last = _steps(path)
    place = request
    for step in parents:
        place = place[step]
    del place[last]


def _transform(request, text, limits):
    call = _CALL.match(text)
    if not call or call.group(1) not in ("scaled", "moved"):
        raise ChangeError(f"{text}: unknown change")
    number = _number(call.group(2), limits)
    change = (lambda v: v * number) if call.group(1) == "scaled" else (lambda v: v + number)

    def walk(node):
        for key, value in node.items():
            if key in ("x", "y"):
                node[key] = [change(v) for v in value] if isinstance(value, list) else change(value)
            elif isinstance(value, dict):
                walk(value)
    for part in ("start", "goal", "corridor", "waypoints", "containment"):
        walk(request.get(part, {}))
    return request


def fill(message, value):
    """Fills a protobuf message from a dict with plain assignments: NaN, infinity, unknown enum values and columns of a million
    numbers all pass, which protobuf's own JSON reader refuses or takes long for."""
    for name, entry in value.items():
        field = message.DESCRIPTOR.fields_by_name.get(name)
        if field is None:
            raise ChangeError(f"{message.DESCRIPTOR.name} has no field {name}")
        if field.message_type is not None and field.label == field.LABEL_REPEATED:
            for item in entry:
                fill(getattr(message, name).add(), item)
        elif field.message_type is not None:
            getattr(message, name).SetInParent()
            fill(getattr(message, name), entry)
        elif field.label == field.LABEL_REPEATED:
            getattr(message, name).extend([_scalar(field, v) for v in entry])
        else:
            setattr(message, name, _scalar(field, entry))
    return message


def _scalar(field, value):
    if field.cpp_type == field.CPPTYPE_DOUBLE:
        return float(value)
    if field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_UINT32, field.CPPTYPE_INT64, field.CPPTYPE_UINT64,
                          field.CPPTYPE_ENUM):
        return int(value)
    return value
