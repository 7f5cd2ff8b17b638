#!/bin/bash
# The Python package without JAX and without a plugin: it is imported, and what needs neither works.
set -u
bin=$(realpath "${BIN:-bin}")
graph=examples/graphs/train/vae.pb.zst
[ -x "$bin/inspect" ] || { echo "skip: python: inspect is not built"; exit 0; }
command -v python3 >/dev/null || { echo "skip: python: there is no python3"; exit 0; }
export PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1 PATH=$bin:$PATH
says() { # NAME CODE: it ends well
	out=$(python3 -c "import vantage; $2" 2>&1) && echo "pass: $1" || echo "FAIL: $1: $(tail -2 <<<"$out")"
}
says memory_is_that_of_inspect "
m = vantage.memory('$graph'); found = m.found
assert m.bytes == found['model_bytes'] > 0 and 0 <= m.step < m.steps, found
assert max(size for _, size in m.course) == m.bytes, 'the course has another peak'
assert sum(v['bytes'] for v in m.alive) == m.bytes, 'what is alive does not add up'
text = repr(m)
assert m.alive[0]['name'] in text and m.sentence() in text and '####' in text, text"
says memory_draws_itself "
import xml.dom.minidom
m = vantage.memory('$graph')
svg = xml.dom.minidom.parseString(m.drawing())
bars = svg.getElementsByTagName('rect')
assert len(bars) == len(m.course) and sum(b.getAttribute('fill') == '#c2410c' for b in bars) == 1, len(bars)
assert svg.toxml() and m._repr_html_().count('<tr>') == min(len(m.alive), 20)"
says memory_names_are_escaped "
m = vantage.Memory({'model_bytes': 4, 'step': 0, 'steps': 1, 'instruction': '<b>&', 'course': [{'step': 0, 'bytes': 4}],
	'alive': [{'name': '<i>', 'shape': 's', 'bytes': 4, 'op': '<script>', 'file': '', 'line': 0, 'inside': False}]})
page = m._repr_html_()
assert '<script>' not in page and '<i>' not in page and '<b>&' not in page and '&lt;script&gt;' in page, page"
says empty_programs_draw "
m = vantage.Memory({'model_bytes': 0, 'step': 0, 'steps': 0, 'instruction': None, 'alive': [], 'course': []})
assert repr(m) and m._repr_html_()"
says programs_draw_themselves "
import html, xml.dom.minidom
p = vantage.inspect('$graph')
assert p['opcodes']['dot'] == 24 and p['name'] in repr(p) and 'while.12: 5 rounds' in repr(p), p
svg = xml.dom.minidom.parseString(p.drawing())
counts = [int(t.firstChild.data) for t in svg.getElementsByTagName('text')[1::2]]
assert counts == sorted(p['opcodes'].values(), reverse=True)[:20]
assert html.escape(p.sentence()) in p._repr_html_() and f'and {len(p[\"opcodes\"]) - 20} more' in p._repr_html_()
p = vantage.Program(p, name='<b>', opcodes={'<i>': 1}, loops=[])
assert '<b>' not in p._repr_html_() and '<i>' not in p._repr_html_(), p._repr_html_()
assert repr(vantage.inspect('examples/graphs/tiny/nothing.pb.zst'))"
# What the README shows first is the script that is tested.
if python3 -c "
first = ''.join('    ' + line if line.strip() else '\\n' for line in open('examples/python/first.py'))
assert first in open('README.md').read(), 'README.md shows another script than examples/python/first.py'"; then
	echo "pass: readme_shows_the_first_script"
else echo "FAIL: readme_shows_the_first_script"; fi
says refusals_are_sentences "
try: vantage.memory('nowhere.pb')
except vantage.Refused as e: assert 'nowhere.pb' in str(e), e
else: raise SystemExit('a missing file was taken')"
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
says interrupts_reach_the_program "
import os, signal
from vantage import programs
program = '$folder/program'
open(program, 'w').write('#!/bin/sh\ntrap \"echo what it has; exit 0\" INT\necho begun >&2\n'
	'while :; do sleep 0.05; done\n')
os.chmod(program, 0o755)
programs.find = lambda name: program
ended = programs.run('any', plugin=False, progress=lambda line: signal.raise_signal(signal.SIGINT))
assert ended == (0, 'what it has\n', 'begun\n', True), ended
open(program, 'w').write('#!/bin/sh\ntrap \"echo still here >&2\" INT\necho \$\$ >&2\n'
	'while :; do sleep 0.05; done\n')
heard = []
def twice(line):
	heard.append(line)
	signal.raise_signal(signal.SIGINT)
try: programs.run('any', plugin=False, progress=twice)
except KeyboardInterrupt: pass
else: raise SystemExit('two interrupts did not end it')
try: os.kill(int(heard[0]), 0)
except ProcessLookupError: pass
else: raise SystemExit('the program still runs')"
VANTAGE_PLUGIN_DIR=$folder says the_newest_plugin_of_a_folder "
import pathlib
from vantage import programs
known = programs.known_plugins()
assert len(known) >= 3 and known[0][0].count('==') == 1, known
for package, file in reversed(known):  # each is newer than those that are there
	path = pathlib.Path('$folder') / file
	path.parent.mkdir(parents=True)
	path.touch()
	assert programs.find_plugin() == (pathlib.Path('$folder'), path), package"
