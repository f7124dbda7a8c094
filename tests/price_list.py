"""Amazon as tests meet it: a moto server in a process of its own for EC2; it has no prices, so the Price List is a few lines."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from answering import answering

Answer = Callable[["Handler"], None]


@contextmanager
def moto_server() -> Iterator[str]:
    """The address of a moto server: EC2's instance types, one spot price for all, one image (a region's 900 take seconds)."""
    command = [sys.executable, "-c", "from moto.server import main; main(['-H', '127.0.0.1', '-p', '0'])"]
    known = {**os.environ, "MOTO_AMIS_PATH": str(Path(__file__).with_name("images_of_amazon.json"))}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=known) as process:
        assert process.stderr
        try:
            address = next(found[1] for line in process.stderr if (found := re.search(r"Running on (http://\S+)", line)))
            drain = threading.Thread(target=process.stderr.read)
            drain.start()
            yield address
        finally:
            process.terminate()
            drain.join()


def forget_all(moto: str) -> None:
    """A moto server as it began."""
    urllib.request.urlopen(f"{moto}/moto-api/reset", b"").close()  # noqa: S310 - on loopback


class Handler(BaseHTTPRequestHandler):
    """Answers GetProducts."""

    server: PriceList

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.filters = {one["Field"]: one["Value"] for one in asked["Filters"]}
        self.server.asked.append(self.filters)
        self.server.answer(self)

    def send(self, body: object, status: int = 200) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        """Quiet."""


class PriceList(ThreadingHTTPServer):
    """Gives one answer to all; `over` is set when the test is, for an answer that hangs."""

    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer, self.asked, self.over = answer, list[Mapping[str, str]](), threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"


@contextmanager
def price_list_server(answer: Answer) -> Iterator[PriceList]:
    """A Price List as long as the context."""
    with PriceList(answer) as server, answering(server):
        yield server


def prices(of: Mapping[str, float]) -> Answer:
    """The on-demand prices of some instances, and the zero next to each for capacity that was paid for otherwise."""

    def answer(handler: Handler) -> None:
        price = of.get(handler.filters["instanceType"])
        handler.send({"FormatVersion": "aws_v1", "PriceList": [] if price is None else [product(0.0), product(price)]})

    return answer


def product(usd: float) -> str:
    """An entry of the Price List as far as it is read."""
    dimension: dict[str, Any] = {"unit": "Hrs", "pricePerUnit": {"USD": f"{usd:.10f}"}}
    return json.dumps({"product": {}, "terms": {"OnDemand": {"A.B": {"priceDimensions": {"A.B.C": dimension}}}}})
