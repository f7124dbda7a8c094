"""Secrets in a text, hidden wherever a text leaves the process or is shown to others. The one table of what a secret looks like.

By value: what this process sends, and variables of its environment that are called like secrets. By mark: tokens to which their
makers gave a shape. By context: what follows "password=", "token is", "-u name:". Words of a language, references and numbers are
none: "eos_token = </s>" and "max_tokens: 512" stay.

Source of the shapes: gitleaks, config/gitleaks.toml; GitHub and GitLab, "token prefixes".
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache

HIDDEN = "[hidden]"
UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0d\uffa0\U000e0100-\U000e01ef"
"""What Python calls printable and cannot be seen: fillers and selectors of variants, but for those of emoji (U+FE0E, U+FE0F).

Source: Unicode 15.1, DerivedCoreProperties.txt, Default_Ignorable_Code_Point.
"""
NO_SIGN = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?)"
    rf"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff{UNSEEN}]"
)
"""Colours and what else is not seen: within a secret it hides the secret from us, not from who reads."""
SHORTEST_SENT, SHORTEST_SAID, SHORTEST_VALUE = 4, 5, 6
"""Characters of what is sent, is said to be a secret, and is a variable's value: hiding shorter ones would blank out words."""
SECRET_NAME = re.compile(
    r"(?i)(?:token|passw(?:or)?d|pwd|passphrase|secret|credentials?|cookie|(?:^|[_.-])(?:auth|dsn|pat)|(?<!cache)[_.-]key|apikey|(?-i:[A-Z]_PASS))"
    r"(?:_?\d+)?$"
)
"""Ends of the names of variables and settings whose values are secrets; not TOKEN_FILE, MAX_TOKENS, SSH_AUTH_SOCK."""
REFERENCE = re.compile(
    r"[$%/~<{\[*.(\\`]|[A-Za-z]:\\|[\w.]+\(|(?i:true|false|none|null|bearer|basic|pass(?:word)?|(?:your|my)[_-]\w+)$|[\w+-]+://[^@]*$"
)
"""How a value begins that names a secret, asks for one or stands for one in an example, and is none itself."""

