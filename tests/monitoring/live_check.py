#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server under mixed load, watched by a real Prometheus: every expression returns data, the consoles draw, the checks see planted faults.

live_check.py [--seconds N] [--pictures FOLDER] [--rate FACTOR]
Needs a built server (ARCLANE_BUILD_DIR), prometheus, promtool and chromium. Everything is on loopback, on ports that are free,
and ended before this returns.
"""
import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT_DIR = os.path.dirname(os.path.dirname(HERE))
MONITORING_DIR = os.path.join(PROJECT_DIR, "deploy", "monitoring")
sys.path[:0] = [MONITORING_DIR, os.path.join(os.path.dirname(HERE), "live"), HERE]

import generate  # noqa: E402  pylint: disable=wrong-import-position
from live_server import LiveServer  # noqa: E402  pylint: disable=wrong-import-position
from stubs import Stubs, channel  # noqa: E402  pylint: disable=wrong-import-position

import consoles  # noqa: E402  pylint: disable=wrong-import-position
from load import Load, publish_town  # noqa: E402  pylint: disable=wrong-import-position

SELECTOR, WINDOW = 'job="arclane"', "15s"
PLANTED_PANEL = "Plans that wait"


def filled(expression):
    """A panel's expression for the one job here."""
    return expression.replace("$s", SELECTOR).replace("$j", SELECTOR).replace("$w", WINDOW)


def free_port():
    """A port of loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Prometheus:
    """Use as a context manager: scrapes one target every second, with the project's rules and consoles; `url` is its address."""

    def __init__(self, target):
        self._target = target

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="arclane-prometheus-")
        self.folder = self._folder.name
        for part in ("consoles", "console_libraries"):
            shutil.copytree(os.path.join(MONITORING_DIR, "prometheus", part), os.path.join(self.folder, part))
        self._plant_consoles()
        self.rules = os.path.join(self.folder, "rules.yaml")
        with open(self.rules, "w", encoding="utf-8") as file:
            file.write(generate.rules(generate.Source()).replace("interval: 15s", "interval: 1s"))
        self.config = os.path.join(self.folder, "prometheus.yaml")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write("global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\n"
                       "rule_files: [rules.yaml]\nscrape_configs:\n- job_name: arclane\n"
                       f"  static_configs: [{{targets: ['{self._target}']}}]\n")
        self.url = f"http://127.0.0.1:{free_port()}"
        self._log = open(os.path.join(self.folder, "log"), "wb")  # pylint: disable=consider-using-with
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            ["prometheus", f"--config.file={self.config}", f"--storage.tsdb.path={self.folder}/data",
             f"--web.listen-address={self.url[7:]}", f"--web.console.templates={self.folder}/consoles",
             f"--web.console.libraries={self.folder}/console_libraries"], stdout=self._log, stderr=self._log)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                with urllib.request.urlopen(self.url + "/-/ready", timeout=2):
                    return self
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        with open(self._log.name, encoding="utf-8", errors="replace") as file:
            text = file.read()
        self.__exit__()
        raise RuntimeError(f"Prometheus does not start:\n{text}")

    def _plant_consoles(self):
        """Pages of one panel with a fault each, that the check of pages must see."""
        source = generate.Source()
        panels = [panel for panel in source.dashboards[-1]["panels"] if panel["title"] == PLANTED_PANEL]
        good = generate.console(source, dict(source.dashboards[-1], panels=panels))
        for name, text in (("broken", good.replace('{{ template "arclane_tail" . }}', '{{ template "nowhere" . }}')),
                           ("syntax", good.replace("arclane_queued_plans{$s}", "arclane_queued_plans{$s")),
                           ("empty", good.replace("arclane_queued_plans", "arclane_queud_plans"))):
            assert text != good, name
            with open(os.path.join(self.folder, "consoles", f"planted-{name}.html"), "w", encoding="utf-8") as file:
                file.write(text)

    def __exit__(self, *_):
        """Asks it to end, and tells its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.exit_code = self.process.returncode
        self._log.close()
        self._folder.cleanup()

    def query(self, expression):
        """The samples of an instant query; a text where it fails."""
        url = f"{self.url}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                return json.load(answer)["data"]["result"]
        except urllib.error.HTTPError as error:
            return json.load(error).get("error", str(error))


class Report:
    """Counts what was checked and what failed."""

    def __init__(self):
        self.failures = 0

    def tell(self, what, complaints):
        """One line for what holds, all complaints for what does not."""
        complaints = list(complaints)
        print(f"{'FAIL' if complaints else 'ok  '}  {what}", flush=True)
        for complaint in complaints:
            print(f"      {complaint}", flush=True)
        self.failures += bool(complaints)


def without_data(prometheus, expressions):
    """A complaint for each expression that fails or returns nothing, or nothing but what is no number."""
    for where, expression in expressions:
        result = prometheus.query(filled(expression))
        if isinstance(result, str):
            yield f"{where}: {expression!r} fails: {result}"
        elif not any(sample["value"][1] != "NaN" for sample in result):
            yield f"{where}: {expression!r} returns nothing"


def promtool(*arguments, text=None):
    """(exit code, output)."""
    result = subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True, timeout=60, check=False)
    return result.returncode, result.stdout + result.stderr


def check_with_promtool(report, prometheus, exposition):
    """promtool's own checks, each with a fault that it must see."""
    code, output = promtool("check", "metrics", text=exposition)
    report.tell("promtool check metrics", [output] if code else [])
    code, _ = promtool("check", "metrics", text=exposition.replace("# TYPE arclane_shed_total counter", "# TYPE arclane_shed_total counterr"))
    report.tell("promtool check metrics sees a planted fault", [] if code else ["it does not"])
    with open(prometheus.rules, encoding="utf-8") as file:
        rules = file.read()
    planted = os.path.join(prometheus.folder, "planted.yaml")
    for what, path, broken in (("rules", prometheus.rules, rules.replace("sum by (job)", "sum by job)", 1)),
                               ("config", os.path.join(MONITORING_DIR, "prometheus", "prometheus.yaml"), "scrape_configs: [{job: x}]\n"),
                               ("config", os.path.join(MONITORING_DIR, "prometheus", "local.yaml"), "scrape_configs: [{job: x}]\n")):
        code, output = promtool("check", what, path)
        report.tell(f"promtool check {what}", [output] if code else [])
        with open(planted, "w", encoding="utf-8") as file:
            file.write(broken)
        code, _ = promtool("check", what, planted)
        report.tell(f"promtool check {what} sees a planted fault", [] if code else ["it does not"])
    os.remove(planted)


