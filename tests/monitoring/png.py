# SPDX-License-Identifier: Apache-2.0
"""The colours of a PNG picture, without a library: enough to see whether something was drawn."""
import collections
import struct
import zlib


def colours(data):
    """(width, height, Counter of (red, green, blue)) of an 8-bit RGB or RGBA picture without interlace."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("no PNG")
    width, height, depth, kind, _, _, interlace = struct.unpack(">IIBBBBB", data[16:29])
    if depth != 8 or kind not in (2, 6) or interlace:
        raise ValueError(f"depth {depth}, kind {kind}, interlace {interlace} are not read here")
    packed, at = b"", 8
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at:at + 8])
        if name == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    raw = zlib.decompress(packed)
    channels = 3 if kind == 2 else 4
    stride = width * channels
    counts, before = collections.Counter(), bytearray(stride)
    for y in range(height):
        method = raw[y * (stride + 1)]
        row = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        _unfilter(method, row, before, channels)
        for red, green, blue in zip(row[0::channels], row[1::channels], row[2::channels]):
            counts[red, green, blue] += 1
        before = row
    return width, height, counts


def _unfilter(method, row, before, channels):
    """PNG specification, section 9."""
    for i in range(len(row)) if method else ():
        left = row[i - channels] if i >= channels else 0
        up = before[i]
        if method == 1:
            add = left
        elif method == 2:
            add = up
        elif method == 3:
            add = (left + up) // 2
        else:
            corner = before[i - channels] if i >= channels else 0
            guess = left + up - corner
            distances = (abs(guess - left), abs(guess - up), abs(guess - corner))
            add = (left, up, corner)[distances.index(min(distances))]
        row[i] = (row[i] + add) & 255
