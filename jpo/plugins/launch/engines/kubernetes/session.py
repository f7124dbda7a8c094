"""The connection with a cluster, through the official client: its kubeconfig, or the service account of the pod JPO runs in.

Each call is bounded in time and made again where the server was busy, failed or hung up; what it refuses becomes a LaunchError in
its own words. Addresses and credentials are the client's business and appear in no message.
"""

import importlib
import logging
import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from email.utils import parsedate_to_datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

from jpo.errors import LaunchError
from jpo.files.reading import in_words, json_object
from jpo.http.answers import BUSY, LOGIN_SECONDS, LONGEST_SECONDS, seconds_to_wait
from jpo.plugins.launch.engines.kubernetes.answers import Answer, text
from jpo.plugins.launch.excerpt import engine_words
from jpo.timeouts import NoAnswerInTime, within
from jpo.wording.hidden import keep_secret

UNREADABLE = (403, 404)
"""Statuses of what this account may not read, or the cluster does not have."""
NOT_LOGGED_IN = (*range(300, 400), 401)
"""Statuses of an API server, or of a sign-in page in front of it, that say nothing of what was asked."""
ATTEMPTS = 5
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 10.0
"""Seconds; a server's Retry-After counts up to the longest."""
TIMEOUT = (5.0, 30.0)
"""Seconds to connect, and between two parts of an answer."""
LONGEST_LINES_SECONDS = 1800.0
"""For all that a run has printed."""
LONGEST_LINE_BYTES = 2**20
LARGEST_ANSWER_BYTES = 2**28
"""Of one object or list in memory: the pods of a cluster of some ten thousand."""
NOT_THE_API = "what answers there does not speak Kubernetes' API"
IN_POD = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
FORBIDDEN = re.compile(r'cannot (\w+) resource "([\w/]+)" in API group "([\w.-]*)"(?: in the namespace "([\w-]+)")?')
RULES = "examples/kubernetes/rbac.yaml"
TROUBLES = {
    "NewConnectionError": "does not accept connections",
    "NameResolutionError": "has a name that is not known here",
    "ConnectTimeoutError": "does not accept connections in time",
    "ReadTimeoutError": "does not answer in time",
    "ProtocolError": "hung up",
    "SSLError": "has a certificate that is not trusted here",
}
"""By the names of urllib3's errors."""
Part = Literal["BatchV1Api", "CoreV1Api", "CustomObjectsApi"]


class Refused(LaunchError):
    """A refusal of the API server, with HTTP's status."""

    def __init__(self, place: str, finding: str, remedy: str, *, status: int) -> None:
        super().__init__(place, finding, remedy, code="JPO-E753")
        self.status = status