def check_expressions(report, prometheus, source):
    """Every expression of rules, alerts and panels."""
    expressions = list(source.expressions())
    complaints = list(without_data(prometheus, expressions))
    # Rules over rules need their moments.
    for _ in range(20):
        if not complaints:
            break
        time.sleep(1)
        complaints = list(without_data(prometheus, expressions))
    report.tell(f"{len(expressions)} expressions return data", complaints)
    alerts = [(alert["alert"], generate.condition(alert)) for alert in source.alerts]
    report.tell(f"{len(alerts)} alerts parse", [f"{name}: {found}" for name, text in alerts if isinstance(found := prometheus.query(text), str)])
    planted = [("misspelt", "sum(rate(arclane_cals_total[1m]))"), ("broken", "sum(rate(arclane_calls_total[1m])"),
               ("no number", "arclane_queued_plans / 0 * 0")]
    seen = list(without_data(prometheus, planted))
    report.tell("planted expressions without data are seen", [] if len(seen) == len(planted) else seen or ["none"])
    firing = {sample["metric"]["alertname"] for sample in prometheus.query('ALERTS{alertstate="firing"}')}
    print(f"      firing on this machine: {', '.join(sorted(firing)) or 'none'}")


def check_consoles(report, prometheus, source, pictures, scratch):
    """Every page, and the planted ones. `pictures`: where pictures of all pages go, or None."""
    for dashboard in source.dashboards:
        titles = [panel["title"] for panel in dashboard["panels"]]
        # One picture is enough to see that what is in the page is on the screen; the others are for people.
        wanted = pictures or (scratch if dashboard["id"] == "latency" else None)
        picture = os.path.join(wanted, f"{dashboard['id']}.png") if wanted else None
        url = f"{prometheus.url}/consoles/arclane-{dashboard['id']}.html?range=60"
        report.tell(f"console {dashboard['id']} draws its {len(titles)} panels", consoles.check_page(url, titles, picture))
    for name, sign in (("broken", "answers 500"), ("syntax", "its expression fails"), ("empty", "draws nothing")):
        found = consoles.check_page(f"{prometheus.url}/consoles/planted-{name}.html?range=60", [PLANTED_PANEL])
        report.tell(f"a planted console ({name}) is seen", [] if any(sign in line for line in found) else found or ["it is not"])


def scrape(address):
    """(text, seconds) of one scrape."""
    start = time.monotonic()
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as page:
        text = page.read().decode()
    return text, time.monotonic() - start


def main(arguments):
    """0 when everything holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=25, help="load before the first look (default 25)")
    parser.add_argument("--pictures", help="where screenshots of the consoles go")
    parser.add_argument("--rate", type=float, default=1, help="load, as a multiple of the usual 150 calls a second")
    options = parser.parse_args(arguments)
    for command in ("prometheus", "promtool"):
        if not shutil.which(command):
            sys.exit(f"{command} is absent: deploy/install-dependencies.sh monitoring")
    if not consoles.chromium():
        sys.exit("chromium is absent: deploy/install-dependencies.sh monitoring")
    report, source, stubs = Report(), generate.Source(), Stubs()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="arclane-monitoring-"))
        if options.pictures:
            os.makedirs(options.pictures, exist_ok=True)
        server = stack.enter_context(LiveServer(f"--data_dir={folder}/data"))
        with Prometheus(server.metrics) as prometheus:
            with channel(server.target) as connection:
                publish_town(stubs, connection)
                with Load(stubs, connection, most_s=options.seconds + 240, rate_factor=options.rate) as load:
                    time.sleep(options.seconds)
                    exposition, seconds = scrape(server.metrics)
                    print(f"      a scrape under load: {len(exposition)} bytes, {1e3 * seconds:.1f} ms")
                    check_with_promtool(report, prometheus, exposition)
                    check_expressions(report, prometheus, source)
                    check_consoles(report, prometheus, source, options.pictures, folder)
                print(f"      calls made: {load.calls}")
                report.tell("no call failed that should not", load.unexpected[:5])
        report.tell("Prometheus ended by itself", [] if prometheus.exit_code == 0 else [f"exit code {prometheus.exit_code}"])
        errors = re.findall(r".*\b(?:ERROR|error)\b.*", server.log_text())
        report.tell("the server logged no error", errors[:5])
        code = server.stop()
        report.tell("the server ended by itself", [] if code == 0 else [f"exit code {code}"])
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
