# SPDX-License-Identifier: Apache-2.0
"""Which folder may include which: the rule, and a reader of #include lines that finds what breaks it.

planning <- navmesh <- cache <- service <- main; pipeline, the requests' way from message to answer, stands on codec and
planning and is used by service. codec stands on planning, pipeline on codec, telemetry on files, config on files and command_line, these and digest on nothing of ours;
client/sdk uses codec, files and planning, the other clients the sdk, the command line files, the load generator command_line.
"""
import dataclasses
import os
import re

# Folder -> folders of ours that it may include, besides itself. "proto" is generated code of this project.
_GEOMETRY = "server/planning/geometry"
_CORRIDOR = "server/planning/corridor"
_SPLINE = "server/planning/spline"
_SPEED = "server/planning/speed"
_ROUNDING = "server/planning/rounding"
_ROUTE = "server/planning/route"
_FOLLOW = "server/planning/follow"
_PLANNING = [_GEOMETRY, _CORRIDOR, _SPLINE, _SPEED, _ROUNDING, _ROUTE, _FOLLOW]
_ABOVE_PLANNING = _PLANNING + ["server/telemetry", "server/config", "server/digest", "server/files"]
ALLOWED = {
    _GEOMETRY: [],
    _CORRIDOR: [_GEOMETRY],
    _SPLINE: [_GEOMETRY],
    _SPEED: [_GEOMETRY],
    _ROUNDING: [_GEOMETRY, _CORRIDOR, _SPEED],
    _ROUTE: [_GEOMETRY, _CORRIDOR, _SPLINE, _SPEED, _ROUNDING],
    _FOLLOW: [_GEOMETRY, _CORRIDOR, _SPLINE, _SPEED, _ROUTE],
    "server/files": [],
    "server/command_line": [],
    "server/telemetry": ["server/files"],
    "server/config": ["server/files", "server/command_line"],
    "server/digest": [],
    "server/codec": _PLANNING + ["proto"],
    "server/navmesh": _ABOVE_PLANNING,
    "server/cache": _ABOVE_PLANNING + ["server/navmesh"],
    "server/navmesh_codec": _PLANNING + ["server/navmesh", "server/codec", "proto"],
    "server/pipeline": _PLANNING + ["server/codec", "server/navmesh", "server/navmesh_codec", "proto"],
    "server/service": _ABOVE_PLANNING + ["server/navmesh", "server/navmesh_codec", "server/cache", "server/codec", "server/pipeline", "proto"],
    "server": _ABOVE_PLANNING + ["server/navmesh", "server/navmesh_codec", "server/cache", "server/codec", "server/pipeline", "server/service", "proto"],
    "client/sdk": _PLANNING + ["server/codec", "server/digest", "server/files", "proto"],
    "client/cli": _PLANNING + ["server/codec", "server/files", "client/sdk", "proto"],
    "client/loadgen": _PLANNING + ["server/codec", "server/command_line", "client/sdk", "client/cli", "proto"],
    "client/examples": ["client/sdk", "proto"],
}

# Headers from outside that a folder (or file) may not see: purity and the one place for each foreign library.
_IMPURE = ("chrono", "random", "thread", "mutex", "shared_mutex", "condition_variable", "future", "atomic", "fstream", "iostream",
           "iomanip", "ostream", "cstdio", "stdio.h", "filesystem", "ctime", "time.h", "sys/", "unistd.h", "spdlog/", "absl/time/",
           "absl/synchronization/", "absl/random/", "nlohmann/")
_WIRE = ("google/protobuf/", "grpc/", "grpcpp/", "grpc++/")
FORBIDDEN_OUTSIDE = {
    "server/planning": _IMPURE + _WIRE + ("prometheus/",),
    "server/navmesh": _WIRE + ("prometheus/",),
    "server/cache": _WIRE + ("prometheus/",),
    "server/telemetry": _WIRE,
    "server/digest": _WIRE + ("prometheus/",),
    "server/files": _WIRE + ("prometheus/",),
    "server/command_line": _WIRE + ("prometheus/",),
    "server/config": _WIRE + ("prometheus/",),
    "server/codec": ("grpcpp/", "grpc/", "grpc++/", "prometheus/"),
    "server/navmesh_codec": ("grpcpp/", "grpc/", "grpc++/", "prometheus/"),
    "server/pipeline": ("grpcpp/", "grpc/", "grpc++/", "prometheus/"),
    "server/service": ("prometheus/",),
    "client": ("prometheus/",),
}
SOURCE_SUFFIXES = (".h", ".cc")
_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


@dataclasses.dataclass(frozen=True)
class Violation:
    """One include that the rule forbids."""
    file: str
    line: int
    included: str
    reason: str

    def __str__(self):
        return f"{self.file}:{self.line}: includes {self.included}: {self.reason}"


def folder_of(path):
    """The folder of the rule that a file of ours belongs to, or None."""
    matches = [folder for folder in ALLOWED if path.startswith(folder + "/")]
    best = max(matches, key=len, default=None)
    # "server" itself holds only files such as main.cc, no folders.
    if best == "server" and "/" in path[len("server/"):]:
        return None
    return best


def included_folder(included):
    """The folder of ours that an include names, "proto" for generated code, None for anything else."""
    if included.startswith("arclane/") or included.startswith("google/rpc/"):
        return "proto"
    if included.startswith(("server/", "client/", "tests/")):
        return folder_of(included) or os.path.dirname(included)
    return None


def check_file(path, text):
    """All violations of one file; `path` is relative to the project."""
    violations = []
    folder = folder_of(path)
    if folder is None:
        return [Violation(path, 0, "-", "its folder is not part of the rule: add it to ALLOWED")]
    for number, line in enumerate(text.splitlines(), 1):
        match = _INCLUDE.match(line)
        if not match:
            continue
        included = match.group(2)
        target = included_folder(included)
        if target is not None:
            if target != folder and target not in ALLOWED[folder]:
                violations.append(Violation(path, number, included, f"{folder} may not use {target}"))
            continue
        for place, prefixes in FORBIDDEN_OUTSIDE.items():
            if path.startswith(place + "/") and any(
                    included == p or (p.endswith("/") and included.startswith(p)) for p in prefixes):
                violations.append(Violation(path, number, included, f"{place} may not see it"))
    return violations


def prometheus_headers(texts):
    """Headers among {path: text} that include prometheus-cpp."""
    return {path for path, text in texts.items() if path.endswith(".h") and re.search(r"#\s*include\s*[<\"]prometheus/", text)}


def check_prometheus(texts):
    """prometheus-cpp stays inside server/telemetry: a header there that sees it is for the .cc files of that folder only."""
    private = prometheus_headers(texts)
    violations = []
    for path, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            match = _INCLUDE.match(line)
            if match and match.group(2) in private and not (path.startswith("server/telemetry/") and path.endswith(".cc")):
                violations.append(Violation(path, number, match.group(2), "it sees prometheus-cpp: for server/telemetry/*.cc only"))
    return violations


def check_tree(root):
    """(violations, number of files read) of a project tree."""
    violations, texts = [], {}
    for top in ("server", "client"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith(SOURCE_SUFFIXES):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        texts[os.path.relpath(path, root)] = file.read()
    for path, text in texts.items():
        violations += check_file(path, text)
    return violations + check_prometheus(texts), len(texts)
