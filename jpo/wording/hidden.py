"""Secrets in a text, hidden wherever a text leaves the process or is shown to others. The one table of what a secret looks like.

By value: what this process sends, and variables of its environment that are called like secrets. By mark: tokens to which their
makers gave a shape. By context: what follows "password=", "token is", "-u name:". Words of a language, references and numbers are
none: "eos_token = </s>" and "max_tokens: 512" stay.

Source of the shapes: gitleaks, config/gitleaks.toml; GitHub and GitLab, "token prefixes".
"""

import re
from collections.abc import Iterable, Mapping

HIDDEN = "[hidden]"
SHORTEST_SENT, SHORTEST_SAID, SHORTEST_VALUE = 4, 5, 6
"""Characters of what is sent, is said to be a secret, and is a variable's value: hiding shorter ones would blank out words."""
SECRET_NAME = re.compile(
    r"(?i)(?:token|passw(?:or)?d|pwd|passphrase|secret|credentials?|cookie|(?:^|[_.-])(?:auth|dsn|pat)|(?<!cache)[_.-]key|apikey)"
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
    r"|\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{20,}|gl[a-z]{2,5}-[\w-]{16,}|xox[a-z]-[\w-]{10,}|npm_[A-Za-z0-9]{30,}"
    r"|pypi-[\w-]{30,}|dckr_pat_[\w-]{16,}|hf_[A-Za-z0-9]{16,}|(?:AKIA|ASIA)[A-Z0-9]{16}|(?:IQoJ|FwoG|FQoG)[A-Za-z0-9/+]{12,}=*|AIza[\w-]{30,})"
    r"|\b(?:sk|rk)-(?=[\w-]*[0-9])[\w-]{16,}"
    r"|AWS4-HMAC-SHA256 Credential=\S+ SignedHeaders=\S+ Signature=\w+"
)
UNMARKED = re.compile(
    r"(?<![A-Za-z0-9/+_.-])(?=[A-Z0-9/+]{0,39}[a-z])(?=[a-z0-9/+]{0,39}[A-Z])(?=[A-Za-z/+]{0,39}[0-9])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_.-])"
    r"|(?m:^(?=[A-Z0-9/+]{0,75}[a-z])(?=[a-z0-9/+]{0,75}[A-Z])[A-Za-z0-9+/]{64,76}={0,2}$)"
)
"""The secret of an access key of Amazon, and a line of a private key, whose beginning may have been shown before: their length is
their mark; hashes have no capitals."""
SAID = re.compile(
    r"(?P<before>(?<![\w.-])(?=[\w.-]*(?i:token|passw|pwd|passphrase|secret|credential|key))(?P<name>[\w.-]++)[\"']?"
    r"(?P<sign>\s{0,3}(?:[=:]|=>|:=)\s{0,3}|\s(?:is\s|was\s)?))(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s,;&\"')\]}]+)"
    r"|(?P<scheme>(?P<header>(?i:authorization)[\"']?\s?[:=]\s?[\"']?)?\b(?i:bearer|basic|token)\s)(?P<sent>[\w.~+/=-]{8,})"
    r"|(?P<user>(?<=\s)(?:-u|--user)[ =][\"']?[^\s:\"']+:)(?P<word>[^\s\"']+)"
    r"|(?P<address>://[^/\s:@]*:)(?P<password>[^@\s/]+)(?=@)"
)
"""What is said to be a secret, in a setting, a sentence, a header, an option or an address."""
STRONG = re.compile(r"(?i)(?:passw(?:or)?d|pwd|passphrase|secret|credential|(?:api|access|private|secret|auth)[_.-]?key)$")
"""Ends of names whose value is a secret whatever it looks like; a token or a key may be a word."""
OTHER_KEYS = re.compile(r"(?i)\b(?:cache|primary|foreign|sort|restored? from|partition)[ _-]?$")
HINTS = ("oken", "assw", "pwd", "assphrase", "ecret", "redential", "key", "earer", "asic ", "-u ", "--user", "://")
BEGINNINGS = ("eyJ", "github", "gl", "xox", "npm_", "pypi-", "dckr_", "hf_", "AKIA", "ASIA", "QoJ", "woG", "QoG", "AIza")
SHAPES = (*BEGINNINGS, *(f"gh{kind}_" for kind in "pousr"), "sk-", "rk-", "AWS4", "-----BEGIN")
"""What a text without a secret seldom has: without them it is not looked at closely. An export has a hundred thousand lines."""
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
    """A text without secrets; `others`: some that this process does not keep. How long they are is not told either."""
    known = {*_sent, *others}
    folded = text.casefold()
    if there := sorted((one for one in known if one.casefold() in folded), key=len, reverse=True):  # one may begin another
        text = re.sub("|".join(map(re.escape, there)), HIDDEN, text, flags=re.IGNORECASE)
    if any(shape in text for shape in SHAPES):
        text = MARKS.sub(HIDDEN, text)
    if re.search("[A-Za-z0-9/+]{40}", text):
        text = UNMARKED.sub(HIDDEN, text)
    return SAID.sub(_without, text) if any(hint in folded for hint in HINTS) else text


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
    if found["address"]:
        return found[0] if REFERENCE.match(found["password"]) else found["address"] + HIDDEN
    value, earlier = found["value"], found.string[max(found.start() - 16, 0) : found.start()]
    quote = value[0] if value[0] in "\"'" else ""
    set_to = bool(re.search("[=:]", found["sign"]))
    kind = re.search(r"(?i)\b(?:api|access|private|secret|auth) $", earlier)
    name = f"{kind[0].strip()}_{found['name']}" if kind else found["name"]
    if OTHER_KEYS.search(earlier) or not _is_telling(name, value.strip("\"'"), set_to=set_to or name.startswith("--")):
        return found[0]
    return f"{found['before']}{quote}{HIDDEN}{quote}"


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
