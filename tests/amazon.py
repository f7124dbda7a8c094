"""EC2 as tests meet it: moto, behind a door that keeps EC2's word on client tokens and limits, has quotas, and can be faulty.

Instance plays the part of the machines: it does what user data says, in a folder of its own, with the supervisor as it is.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from jpo.cost import Instance

REGION, BUCKET, PROFILE = "us-east-1", "ml-runs", "training"
A10G = ("a10g", 24)


def offer(
    name: str, gpus: int, gpu: tuple[str, float], vcpus: float, memory_gib: float, usd: float, spot: float | None
) -> Instance:
    family, day = name.partition(".")[0], date(2026, 11, 1)
    return Instance(name, family, gpu[0], gpus, gpu[1], vcpus, memory_gib, "us-east-1", usd, spot, day, "test")


OFFERS = (
    offer("m5.xlarge", 0, ("", 0), 4, 16, 0.192, 0.08),
    offer("g5.xlarge", 1, A10G, 4, 16, 1.006, 0.45),
    offer("g5.2xlarge", 1, A10G, 8, 32, 1.212, 0.55),
    offer("g5.48xlarge", 8, A10G, 192, 768, 16.288, None),
    offer("g5g.xlarge", 1, ("t4g", 16), 4, 8, 0.42, 0.2),
)
ERROR = "<Response><Errors><Error><Code>{}</Code><Message>{}</Message></Error></Errors><RequestID>r</RequestID></Response>"
SPOT_PRICE = (
    "<item><instanceType>{}</instanceType><availabilityZone>{}</availabilityZone><timestamp>{}</timestamp>"
    "<spotPrice>{}</spotPrice><productDescription>Linux/UNIX</productDescription></item>"
)
SPOT_PRICES = (
    "<DescribeSpotPriceHistoryResponse><requestId>r</requestId><spotPriceHistorySet>{}</spotPriceHistorySet>"
    "<nextToken>{}</nextToken></DescribeSpotPriceHistoryResponse>"
)
DROPPED = "dropped after it was accepted"
Fault = Callable[[str, str, bool], "tuple[str, str, int] | str | None"]
"""Action, instance type, spot -> code, message and status of an error; DROPPED; or None: as usual."""


def as_usual(_action: str, _instance_type: str, _spot: bool) -> None:
    """No fault."""


class Door(BaseHTTPRequestHandler):
    """One request to EC2 or to Service Quotas."""

    server: Amazon
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a body after its head would wait 40 ms for the client

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if "X-Amz-Target" in self.headers:
            return self._quota(json.loads(body))
        asked = dict(parse_qsl(body.decode(), keep_blank_values=True))
        action, kind, spot = asked["Action"], asked.get("InstanceType", ""), "InstanceMarketOptions.MarketType" in asked
        dry = asked.get("DryRun") == "true"
        self.server.asked.append(f"{action} {kind} {'spot' if spot else 'on-demand'}" if kind and not dry else action)
        fault = None if dry else self.server.fault(action, kind, spot)
        if isinstance(fault, tuple):
            return self._send(ERROR.format(*fault[:2]).encode(), fault[2])
        if action == "RunInstances" and not dry:
            return self._run(asked, drop=fault == DROPPED)
        if action == "DescribeSpotPriceHistory":
            return self._spot_prices(asked)
        names = {value: key for key, value in asked.items() if key.endswith(".Name")}
        if action == "DescribeInstances" and (name := names.get("client-token")):
            wanted = self.server.tokens.get(asked[name.replace("Name", "Value.1")])
            asked = {k: v for k, v in asked.items() if not k.startswith("Filter.")}
            asked |= {"Filter.1.Name": "instance-id", "Filter.1.Value.1": wanted[2] if wanted else "i-0"}
        return self._send(*self._forwarded(asked))

    def _run(self, asked: dict[str, str], *, drop: bool) -> None:
        """Start an instance once per token; EC2's own limits are held."""
        token, told = asked.pop("ClientToken"), b64decode(asked["UserData"])
        assert token.isascii()
        assert len(token) <= 64
        assert len(told) <= 16384
        assert all(len(value) <= 256 for name, value in asked.items() if name.endswith(".Value"))
        with self.server.one_at_a_time:  # a request that is repeated while the first is under way starts nothing either
            self._run_once(token, asked, drop=drop)

    def _run_once(self, token: str, asked: dict[str, str], *, drop: bool) -> None:
        known = self.server.tokens.get(token)
        if known and known[0] != asked:
            return self._send(ERROR.format("IdempotentParameterMismatch", "Arguments are inconsistent").encode(), 400)
        if known is None:
            content, status = self._forwarded({**asked, "UserData": asked["UserData"]})
            if status != 200:
                return self._send(content, status)
            instance = content.decode().partition("<instanceId>")[2].partition("<")[0]
            known = self.server.tokens[token] = (asked, content, instance)
        if drop:
            self.close_connection = True
            self.connection.close()
            return None
        return self._send(known[1], 200)

    def _spot_prices(self, asked: dict[str, str]) -> None:
        """A page of two prices, of the region that signed the request, and where the next one begins."""
        region, begins = self.headers["Authorization"].split("/")[2], int(asked.get("NextToken", "0"))
        wanted = {value for name, value in asked.items() if name.startswith("InstanceType.")}
        found = [one for one in self.server.spot if one[1].startswith(region) and one[0] in wanted]
        items = "".join(SPOT_PRICE.format(*one) for one in found[begins : begins + 2])
        after = str(begins + 2) if begins + 2 < len(found) else ""
        self._send(SPOT_PRICES.format(items, after).encode(), 200)

    def _forwarded(self, asked: dict[str, str]) -> tuple[bytes, int]:
        headers = {name: self.headers[name] for name in ("Authorization", "Host", "X-Amz-Date") if self.headers[name]}
        request = urllib.request.Request(self.server.moto, urlencode(asked).encode(), headers)  # noqa: S310
        try:
            with urllib.request.urlopen(request) as reply:  # noqa: S310
                return reply.read(), 200
        except urllib.error.HTTPError as error:
            return error.read(), error.code

    def _quota(self, asked: dict[str, str]) -> None:
        vcpus = self.server.quotas.get(asked["QuotaCode"])
        error = {"__type": "AccessDeniedException", "Message": "not you"}
        answer = error if vcpus is None else {"Quota": {"QuotaCode": asked["QuotaCode"], "Value": vcpus}}
        self._send(json.dumps(answer).encode(), 400 if vcpus is None else 200)

    def _send(self, content: bytes, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        """Quiet."""


class Amazon(ThreadingHTTPServer):
    """The door before a moto server.

    Attributes:
        asked: what was asked for, in order.
        fault: what goes wrong.
        spot: spot prices: type, zone, moment, USD an hour.
        quotas: vCPUs by code of the quota; others may not be asked for.
    """

    daemon_threads = True

    def __init__(self, moto: str) -> None:
        super().__init__(("127.0.0.1", 0), Door)
        self.moto, self.url = moto, f"http://127.0.0.1:{self.server_port}"
        self.asked, self.tokens = list[str](), dict[str, tuple[dict[str, str], bytes, str]]()
        self.fault: Fault = as_usual
        self.one_at_a_time = threading.Lock()
        self.quotas, self.spot = dict[str, float](), list[tuple[str, str, str, str]]()

    def handle_error(self, *arguments: Any) -> None:
        """A connection that a test has cut is no news."""

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which AWS' own tools come here."""
        nowhere = dict.fromkeys(("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"), "/nowhere")
        keys = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
        doors = dict.fromkeys(("AWS_ENDPOINT_URL_EC2", "AWS_ENDPOINT_URL_SERVICE_QUOTAS"), self.url)
        moto = dict.fromkeys(("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_SSM", "AWS_ENDPOINT_URL_IAM"), self.moto)
        return {**nowhere, **keys, **doors, **moto, "AWS_EC2_METADATA_DISABLED": "true"}


@contextmanager
def amazon_before(moto: str) -> Iterator[Amazon]:
    """The door, as long as the context."""
    with Amazon(moto) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@dataclass
class Machines:
    """The instances of a moto server: each does what its user data says, in a folder below `root`."""

    ec2: Any
    root: Path
    environment: dict[str, str]
    boots: bool = True
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)

    def turn(self) -> None:
        """Let time pass on them."""
        reservations = self.ec2.describe_instances()["Reservations"]
        states = {one["InstanceId"]: one["State"]["Name"] for found in reservations for one in found["Instances"]}
        for name, state in states.items():
            process = self.running.get(name)
            if state == "running" and process is None and name not in self.done and self.boots:
                self.running[name] = self._booted(name)
            elif process is not None and (state != "running" or process.poll() is not None):
                self._switched_off(name, process, of_its_own=state == "running")

    def _booted(self, name: str) -> subprocess.Popen[bytes]:
        told = self.ec2.describe_instance_attribute(InstanceId=name, Attribute="userData")["UserData"]["Value"]
        head, _, text = gzip.decompress(b64decode(told)).decode().partition("\n")
        assert head == "#cloud-config"
        plan, folder = json.loads(text), self.root / name
        for file in plan["write_files"]:
            path = folder / file["path"].lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(gzip.decompress(b64decode(file["content"])))
            path.chmod(int(file["permissions"], 8))
        timer, command, off = plan["runcmd"]
        assert timer[:2] == ["shutdown", "-P"]
        assert off == ["shutdown", "-P", "now"]
        words = [sys.executable, *(str(folder / word.lstrip("/")) for word in command[1:])]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(words, stdin=quiet, stdout=quiet, stderr=quiet, env={**os.environ, **self.environment})

    def _switched_off(self, name: str, process: subprocess.Popen[bytes], *, of_its_own: bool) -> None:
        """Of its own: the command of the user data has ended, and the instance ends itself."""
        if of_its_own:
            self.ec2.terminate_instances(InstanceIds=[name])
        else:
            process.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(15)
        process.kill()
        process.wait()
        del self.running[name]
        self.done.add(name)

    def switch_off(self) -> None:
        """End all that run."""
        for process in self.running.values():
            process.terminate()
            process.wait(20)