MARKS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----[^-]*(?:-----END [A-Z ]*-----)?"
    r"|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?"
    r"|(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|gl[a-z]{2,5}-[\w-]{16,}|xox[a-z]-[\w-]{10,}|npm_[A-Za-z0-9]{30,}"
    r"|pypi-[\w-]{30,}|dckr_pat_[\w-]{16,}|hf_[A-Za-z0-9]{16,}|(?:AKIA|ASIA)[A-Z0-9]{16}|(?:IQoJ|FwoG|FQoG)[A-Za-z0-9/+]{12,}=*|AIza[\w-]{30,})"
    r"|(?<![A-Za-z0-9])(?:(?:sk|rk)-(?=[\w-]*[0-9])[\w-]{16,}|[sr]k_(?:live|test)_\w{16,}|ya29\.[\w-]{20,}|hv[sb]\.[\w-]{20,}"
    r"|do[opr]_v1_[a-f0-9]{40,}|hooks\.slack\.com/services/[\w/]{16,})|(?<=[?&]sig=)[\w%+/=-]{16,}"
    r"|AWS4-HMAC-SHA256 Credential=\S+ SignedHeaders=\S+ Signature=\w+"
)
UNMARKED = re.compile(
    r"(?<![A-Za-z0-9/+_.-])(?=[A-Z0-9/+]{0,39}[a-z])(?=[a-z0-9/+]{0,39}[A-Z])(?=[A-Za-z/+]{0,39}[0-9])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_.-])"
    r"|(?m:^[ \t]*(?=[A-Z0-9/+]{0,75}[a-z])(?=[a-z0-9/+]{0,75}[A-Z])[A-Za-z0-9+/]{64,76}={0,2}$)"
)
"""The secret of an access key of Amazon, and a line of a private key, whose beginning may have been shown before: their length is
their mark; hashes have no capitals."""
SAID = re.compile(
    r"(?P<before>(?<![\w.-])(?=[\w.-]*(?:(?i:token|passw|pwd|passphrase|secret|credential|key)|[A-Z]_PASS\b))(?P<name>[\w.-]++)(?:\\*[\"'])?"
    r"(?P<sign>\s{0,20}(?::=|=>|->|==|[=:|>])\s{0,20}|(?<=[\"']),\s?(?=b?[\"'])|\s(?:is\s|was\s)?)(?:b?(?P<open>\\*[\"']))?)"
    r"(?P<value>(?(open)(?:(?!(?P=open))(?:\\.|[^\n]))+|[^\s,;&\"')\]}]+))"
    r"|(?P<scheme>(?P<header>(?i:authorization)[\"']?\s?[:=]\s?[\"']?)?\b(?i:bearer|basic|token)\s)(?P<sent>[\w.~+/=-]{8,})"
    r"|(?P<holder>(?i:authorization|cookie)\\*[\"']?\s?[:=]\s?(?:b?\\*[\"'])?)(?P<credential>[^\"'\n]{8,})"
    r"|(?P<user>(?<=\s)(?:-u[ =]?|--user[ =])[\"']?[^\s:\"']+:)(?P<word>[^\s\"']+)"
    r"|(?P<address>://(?:[^/\s:@]*(?P<colon>:))?)(?P<password>[^@\s/]+)(?=@)"
)
"""What is said to be a secret, in a setting, a sentence, a header, an option or an address."""
STRONG = re.compile(
    r"(?i)(?:passw(?:or)?d|pwd|passphrase|secret|credential|(?:api|access|private|secret|auth)[_.-]?key|(?-i:[A-Z]_PASS))$"
)
"""Ends of names whose value is a secret whatever it looks like; a token or a key may be a word."""
OTHER_KEYS = re.compile(r"(?i)\b(?:cache|primary|foreign|sort|restored? from|partition)[ _-]?$")
NAMED = ("oken", "assw", "pwd", "assphrase", "ecret", "redential", "key", "_pass")
HINTS = (*NAMED, "earer", "asic ", "uthorization", "ookie", "-u", "://")
BEGINNINGS = ("eyJ", "github", "gl", "xox", "npm_", "pypi-", "dckr_", "hf_", "AKIA", "ASIA", "QoJ", "woG", "QoG", "AIza")
NEWER = ("k_live_", "k_test_", "ya29.", "hvs.", "hvb.", "_v1_", "hooks.slack", "sig=")
SHAPES = (*BEGINNINGS, *(f"gh{kind}_" for kind in "pousr"), "sk-", "rk-", *NEWER, "AWS4", "-----BEGIN")
"""What a text without a secret seldom has: without them it is not looked at closely. An export has a hundred thousand lines."""
MOST_NESTED = 20
"""Of what is said within what was said, in a text: more is nobody's message, and takes long."""
_sent = set[str]()


def keep_secret(*texts: str | None) -> None:
    """Keep texts out of all that leaves the process from now on: they are about to be sent, or stand in its environment."""
    _sent.update(text for text in texts if text and len(text) >= SHORTEST_SENT)


def kept_secrets() -> tuple[str, ...]:
    """What is kept, for another process of JPO whose output this one's results will be in."""
    return tuple(_sent)


def secrets_of(environ: Mapping[str, str]) -> set[str]:
    """Values, line by line, of variables that are called like secrets, as far as they may be any."""
    lines = (line.strip() for name, value in environ.items() if SECRET_NAME.search(name) for line in value.splitlines())
    return {line for line in lines if len(line) >= SHORTEST_VALUE and not REFERENCE.match(line)}


def hidden(text: str, others: Iterable[str] = ()) -> str:
    """A text without secrets; `others`: some that this process does not keep. How long they are is not told either.

    A secret with colours or unseen signs in it is one, too: where there is any, the text loses those signs.
    """
    others = tuple(others)
    shown = _hidden(text, others)
    bare = NO_SIGN.sub("", shown)
    return shown if bare == shown or (clean := _hidden(bare, others)) == bare else clean


