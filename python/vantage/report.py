"""The report on a tuned function: the verdict of the search as a sentence, as numbers, and as a page."""
import html
import pathlib


class Report:
    """`sentence` says it all; `gain`, `low` and `high` are shares of what the compiler's own program takes (None where
    nothing was measured); `called` has the seconds of a call of the tuned function and of one of jax.jit's (called.py),
    or is None; `kept_out`: the latter is so surely the faster one that it is used; `page` is the path of the whole
    story, `result` what `search --json` printed."""

    def __init__(self, sentence, result=None, page=None):
        self.sentence, self.result = sentence, result or {}
        verdict = self.result.get("verdict") or self.result
        self.tuned, self.kept_out = bool(verdict.get("tuned")), False
        self.gain, self.low, self.high = (verdict.get(k) for k in ("gain", "gain_low", "gain_high"))
        self.called = self.result.get("called")
        self.page = pathlib.Path(page) if page and pathlib.Path(page).exists() else None

    def says(self):
        """The sentence, and what calls cost."""
        if not self.called:
            return self.sentence
        tuned, jit = (f"{1e3 * self.called[k]:.3g} ms" for k in ("tuned", "jit"))
        by = " (jaxlib runs it)" if self.called.get("by") == "jaxlib" else ""
        end = ", so jax.jit's is the better one here." if self.called["tuned"] > self.called["jit"] else "."
        if self.kept_out:
            turns = f"{self.called['slower']} of {self.called['calls']} turns"
            end = f". It was the slower one in {turns}, so a call is one of jax.jit's."
        return (f"{self.sentence} Called from here, on the arguments given, it takes {tuned}{by}, and jax.jit's "
                f"{jit}{end}")

    def __repr__(self):
        return self.says() + (f"\n{self.page}" if self.page else "")

    def _repr_html_(self):
        text = f"<p>{html.escape(self.says())}</p>"
        if self.page:
            story = html.escape(self.page.read_text(), quote=True)
            text += f'<iframe style="width:100%;height:40em;border:1px solid #ccc" srcdoc="{story}"></iframe>'
        return text
