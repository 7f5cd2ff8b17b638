#!/bin/bash
# The page about the nights (`store report`), and the history of models that `learn` leaves: two nights on the
# performance model, the page's figures against what SQL says, and everything that can be wrong.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/script.sh
bin=$(realpath "${BIN:-bin}") root=$PWD
[ -x "$bin/collect" ] && [ -x "$bin/learn" ] || { echo "skip: nights: it is not built"; exit 0; }
tmp=${TMPDIR:-/tmp}; [ -w /dev/shm ] && tmp=${TMPDIR:-/dev/shm}
dir=$(mktemp -d -p "$tmp") || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export VANTAGE_LOCK_DIR=$dir TMPDIR=$dir XDG_DATA_HOME=$dir/data
history=data/vantage/models/sim/modelled/fusion.vm.history
tiny=$root/examples/graphs/tiny
says() { grep -q "$1" "$2" || fail "no \"$1\" in: $(tail -c 300 "$2" | tr '\n' ' ')"; }
alter() { # SQL
	python3 -c 'import sqlite3, sys; c = sqlite3.connect("a.sqlite"); c.executescript(sys.argv[1]); c.close()' "$1"
}

for _ in 1 2; do
	"$bin/collect" -q --db a.sqlite --device sim -n 150 -g "$tiny/convolution.pb.zst" -g "$tiny/scan.pb.zst" \
		-g "$tiny/update.pb.zst" >out 2>talk || fail "collect: $(cat talk)"
	"$bin/learn" -q --db a.sqlite --learner trees --trees 20 >out 2>talk
	[ $? -eq 1 ] && fail "learn: $(cat talk)"
done
[ "$(wc -l <$history)" -eq 2 ] || fail "the history has $(wc -l <$history) lines"
python3 - $history <<'PY' >out 2>&1 || fail "history: $(cat out)"
import json, sys
lines = [json.loads(x) for x in open(sys.argv[1])]
assert lines[0]["replaced"] and lines[0]["depth_old"] == 0.5 and lines[0]["learner"] == "trees", lines[0]
assert [x["decisions"] == 150 * (i + 1) and x["programs"] == 3 for i, x in enumerate(lines)] == [True, True], lines
assert lines[1]["verdict"] in ("better", "worse", "within noise") and lines[1]["depth_new"] >= 0, lines[1]
PY
done_ a_line_for_every_model

page() { # whether the page is whole, and its figures are those of the store
	"$bin/store" report a.sqlite --out a.html >out 2>talk || fail "report: $(cat talk)"
	[ ! -s out ] && [ ! -s talk ] || fail "report talks: $(cat out talk)"
	python3 - "$@" <<'PY' >out 2>&1 || fail "page: $(cat out)"
import re, sqlite3, sys
from html.parser import HTMLParser
text, db = open("a.html").read(), sqlite3.connect("a.sqlite")
class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.rows, self.plots = [], [], 0
    def handle_starttag(self, tag, attrs):
        self.plots += tag == "svg" and not any(k == "style" for k, v in attrs)
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")
        if tag not in {"meta", "circle", "line", "path"}:
            self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
    def handle_startendtag(self, tag, attrs):
        pass
    def handle_data(self, data):
        if "td" in self.open:
            self.rows[-1][-1] += data
p = Page()
p.feed(text)
assert not p.open and p.plots == 4, (p.open, p.plots)
assert not re.search(r"\bnan\b|\binf\b|https?://(?!www.w3.org)|<script", text)
for name, sites, samples, covered in db.execute(
        "SELECT g.name, p.sites, count(*), count(DISTINCT s.site) FROM sample s JOIN chain c ON c.run = s.id >> 32"
        " AND c.number = s.chain JOIN space p ON p.id = c.space JOIN graph g ON g.id = p.graph GROUP BY p.id"):
    row = [r for r in p.rows if r and r[0] == name]
    assert len(row) == 1 and row[0][1:4] == [str(sites), str(samples), f"{100 * covered / sites:.0f}%"], (row, covered)
    assert row[0][7].endswith("%"), row
nights = [r for r in p.rows if len(r) == 10]
assert [r[5] for r in nights] == ["150", "150"] and nights[0][9] == "stopped", nights
assert sum(len(r) == 11 for r in p.rows) == int(sys.argv[1]), p.rows
drift = [float(r[8].rstrip("%")) for r in nights if r[8] != "–"]
assert sys.argv[2] == "-" or drift[-1] - drift[0] > float(sys.argv[2]), drift
PY
}
page 2 -
says "300 samples and 0 trials of 3 programs in 2 stretches" a.html
done_ figures_are_those_of_the_store

# A machine that is a tenth slower in the second night. Anchors tell; a night between the two is not needed.
alter "UPDATE stint SET ended = started + 3600000000; UPDATE stint SET started = started + 86400000000,
	ended = ended + 86400000000 WHERE n = 1;
	DELETE FROM anchor; UPDATE chain SET base_seconds = 1e-3;
	INSERT INTO anchor SELECT 1, t.first_step + 1, c.number, c.number, 1, 1e-3 * (1 + 0.1 * t.n), 0, 0, 0, 0, 0, 3,
	0
	FROM stint t, chain c" || fail "not altered"
page 2 4
says "that drifted most was [0-9.]*% slower" a.html
says "days since\|hours since" a.html
done_ a_slow_night_shows

# What is torn or of other devices is left out, and counted.
printf '{"at": 12, "dev' >>$history
"$bin/learn" -q --db a.sqlite --trees 20 >out 2>talk
[ "$(wc -l <$history)" -eq 4 ] || fail "after a torn line there are $(wc -l <$history)"
sed -n 1p $history | sed 's/"sim"/"elsewhere"/' >>$history
alter "UPDATE stint SET summary = 'no JSON'"
"$bin/store" report a.sqlite --out a.html --models data/vantage/models 2>talk || fail "report: $(cat talk)"
says "Left out: 1 models for other devices or decisions, 1 lines that are no whole line" a.html
"$bin/store" report a.sqlite --out a.html --models "$dir" 2>talk || fail "report: $(cat talk)"
says "No model of these costs" a.html
done_ torn_lines_are_counted

refuses() { # WORD ARGUMENTS...
	local word=$1
	shift
	"$bin/store" report "$@" >out 2>talk
	[ $? -eq 1 ] && grep -q "^store: .*$word" talk || fail "$*: $(cat out talk)"
}
refuses "Name the page" a.sqlite
refuses "no folder" a.sqlite --out a.html --models nowhere
refuses "too much" a.sqlite b.sqlite --out a.html
refuses "does not exist" none.sqlite --out a.html
refuses "nowhere" a.sqlite --out nowhere/a.html
done_ wrong_inputs_end_in_a_sentence

# A store without a run, and one of an older version.
python3 - "$root" <<'PY' || fail "no empty store"
import sqlite3, sys
c = sqlite3.connect("empty.sqlite")
c.executescript(open(sys.argv[1] + "/schemas/store.sql").read())
PY
"$bin/store" report empty.sqlite --out empty.html 2>talk || fail "empty: $(cat talk)"
says "0 samples and 0 trials of 0 programs in 0 stretches" empty.html
done_ an_empty_store_has_a_page