class Connected:
    """The connection that a kubeconfig's context (None: the current one) or, without one, the service account of this pod gives.

    `kubeconfig` are files as KUBECONFIG names them; None: the usual one. LaunchError JPO-E764 where the client is not installed,
    or knows no cluster.
    """

    def __init__(self, context: str | None = None, kubeconfig: str | None = None) -> None:
        try:
            client, config, yaml = map(importlib.import_module, ("kubernetes.client", "kubernetes.config", "yaml"))
        except ImportError as error:
            finding, remedy = "support is not installed", 'pip install "jpo[kubernetes]"'
            raise LaunchError("Kubernetes", finding, remedy, code="JPO-E764") from error
        configuration = client.Configuration()
        self.namespace = "default"
        try:
            with _silent():
                login = partial(config.load_kube_config, kubeconfig, context, configuration, persist_config=False)
                within(LOGIN_SECONDS, [login])
            # It would log in anew without a limit: Session does, where a token is refused.
            configuration.refresh_api_key_hook = None
            contexts, current = config.list_kube_config_contexts(kubeconfig)
            chosen = next((each for each in contexts if each.get("name") == context), current) if context else current
            self.namespace = text(chosen, "context", "namespace") or "default"
        except NoAnswerInTime as error:
            finding = f"the program by which the kubeconfig logs in gives {error}"
            remedy = "see what `kubectl get jobs` does, which asks it too"
            raise LaunchError("Kubernetes", finding, remedy, code="JPO-E754") from error
        except (config.ConfigException, yaml.YAMLError, OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            if context or kubeconfig or not IN_POD.exists():
                raise _no_cluster(context, error) from error
            try:
                config.load_incluster_config(client_configuration=configuration)
                self.namespace = IN_POD.read_text("utf-8").strip() or "default"
            except (config.ConfigException, OSError, ValueError) as in_pod:
                raise _no_cluster(None, in_pod) from in_pod
        configuration.retries = False  # urllib3 would sleep as long as a server's Retry-After says
        self.client = client.ApiClient(configuration)
        _keep_secrets(configuration)


class Session:
    """Calls of one namespace.

    Args:
        connect: makes the connection, and makes it anew where a token has expired.
        namespace: None: the one that the connection names.
        sleep: seconds between attempts.

    `now`: unix seconds of the server's clock at its last answer; None before, or where it says none.
    """

    def __init__(self, connect: Callable[[], Connected], sleep: Callable[[float], None], namespace: str | None = None) -> None:
        self._connect, self._sleep, self._wanted = connect, sleep, namespace
        self._connection: Connected | None = None
        self.now: float | None = None

    @property
    def namespace(self) -> str:
        return self._wanted or self._connected().namespace

    def ask(self, part: Part, function: str, *arguments: object, **options: object) -> Answer:
        """The JSON object that a function of the official client answers with.

        Raises:
            Refused: JPO-E753, the server refuses.
            LaunchError: JPO-E754, no answer, or none of Kubernetes' API; whether anything happened is not known.
        """

        def body() -> bytes:
            urllib3 = importlib.import_module("urllib3")
            with closing(self._response(part, function, arguments, options)) as response:
                try:
                    read = bytes(response.read(LARGEST_ANSWER_BYTES + 1, decode_content=True))
                except (urllib3.exceptions.HTTPError, OSError) as error:
                    raise self._unreachable("the answer ended too soon") from error
            if len(read) > LARGEST_ANSWER_BYTES:
                raise self._unreachable(f"its answer is larger than {in_words(LARGEST_ANSWER_BYTES)}")
            return read

        try:
            (answered,) = within(LONGEST_SECONDS, [body])
        except NoAnswerInTime as error:
            raise self._unreachable(f"gives {error}") from error
        try:
            answer = json_object(answered)
        except ValueError as error:
            raise self._unreachable(f"{NOT_THE_API}: {error}") from error
        if not text(answer, "kind"):  # each of its objects has one; a proxy's {"error": ...} would pass for a Job that is gone
            raise self._unreachable(NOT_THE_API)
        return answer

    def find(self, part: Part, function: str, *arguments: object, absent: tuple[int, ...] = (404,), **options: object) -> Answer:
        """The same; empty where the server refuses with one of these statuses: there is no such thing, or it may not be read."""
        try:
            return self.ask(part, function, *arguments, **options)
        except Refused as error:
            if error.status not in absent:
                raise
            return {}

    def lines(self, part: Part, function: str, *arguments: object, **options: object) -> Iterator[bytes]:
        """The lines of a text, each with its end; errors as in `ask`, while they are read."""
        urllib3 = importlib.import_module("urllib3")
        rest, until = b"", time.monotonic() + LONGEST_LINES_SECONDS
        with closing(self._response(part, function, arguments, options)) as response:
            if not response.headers.get("Content-Type", "").startswith("text/plain"):
                raise self._unreachable(
                    NOT_THE_API
                )  # a sign-in page, and a proxy's empty answer, would pass for what was printed
            try:
                for chunk in response.stream(2**16):
                    if time.monotonic() > until:
                        raise self._unreachable("the answer does not end")
                    *whole, rest = (rest + chunk).split(b"\n")
                    yield from (line + b"\n" for line in whole)
                    if len(rest) > LONGEST_LINE_BYTES:  # a bar that only ever returns to its line's beginning
                        yield rest
                        rest = b""
            except (urllib3.exceptions.HTTPError, OSError) as error:
                raise self._unreachable("the answer ended too soon") from error
        if rest:
            yield rest

    def _connected(self) -> Connected:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _response(self, part: Part, function: str, arguments: tuple[object, ...], options: dict[str, object]) -> Any:
        """The answer, of which the head is read."""
        client, urllib3 = (importlib.import_module(name) for name in ("kubernetes.client", "urllib3"))
        pause, renewed, finding = FIRST_PAUSE, False, ""
        for attempt in range(ATTEMPTS):
            call = getattr(getattr(client, part)(self._connected().client), function)
            try:
                with warnings.catch_warnings():  # of insecure-skip-tls-verify, which is the kubeconfig's word
                    warnings.simplefilter("ignore")
                    response = call(*arguments, **options, _preload_content=False, _request_timeout=TIMEOUT)
            except client.ApiException as error:
                _keep_secrets(self._connected().client.configuration)
                status, said = int(error.status or 0), _said(error)
                if status == 401 and not renewed:
                    self._connection, renewed = None, True  # a token that has expired may be there anew
                    continue
                conflict = status == 409 and function.startswith("patch_")  # what it changes was changed by others just then
                if status and status not in BUSY and not conflict:
                    raise _refusal(status, said, self.namespace) from error
                if not status:
                    raise self._unreachable(_kind_of(error.__context__ or error)) from error
                finding, wait = engine_words(f"answers {status}", said), seconds_to_wait(error.headers or {})
            except (urllib3.exceptions.HTTPError, OSError) as error:
                finding, wait = engine_words(_kind_of(error)), 0.0
            else:
                self.now = None
                with suppress(ValueError, TypeError):
                    self.now = parsedate_to_datetime(response.headers.get("Date", "")).timestamp()
                return response
            if attempt + 1 < ATTEMPTS:
                self._sleep(min(LONGEST_PAUSE, max(pause, wait)))
                pause *= 2
        raise self._unreachable(f"{finding}, {ATTEMPTS} times")

    def _unreachable(self, finding: str) -> LaunchError:
        remedy = "check the cluster; what was started keeps running; run the same command again to follow it"
        return LaunchError("Kubernetes' API server", finding, remedy, code="JPO-E754")


def _keep_secrets(configuration: Any) -> None:
    """Keep what is sent to log in out of all quotes; a token of a pod changes by the hour."""
    keep_secret(configuration.password, *(said.split()[-1] for said in configuration.api_key.values() if said.strip()))


@contextmanager
def _silent() -> Iterator[None]:
    """Keep what the client logs of a credential plugin from stderr; that it failed shows in the server's answer."""
    silence = logging.NullHandler()
    logging.getLogger().addHandler(silence)  # else the first message gives the root logger a handler for good
    try:
        yield
    finally:
        logging.getLogger().removeHandler(silence)


def _no_cluster(context: str | None, error: Exception) -> LaunchError:
    finding = f"has no usable context {context!r:.80}" if context else "names no cluster, and JPO does not run in a pod of one"
    remedy = "`kubectl config get-contexts` lists them; KUBECONFIG names the file"
    kind = "" if type(error).__name__ == "ConfigException" else f" ({type(error).__name__})"
    return LaunchError("kubeconfig", finding + kind, remedy, code="JPO-E764")


def _refusal(status: int, said: str, namespace: str) -> Refused:
    place = f"Kubernetes, namespace {namespace}"
    if status == 401:
        return Refused(place, engine_words("does not accept the credentials", said), "log in to the cluster again", status=401)
    if 300 <= status < 400:
        return Refused(place, f"sends elsewhere ({status})", "is a sign-in page in front of the API server?", status=status)
    if found := FORBIDDEN.search(said):
        verb, resource, group, where = found.groups()
        rule = f'{{apiGroups: ["{group}"], resources: [{resource}], verbs: [{verb}]}}'
        remedy = f"it takes the rule {rule}{f' in {where}' if where else ' of a ClusterRole'}, as in {RULES}"
        return Refused(place, said, remedy, status=status)
    remedies = {403: "ask for less, or see which policy of the cluster says so", 404: "is that the right namespace and cluster?"}
    return Refused(place, said or f"refuses with {status}", remedies.get(status, "change what it names"), status=status)


def _said(error: Any) -> str:
    """The words of an API server's Status; of another body nothing, since a proxy may repeat what it was sent."""
    said = ""
    with suppress(ValueError):
        said = text(json_object(error.body or ""), "message")
    return engine_words(said or str(error.reason or ""))


def _kind_of(error: BaseException) -> str:
    """What went wrong on the way, without addresses."""
    return TROUBLES.get(type(error).__name__, f"cannot be reached ({type(error).__name__})")
