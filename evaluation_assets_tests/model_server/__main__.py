"""Serves until the process is told to stop."""

from __future__ import annotations

import argparse
import os
import threading
from pathlib import Path

import orjson

from evaluation_assets_tests.model_server.application import Models
from evaluation_assets_tests.model_server.serving import serve


def _end_with_parent() -> None:
    """End when the other side of standard input is gone."""

    def watch() -> None:
        while os.read(0, 1024):
            pass
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    parser = argparse.ArgumentParser(description="A model server for tests and benchmarks.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--script", type=Path, help="a JSON file")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before every answer that is no error")
    parser.add_argument("--spread", type=float, default=0.0, help="sigma of a lognormal latency; 0: always the same")
    parser.add_argument("--forget-bodies", action="store_true", help="log the hashes of bodies only")
    parser.add_argument("--with-parent", action="store_true", help="end when standard input is closed")
    options = parser.parse_args()
    models = Models(options.latency, keep_bodies=not options.forget_bodies, spread=options.spread)
    if options.script is not None:
        models.given = orjson.loads(options.script.read_bytes())
        models.reset()
    if options.with_parent:
        _end_with_parent()
    serve(models, options.port, lambda url: print(url, flush=True))


if __name__ == "__main__":
    main()
