"""Rebuilds sglang's parser from flag lists with Python's own argparse, and says
of each command line whether it is accepted (1) or not (0)."""

import argparse
import contextlib
import io
import json
import re
import sys
from decimal import Decimal


def human_readable_int(text):
    text = text.strip()
    m = re.fullmatch(r"(\d+(?:\.\d+)?)(Ki|Mi|Gi|Ti|k|M|G|T)", text)
    if not m:
        return int(text)
    number, unit = m.groups()
    if len(unit) == 2:
        if "." in number:
            raise argparse.ArgumentTypeError("decimal with an IEC unit")
        return int(number) * 2 ** (10 * (1 + "KMGT".index(unit[0])))
    return int(Decimal(number) * 10 ** (3 * (1 + "kMGT".index(unit))))


def strict_json(text):
    def refuse(name):
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


def graph_config(text):
    parsed = strict_json(text)
    if not isinstance(parsed, dict):
        raise argparse.ArgumentTypeError("no object")
    for phase, settings in parsed.items():
        if phase not in ("decode", "prefill") or not isinstance(settings, dict):
            raise argparse.ArgumentTypeError(phase)
    return parsed


READ = {"text": str, "int": int, "float": float, "human-int": human_readable_int, "bool": bool, "json": json.loads,
        "json-list": strict_json, "graph": graph_config, "any": str}


def build(flags):
    parser = argparse.ArgumentParser(prog="launch_server.py")
    for f in flags:
        kind = f["kind"]
        if kind == "help":
            continue  # every parser has it
        if kind == "switch":
            parser.add_argument(*f["names"], action="store_true")
        elif kind == "toggle":
            parser.add_argument(*f["names"], action=argparse.BooleanOptionalAction)
        else:
            read = READ[f["type"]]
            more = {"type": read}
            nargs = f.get("nargs")
            if nargs:
                more["nargs"] = int(nargs) if nargs.isdigit() else nargs
            if f.get("choices"):
                more["choices"] = [read(c) for c in f["choices"]]
            if f.get("required"):
                more["required"] = True
            parser.add_argument(*f["names"], **more)
    return parser


def accepts(parser, argv):
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            parser.parse_args(argv)
        return "1"
    except SystemExit:
        return "0"


job = json.load(sys.stdin)
verdicts = {"python": "%d.%d" % sys.version_info[:2]}
for version, case in job.items():
    parser = build(case["flags"])
    verdicts[version] = "".join(accepts(parser, argv) for argv in case["lines"])
json.dump(verdicts, sys.stdout)