def _hidden(text: str, others: tuple[str, ...]) -> str:
    known = {form for one in (*_sent, *others) for form in _forms(one)}
    folded = text.casefold()
    if there := sorted((one for one in known if one.casefold() in folded), key=len, reverse=True):  # one may begin another
        text = re.sub("|".join(map(re.escape, there)), HIDDEN, text, flags=re.IGNORECASE)
    if any(shape in text for shape in SHAPES):
        text = MARKS.sub(HIDDEN, text)
    if re.search("[A-Za-z0-9/+]{40}", text):
        text = UNMARKED.sub(HIDDEN, text)
    return _without_said(text) if any(hint in folded for hint in HINTS) else text


def _without_said(text: str) -> str:
    """Without what is said to be a secret. What is none may say another: KeyError: 'password=...'."""
    parts, at, nested = list[str](), 0, 0
    while found := SAID.search(text, at):
        shown, before = _without(found), found["before"]
        inside = bool(before) and shown == found[0] and nested < MOST_NESTED
        parts += text[at : found.start()], before if inside else shown
        at, nested = found.end("before" if inside else 0), nested + inside
    return "".join((*parts, text[at:]))


@cache
def _forms(secret: str) -> tuple[str, ...]:
    """A secret as addresses, JSON, Python and headers have it."""
    from base64 import b64encode
    from urllib.parse import quote

    coded = b64encode(secret.encode("utf-8", "surrogateescape")).decode().rstrip("=")
    quoted = secret.replace("\\", "\\\\").replace('"', '\\"')
    return tuple({secret, quote(secret, safe="", errors="replace"), quoted, repr(secret)[1:-1], coded})


def is_secret(name: str, value: str) -> bool:
    """Whether a setting of this name and value holds a secret."""
    value = value.strip().strip("\"'")
    line = f"{name} = {value}"
    return hidden(line) != line or (bool(SECRET_NAME.search(name)) and _is_telling(name, value, set_to=True))


def _without(found: re.Match[str]) -> str:
    """What is said to be a secret, hidden if it may be one."""
    if found["scheme"]:
        return found["scheme"] + HIDDEN if found["header"] or _is_random(found["sent"]) else found[0]
    if found["user"]:
        return found[0] if found["word"].isdigit() or REFERENCE.match(found["word"]) else found["user"] + HIDDEN
    if found["holder"]:
        return found["holder"] + HIDDEN if any(map(_is_random, re.split(r"[\s=;,]", found["credential"]))) else found[0]
    if found["address"]:  # without a colon a user, or a token in its place
        known = REFERENCE.match(found["password"]) if found["colon"] else not _is_random(found["password"])
        return found[0] if known else found["address"] + HIDDEN
    value, earlier = found["value"], found.string[max(found.start() - 16, 0) : found.start()]
    set_to = bool(re.search("[=:|>]", found["sign"]))
    kind = re.search(r"(?i)\b(?:api|access|private|secret|auth) $", earlier)
    name = f"{kind[0].strip()}_{found['name']}" if kind else found["name"]
    if OTHER_KEYS.search(earlier) or not _is_telling(name, value, set_to=set_to or name.startswith("--")):
        return found[0]
    return found["before"] + HIDDEN


def _is_telling(name: str, value: str, *, set_to: bool) -> bool:
    """Whether what follows a name is a secret; `set_to`: after a sign, not in a sentence ("password authentication failed")."""
    if len(value) < SHORTEST_SAID or REFERENCE.match(value) or HIDDEN in value:
        return False
    if STRONG.search(name) and (set_to or "passw" in name.casefold()):
        return set_to or bool(re.search(r"[A-Za-z]", value) and re.search(r"[0-9]|[^\w\s.,:;-]", value))
    least = 8 if re.search(r"(?i)(?:token|secret|credential|_key)$", name) else 16
    return len(value) >= least and bool(re.search(r"(?i)(?:token|key|secret|credential)$", name)) and _is_random(value)


def _is_random(value: str) -> bool:
    """Whether it looks made by a machine: a part of eight characters in which letters and digits take turns."""
    return any(
        len(part) >= 8
        and any(map(str.isdigit, part))
        and len(re.findall(r"[a-zA-Z](?=[0-9])|[0-9](?=[a-zA-Z])|[a-z](?=[A-Z])", part)) >= 2
        for part in re.split(r"[^A-Za-z0-9+/=]", value)
    )
