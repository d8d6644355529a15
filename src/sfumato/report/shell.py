"""What every page shares: one template, parts read from this package, JSON and scripts that are safe inside it.

A page needs nothing else: no network, no other file, no server. The browser is told so by a content security policy
that lets it load nothing and run only the scripts whose digests it names.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
import vl_convert
from markupsafe import Markup

from sfumato.report.numbers import HINTS
from sfumato.trials.document import Document

BANNER = (
    "For the publisher only.",
    "This report was computed on the real data. Do not publish it, and do not pass it on with the release.",
)


def render(
    template: str,
    *,
    sheets: Sequence[str],
    scripts: Sequence[str],
    data: Mapping[str, Any],
    charts: bool = False,
    **views: Any,
) -> str:
    """The text of a page: a template around style sheets and scripts of this package, and JSON by element id."""
    style = "".join(map(part, sheets))
    script = "\n".join(['(() => {\n"use strict";', *map(part, scripts), "})();"])
    running = [libraries(), script] if charts else [script]
    page = environment().get_template(template)
    return page.render(
        **views,
        policy=Markup(policy(running, None if charts else style)),
        stylesheet=Markup(style),
        scripts=list(map(Markup, running)),
        data={name: embed(value) for name, value in data.items()},
    )


def render_report(
    folder: str,
    document: Document,
    data: Mapping[str, Any],
    banner: tuple[str, str] = BANNER,
    *,
    scripts: Sequence[str] = ("page.js",),
    **views: Any,
) -> str:
    """The page of a document with charts, for the publisher's eyes unless its banner says otherwise."""
    return render(
        f"{folder}/page.html.j2",
        sheets=("base.css", "report.css", f"{folder}/page.css"),
        scripts=("charts.js", *(f"{folder}/{script}" for script in scripts)),
        data=data,
        charts=True,
        banner=banner,
        document=document,
        created=format_moment(document.created),
        hints=HINTS,
        **views,
    )


def format_moment(created: str) -> str:
    """A moment as people write it: 15 November 2026, 20:00 UTC."""
    moment = datetime.fromisoformat(created)
    return f"{moment.day} {moment:%B %Y, %H:%M} {moment.tzname() or ''}".strip()


def embed(value: Any) -> Markup:
    """JSON inside a script element: without `<` nothing in it can end the element or open a comment."""
    return Markup(json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"))


def policy(scripts: Sequence[str], style: str | None) -> str:
    """The content security policy of a page with these scripts and this style sheet.

    Without a style sheet styles are free, and images inside the page are allowed: charts set and show their own.
    """
    styles = _digest(style) if style is not None else "'unsafe-inline'; img-src data:"
    return f"default-src 'none'; script-src {' '.join(map(_digest, scripts))}; style-src {styles}"


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


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
