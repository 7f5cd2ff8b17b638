#!/bin/bash
# Measures what each part of the learner is worth: trains with one part changed at a time, and scores on held-out
# graphs, for several seeds.
#
#	bench/learn_ablation.sh DB [SEEDS [STEPS [FOLD...]]]
#
# A FOLD is a pattern of names; the graphs that match it are held out together. Without folds each graph is held out
# alone, which is the honest figure but takes as many trainings as there are graphs; with PARTS=5 in the environment
# they are left out in five parts. Each training has STEPS steps (250) of 256 draws. Prints a row per variant: means
# over graphs and seeds, and the standard deviation between seeds.
set -u
cd "$(dirname "$0")/.." || exit 1
[ $# -ge 1 ] || { sed -n 's/^# \{0,1\}//; 2,11p' "$0"; exit 1; }
db=$1 seeds=${2:-3} steps=${3:-250}
shift $(($# > 3 ? 3 : $#))
folds=("$@")
BIN=${BIN:-bin}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

score() { # NAME OPTIONS...
	local name=$1 seed i net=
	shift
	[ "$*" = "--learner trees" ] || net="--epochs 0.01 --least-steps $steps" # trees have no steps
	for seed in $(seq "$seeds"); do
		# shellcheck disable=SC2086 # several options
		if [ ${#folds[@]} -eq 0 ]; then
			"$BIN/learn" --db "$db" -q --learner gnn --leave-one-out --parts "${PARTS:-0}" --json \
				--seed "$seed" $net "$@" \
				>"$tmp/$name.$seed.0" || exit 1
		fi
		for i in "${!folds[@]}"; do
			# shellcheck disable=SC2086
			"$BIN/learn" --db "$db" -q --learner gnn --no-keep --holdout "${folds[$i]}" --json \
				--seed "$seed" $net "$@" \
				>"$tmp/$name.$seed.$i" || exit 1
		done
	done
	python3 - "$name" "$seeds" "$tmp/$name" <<'PY'
import glob, json, statistics, sys
name, seeds, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
figures = {
    "recall@10%": lambda g: g["model"]["recall"][2],
    "recall by sign": lambda g: g["recall_by_sign"][2],
    "Spearman": lambda g: g["model"]["spearman"],
    "signs right": lambda g: g["signs"],
    "improve: precision": lambda g: g["improving_precision"],
    "improve: recall": lambda g: g["improving_recall"],
    "gain@10%": lambda g: g["model"]["gain"][2],
    "gain@20%": lambda g: g["model"]["gain"][3],
    "gain by sign": lambda g: g["gain_by_sign"][2],
    "gain by magnitude": lambda g: g["gain_by_magnitude"][2],
    "best trivial recall": lambda g: max(g[k]["recall"][2] for k in ("opcode mean", "elements", "constant")),
    "ceiling": lambda g: g["measured twice"]["recall"][2],
}
columns = list(figures)[:10]
of = {k: [] for k in figures}
for seed in range(1, seeds + 1):
    found = [g for f in sorted(glob.glob(f"{path}.{seed}.*")) for g in json.load(open(f))["graphs"]]
    graphs = [g for g in found if g["graph"] != "mean"]
    for k in figures:
        values = [v for v in map(figures[k], graphs) if v is not None]
        of[k].append(statistics.mean(values))
def told(k):
    x = of[k]
    return f"{100 * statistics.mean(x):.0f} ± {100 * (statistics.stdev(x) if len(x) > 1 else 0):.0f}"
if name == "as_it_is":
    print(f"{len(graphs)} graphs, {sum(g['flips'] for g in graphs)} flips, {seeds} seeds; "
          f"recall@10% of the best trivial order {told('best trivial recall').split()[0]}, "
          f"of measuring twice {told('ceiling').split()[0]}\n")
    print("| percent |", " | ".join(columns), "|")
    print("|---|" + "---|" * len(columns))
print(f"| {name.replace('_', ' ')} |", " | ".join(told(k) for k in columns), "|", flush=True)
PY
}

score as_it_is
score no_ramps --ramps 0
score no_log_scale --linear
score draws_of_the_largest --top-draws 0.9
score no_mirrored_examples --current-only
score direction-blind --blind
score 2_layers --layers 2
score 3_layers --layers 3
score sign_instead_of_magnitude --magnitude-weight 0
score magnitude_alone --sign-weight 0 --size-weight 0
score trees_alone --learner trees
score mean_with_trees --learner both
score corrects_trees --learner corrected
