"""What every page shares: parts read from this package, JSON and scripts that are safe inside it, and its policy.

A page needs nothing else: no network, no other file, no server. The browser is told so by a content security policy
that lets it load nothing and run only the scripts whose digests it names.
"""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
import vl_convert
from markupsafe import Markup


def created_text(created: str) -> str:
    """A moment as people write it: 15 November 2026, 20:00 UTC."""
    moment = datetime.fromisoformat(created)
    return f"{moment.day} {moment:%B %Y, %H:%M} {moment.tzname() or ''}".strip()


def embedded(value: Any) -> Markup:
    """JSON inside a script element: without `<` nothing in it can end the element or open a comment."""
    return Markup(json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"))


def policy(*scripts: str) -> str:
    """The content security policy of a page with these scripts."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:"


def part(name: str) -> str:
    """A file of this package: a template, a style sheet or a script."""
    return files("sfumato.report").joinpath(name).read_text(encoding="utf-8")


@cache
def libraries() -> str:
    """Vega, Vega-Lite and Vega-Embed, in a scope of their own that lets out one name."""
    return f"(() => {{{vl_convert.javascript_bundle('window.vegaEmbed = vegaEmbed;')}\n}})();"


@cache
def environment() -> jinja2.Environment:
    """The templates."""
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(part),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
