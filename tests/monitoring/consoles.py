# SPDX-License-Identifier: Apache-2.0
"""Console pages in headless Chromium: what they draw, and what is wrong with it."""
import html.parser
import os
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

import png

# Colours of the first lines, as the consoles' library has them.
LINE_COLOURS = ((0x33, 0x66, 0xcc), (0xdc, 0x7a, 0x1e), (0x2e, 0x9e, 0x5b))
WIDTH, HEIGHT = 1280, 1700


def chromium():
    """The browser's command, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def _run_chromium(arguments, url):
    with tempfile.TemporaryDirectory(prefix="arclane-chromium-") as profile:
        command = [chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-extensions", f"--user-data-dir={profile}", f"--window-size={WIDTH},{HEIGHT}",
                   "--virtual-time-budget=20000", *arguments, url]
        environment = dict(os.environ, HOME=profile)
        return subprocess.run(command, capture_output=True, timeout=120, check=False, env=environment).stdout


class _Panels(html.parser.HTMLParser):
    """Counts what each panel of a drawn page holds."""

    def __init__(self):
        super().__init__()
        self.drawn, self.panels, self._current = None, {}, None

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "body":
            self.drawn = attributes.get("data-drawn")
        if tag == "section":
            self._current = self.panels.setdefault(attributes.get("data-title"), {"marks": 0, "empty": 0, "error": 0})
        if self._current is None:
            return
        kind = attributes.get("class", "")
        # A line through at least three points, a cell of a heat map, or a number.
        if (tag == "path" and kind == "series" and attributes.get("d", "").count("L") >= 2) or kind in ("cell", "value"):
            self._current["marks"] += 1
        if kind in ("empty", "error"):
            self._current[kind] += 1


def complaints_about(dom, titles):
    """What is wrong with a drawn page that should have panels with these titles."""
    page = _Panels()
    page.feed(dom)
    if page.drawn != str(len(titles)):
        return [f"drew {page.drawn} of {len(titles)} panels"]
    complaints = []
    for title in titles:
        panel = page.panels.get(title)
        if panel is None:
            complaints.append(f"{title}: is not there")
        elif panel["error"]:
            complaints.append(f"{title}: its expression fails")
        elif panel["empty"] or not panel["marks"]:
            complaints.append(f"{title}: draws nothing")
    return complaints


def check_page(url, titles, screenshot=None):
    """What is wrong with the page at `url`; `screenshot`: where a picture of it goes."""
    try:
        with urllib.request.urlopen(url, timeout=20) as page:
            page.read()
    except urllib.error.HTTPError as error:
        return [f"answers {error.code}: {error.read().decode(errors='replace')[:300]}"]
    complaints = complaints_about(_run_chromium(["--dump-dom"], url).decode(errors="replace"), titles)
    if screenshot:
        _run_chromium([f"--screenshot={screenshot}", "--hide-scrollbars"], url)
        try:
            with open(screenshot, "rb") as file:
                _, _, counts = png.colours(file.read())
            if sum(counts[colour] for colour in LINE_COLOURS) < 200:
                complaints.append("the picture shows no lines")
        except (OSError, ValueError) as error:
            complaints.append(f"no picture: {error}")
    return complaints
