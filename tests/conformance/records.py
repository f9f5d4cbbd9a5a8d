# SPDX-License-Identifier: Apache-2.0
"""Reference records: JSON Lines, plain or gzipped, and the numbers in them."""
import array
import gzip
import json


class RecordError(Exception):
    """A file that cannot be read as records; the text names the file and line."""


def read_text(path):
    """The content of a plain or gzipped text file, recognised by its first bytes."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
        return content.decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise RecordError(f"{path}: {error}") from error


def read_records(path):
    """Every record of a JSON Lines file, in order."""
    records = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise RecordError(f"{path}:{number}: {error}") from error
        if not isinstance(record, dict):
            raise RecordError(f"{path}:{number}: a record is an object")
        records.append(record)
    return records


def float32(values):
    """The values rounded to the nearest float32, as doubles."""
    return list(array.array("f", values))


def number(value):
    """A number as records write it: a JSON number, a decimal string, "NaN" or "Infinity"; None stays None."""
    return None if value is None else float(value)
