"""What is in a program: how many instructions of which kind, its memory, its work, its loops; an object that draws
itself.

    vantage.inspect(f, *args)       # of the program that JAX makes of f for these arguments
    vantage.inspect("step.pb")      # of a file
"""
import html

from .memory import text
from .looked import look

SHOWN, WIDE, ROW = 20, 480, 18


def count(n):
    """A number as people read it."""
    for unit, size in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if n >= size:
            return f"{n / size:.3g} {unit}"
    return f"{n:.3g}"


class Program(dict):
    """What `inspect --json` says, as a dict, so program["flops"] and program["opcodes"]["dot"] are what they are
    there."""

    def sentence(self):
        return (f"{self['name']}: {self['instructions']} instructions in {self['computations']} computations; "
                f"{self['parameters']} parameters of {text(self['bytes'])}, results of {text(self['result_bytes'])}; "
                f"{count(self['flops'])} operations, {text(self['written_bytes'])} written if nothing were fused")

    def loops(self):
        """Sentences."""
        for loop in self["loops"]:
            rounds = "an unknown number of" if loop["trip_count"] is None else loop["trip_count"]
            yield (f"loop {loop['name']}: {rounds} rounds of {loop['body_instructions']} instructions, "
                   f"{count(loop['flops'])} operations")

    def rows(self):
        """Kinds of instructions and how many, the most frequent first."""
        return sorted(self["opcodes"].items(), key=lambda kind: (-kind[1], kind[0]))[:SHOWN]

    def more(self):
        left = len(self["opcodes"]) - SHOWN
        return f"and {left} more kinds" if left > 0 else ""

    def __repr__(self):
        most = max(self["opcodes"].values(), default=1)
        lines = [self.sentence(), *(f"  {loop}" for loop in self.loops())]
        lines += [f"  {n:>8}  {kind:24} {'#' * -(-n * 40 // most)}" for kind, n in self.rows()]
        return "\n".join(lines + ([f"  {self.more()}"] if self.more() else []))

    def drawing(self):
        """A bar for each kind of instruction, as SVG."""
        rows = self.rows()
        most = max((n for _, n in rows), default=1)
        parts = [f'<svg viewBox="0 0 {WIDE} {ROW * len(rows) + 4}" style="max-width:100%;width:{WIDE}px" role="img" '
                 f'font-family="sans-serif" font-size="11"><title>{html.escape(self.sentence())}</title>']
        for i, (kind, n) in enumerate(rows):
            y = ROW * i + 13
            wide = (WIDE - 220) * n / most
            parts.append(f'<text x="160" y="{y}" text-anchor="end" fill="currentColor">{html.escape(kind)}</text>'
                         f'<rect x="166" y="{y - 10}" width="{wide:.1f}" height="12" fill="#64748b"/>'
                         f'<text x="{170 + wide:.1f}" y="{y}" fill="currentColor">{n}</text>')
        return "".join(parts) + "</svg>"

    def _repr_html_(self):
        loops = "".join(f"<li>{html.escape(loop)}</li>" for loop in self.loops())
        return (f"<p>{html.escape(self.sentence())}</p>" + (f"<ul>{loops}</ul>" if loops else "") + self.drawing() +
                (f"<p>{self.more()}</p>" if self.more() else ""))


def inspect(path_or_function, *args, static_argnums=(), static_argnames=(), **kwargs):
    """What is in a program: a file's, the one that JAX makes of a function for these arguments, or what
    jax.make_jaxpr(f)(...) or jax.jit(f).lower(...) gave."""
    return Program(look([], path_or_function, args, kwargs, (static_argnums, static_argnames)))
