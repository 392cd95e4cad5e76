"""``python -m recredit sync DIR``: where no `recredit` command is at hand."""

from __future__ import annotations

import argparse
import sys

from .sync import SyncReport, sync


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m recredit", description="What Recredit's Python package does by itself.")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("sync", help="deliver what trainers that died, or had no network, left in a spool")
    one.add_argument("dir", help="the spool, or one producer's folder in it")
    one.add_argument("--url", help="of the platform; default RECREDIT_URL, else the one that was recorded for")
    one.add_argument("--key", help="default RECREDIT_API_KEY, else the first key in RECREDIT_HOME")
    asked = parser.parse_args(arguments)
    report = sync(asked.dir, url=asked.url, api_key=asked.key)
    print(_text(report))
    return 0 if report.unsent == 0 and report.refused == 0 else 1


def _text(report: SyncReport) -> str:
    if not report.producers:
        return "nothing waits there"
    lines = []
    for producer in report.producers:
        counts = f"{producer.sent} sent, {producer.unsent} unsent, {producer.refused} refused"
        remark = "a living process has it and sends it itself" if producer.held else counts
        because = f" ({producer.problem.detail})" if producer.problem else ""
        lines.append(f"{producer.project}/{producer.name}: {remark}{because}")
    return "\n".join([*lines, f"{report.sent} events sent, {report.unsent} unsent, {report.refused} refused"])


if __name__ == "__main__":
    sys.exit(main())
