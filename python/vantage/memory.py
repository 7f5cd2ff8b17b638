"""Where a program needs most temporary memory, and what is in it there: an object that draws itself.

    vantage.memory(f, *args)                    # of the program that JAX makes of f for these arguments
    vantage.memory("step.pb")                   # of a file
    vantage.memory(f, *args, device="cpu")      # in the order and with the figure of that device's compiler
"""
import html

from .looked import look

WIDE, HIGH, SHOWN = 720, 180, 20


def text(count):
    """Bytes as people read them."""
    for unit, size in (("GiB", 2 ** 30), ("MiB", 2 ** 20), ("KiB", 2 ** 10)):
        if count >= size:
            return f"{count / size:.3g} {unit}" if count < 1000 * size else f"{count / size:.0f} {unit}"
    return f"{count} bytes"


class Memory:
    """`bytes` alive at the peak by our model; `compiler_bytes` by the compiler (None: it was not asked); the `step` of
    `steps` and the `instruction` at the peak, what is `alive` there, and the `course`: the most alive in each piece."""

    def __init__(self, found):
        self.found = found
        self.bytes, self.compiler_bytes = found["model_bytes"], found.get("compiler_bytes")
        self.step, self.steps, self.instruction = found["step"], found["steps"], found["instruction"]
        self.alive, self.course = found["alive"], [(at["step"], at["bytes"]) for at in found["course"]]

    def sentence(self):
        said = f"; {text(self.compiler_bytes)} in all by the compiler" if self.compiler_bytes else ""
        return (f"most is alive, by our model: {text(self.bytes)} at step {self.step + 1} of {self.steps} "
                f"({self.instruction}){said}")

    def rows(self):
        """Size, shape or part, name, and where it comes from."""
        for value in self.alive[:SHOWN]:
            place = f" {value['file']}:{value['line']}" if value["file"] else ""
            yield (text(value["bytes"]), "inside of" if value["inside"] else value["shape"], value["name"],
                   value["op"] + place)

    def more(self):
        return f"and {len(self.alive) - SHOWN} more" if len(self.alive) > SHOWN else ""

    def __repr__(self):
        peak = max([size for _, size in self.course] or [0]) or 1
        lines = [self.sentence()]
        lines += [f"  {size:>10}  {shape} {name}  {place}".rstrip() for size, shape, name, place in self.rows()]
        lines += [f"  {self.more()}"] if self.more() else []
        lines += [f"  {step + 1:>8}  {text(size):>10}  {'#' * -(-size * 60 // peak)}".rstrip()
                  for step, size in self.course]
        return "\n".join(lines)

    def drawing(self):
        """The course as SVG: steps to the right, bytes upwards, the peak marked."""
        peak = max([size for _, size in self.course] or [0]) or 1
        bar = WIDE / max(len(self.course), 1)
        parts = [f'<svg viewBox="0 0 {WIDE} {HIGH + 30}" style="max-width:100%;width:{WIDE}px" role="img" '
                 f'font-family="sans-serif" font-size="11"><title>{html.escape(self.sentence())}</title>']
        for i, (step, size) in enumerate(self.course):
            tall = HIGH * size / peak
            until = self.course[i + 1][0] if i + 1 < len(self.course) else self.steps
            color = "#c2410c" if step <= self.step < until else "#64748b"
            parts.append(f'<rect x="{i * bar:.1f}" y="{15 + HIGH - tall:.1f}" width="{max(bar - 1, 0.5):.1f}" '
                         f'height="{tall:.1f}" fill="{color}">'
                         f'<title>from step {step + 1}: {text(size)}</title></rect>')
        parts.append(f'<text x="0" y="11" fill="currentColor">{text(peak)}</text><text x="0" y="{HIGH + 28}" '
                     f'fill="currentColor">step 1</text><text x="{WIDE}" y="{HIGH + 28}" text-anchor="end" '
                     f'fill="currentColor">{self.steps}</text></svg>')
        return "".join(parts)

    def _repr_html_(self):
        rows = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
                       for row in self.rows())
        more = f"<p>{self.more()}</p>" if self.more() else ""
        return f"<p>{html.escape(self.sentence())}</p>{self.drawing()}<table>{rows}</table>{more}"


def memory(path_or_function, *args, device=None, static_argnums=(), static_argnames=(), **kwargs):
    """What is in memory at the peak of a program, which is named as for inspect()."""
    options = ["--memory"] + ([f"--device={device}"] if device else [])
    return Memory(look(options, path_or_function, args, kwargs, (static_argnums, static_argnames)))
