/*
 * estimated.c - tests a compiler for hardware that is not here: does it give its own program again, does it honour
 * choices, and how fast are prices?
 *
 *	build/release/bench/estimated --device cuda:h100 [--configs N] [--flips N] GRAPH...
 *
 * For each program it prints these lines:
 *
 *	replayed  the compiler's module after fusion, compiled with only the later passes: does it give the compiler's
 *		  own program and the same price?
 *	default   the same for the default as our choices say it
 *
 *		  "the same kernels": only their order, or that of their operands, differs; "the same groups": besides,
 *		  other groups are joined into kernels of several results, as multi_output_fusion does afterwards
 *
 *	configs   random configurations: how many were compiled, refused, honoured
 *	flips	  single flips from the default, by region: how many were priced and refused, and how many in a second
 *		  of processor time and of wall time
 *
 * A line is printed as soon as it is known. How far it is in between goes to standard error.
 */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include "base/opt.h"
#include "base/progress.h"
#include "cost/cost.h"
#include "ready/subject.h"

struct settings {
	const char *device, *options;
	int64_t configs, flips, seed;
};

struct side {
	enum outcome outcome;
	double seconds;
	uint64_t hash, kernels, groups; /* of the program; of its kernels in any order; of their results, likewise */
	uint32_t n_kernels;
	char detail[512];
};

/* What result v of a fusion is made of inside it, whatever the order; `seen` is all 0 before and after. */
static uint64_t cone(const struct graph *g, const struct comp *c, uint32_t v, const uint64_t *hash, uint8_t *seen)
{
	uint64_t sum = 0;

	seen[v - c->first] = 1;
	for (uint32_t u = v + 1; u-- > c->first;) {
		if (!seen[u - c->first])
			continue;
		seen[u - c->first] = 0;
		sum += g->node[u].opcode == OP_PARAMETER ? 0 : hash_mix(1, hash[u]);
		for (uint32_t k = 0; k < g->node[u].n_operands; k++)
			seen[node_operands(g, u)[k] - c->first] = 1;
	}
	return sum;
}

/* Adds a kernel, which is the sum of its results; a later result of the same kernel does not change the sum. */
static void add_kernel(const struct graph *g, uint32_t v, const uint64_t *hash, struct side *out)
{
	const struct comp *c = g->node[v].n_called ? &g->comp[node_calls(g, v)[0]] : NULL;
	bool several = c && g->node[c->root].opcode == OP_TUPLE;
	uint32_t n = several ? g->node[c->root].n_operands : 1;
	uint8_t *seen = c ? mem_zalloc(c->n_nodes, 1) : NULL;
	uint64_t sum = 0;

	for (uint32_t k = 0; k < n; k++) {
		uint64_t one = !c ? hash[v] : cone(g, c, several ? node_operands(g, c->root)[k] : c->root, hash, seen);
		out->groups += hash_mix(2, one);
		sum += hash_mix(3, one);
	}
	out->kernels += hash_mix(4, sum);
	out->n_kernels++;
	mem_free(seen);
}

static int read_kernels(const struct buf *optimised, struct side *out, struct err *err)
{
	struct graph g = {0};
	uint64_t *hash;

	if (graph_parse(&g, optimised->data, optimised->len, "the optimised program", err) < 0)
		return -1;
	hash = MEM_NEW(g.n_nodes, uint64_t);
	graph_structural_hash(&g, hash);
	for (uint32_t v = 0; v < g.n_nodes; v++) {
		uint8_t role = g.comp[g.node[v].comp].role;
		if ((role == ROLE_ENTRY || role == ROLE_CONTROL) && node_is_kernel(&g, v))
			add_kernel(&g, v, hash, out);
	}
	mem_free(hash);
	graph_release(&g);
	return 0;
}

static int compile(struct device *d, enum compile_how how, const struct buf *module, struct side *out,
	struct buf *optimised, struct err *err)
{
	struct compiled c = {0};
	struct timing t = {0};
	int rc = device_compile(d, how, "hlo", module->data, module->len, WANT_OPTIMISED, &c, err);

	*out = (struct side){0};
	if (rc == 0 && (out->outcome = c.outcome) == OUTCOME_OK) {
		rc = device_run(d, &c, NULL, &t, err);
		out->seconds = t.seconds_a;
		out->hash = c.hash;
	}
	snprintf(out->detail, sizeof out->detail, "%s", c.detail);
	if (rc == 0 && c.optimised.len)
		rc = read_kernels(&c.optimised, out, err);
	if (rc == 0 && optimised)
		buf_add(optimised, c.optimised.data, c.optimised.len);
	timing_release(&t);
	if (rc == 0)
		rc = device_drop(d, &c, err);
	compiled_release(&c);
	return rc;
}

static void say_side(const char *name, const struct side *own, const struct side *s)
{
	if (s->outcome != OUTCOME_OK)
		printf("  %-9s %s: %.300s\n", name, outcome_name(s->outcome), s->detail);
	else
		printf("  %-9s %s, %.4f us (%+.4f), %u kernels of %u\n", name,
			s->hash == own->hash	       ? "the same program"
				: s->kernels == own->kernels ? "the same kernels"
				: s->groups == own->groups   ? "the same groups, joined in another way"
							     : "another program",
			1e6 * s->seconds, 1e6 * (s->seconds - own->seconds), s->n_kernels, own->n_kernels);
}

static int replay(struct subject *s, struct device *d, struct err *err)
{
	struct extracted e = {0};
	struct side own, again, dflt;
	struct buf module = {0}, optimised = {0};
	struct check_result check = {0};
	uint8_t *config = mem_alloc(s->space->n_sites + 1);
	int rc = device_extract(d, "hlo", s->original.data, s->original.len, &e, err);

	space_default(s->space, config);
	if (rc == 0)
		rc = compile(d, COMPILE_DEFAULT, &s->original, &own, NULL, err);
	if (rc == 0)
		rc = compile(d, COMPILE_APPLIED, &e.after, &again, NULL, err);
	if (rc == 0)
		rc = s->space->ops->apply(s->space, config, &module, err);
	if (rc == 0)
		rc = compile(d, COMPILE_APPLIED, &module, &dflt, &optimised, err);
	if (rc == 0 && dflt.outcome == OUTCOME_OK)
		rc = s->space->ops->check(s->space, config, optimised.data, optimised.len, &check, err);
	if (rc == 0) {
		printf("  own       %s, %.4f us%s%.200s\n", outcome_name(own.outcome), 1e6 * own.seconds, *own.detail
			? ": " : "", own.detail);
		say_side("replayed", &own, &again);
		say_side("default", &own, &dflt);
		printf("            kept %u of %u%s%s\n", check.equal, check.asked, *check.detail ? ": " : "",
			check.detail);
	}
	extracted_release(&e);
	buf_release(&module);
	buf_release(&optimised);
	mem_free(config);
	return rc;
}

static int try_configs(struct subject *s, struct device *d, const struct settings *set, struct rng *r, struct err *err)
{
	uint32_t outcome[OUTCOME_COUNT] = {0}, kept = 0;
	uint8_t *config = mem_alloc(s->space->n_sites + 1);
	struct progress p = {0};
	char last[400] = "";
	int rc = 0;

	progress_start(&p, "configurations", (uint64_t)set->configs, PROGRESS_AUTO);
	for (int64_t i = 0; i < set->configs && rc == 0; i++) {
		struct buf module = {0}, optimised = {0};
		struct check_result check = {0};
		struct side side = {0};
		space_random(s->space, 0.1 + 0.8 * (double)i / (double)set->configs, r, config);
		rc = s->space->ops->apply(s->space, config, &module, err);
		if (rc == 0)
			rc = compile(d, COMPILE_APPLIED, &module, &side, &optimised, err);
		outcome[side.outcome]++;
		if (rc == 0 && side.outcome == OUTCOME_OK)
			rc = s->space->ops->check(s->space, config, optimised.data, optimised.len, &check, err);
		if (side.outcome == OUTCOME_OK && check.equal == check.asked && check.found == check.asked)
			kept++;
		else
			snprintf(last, sizeof last, "%.390s", side.outcome == OUTCOME_OK ? check.detail : side.detail);
		buf_release(&module);
		buf_release(&optimised);
		progress_update(&p, (uint64_t)i + 1, NULL);
	}
	if (set->configs)
		progress_end(&p);
	if (set->configs)
		printf("  configs   %lld: %u compiled, %u of them as asked; %u refused, %u crashed, %u other%s%s\n",
			(long long)set->configs, outcome[OUTCOME_OK], kept, outcome[OUTCOME_REFUSED],
			outcome[OUTCOME_CRASHED], outcome[OUTCOME_TIMEOUT] + outcome[OUTCOME_OOM], *last ? "; last: "
			: "", last);
	mem_free(config);
	return rc;
}

static double processor_seconds(void)
{
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	return (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec + children.ru_utime.tv_sec +
		children.ru_stime.tv_sec) +
	       1e-6 * (double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec + children.ru_utime.tv_usec +
	       children.ru_stime.tv_usec);
}

static int try_flips(struct subject *s, struct device *d, const struct settings *set, struct rng *r, struct err *err)
{
	uint32_t outcome[OUTCOME_COUNT] = {0}, gains = 0, n = s->space->n_sites;
	uint8_t *a = mem_alloc(n + 1), *b = mem_alloc(n + 1);
	struct cost *c = cost_new(s->space, d, NULL, err);
	double start = now_seconds();
	struct progress p = {0};
	char last[400] = "";
	int rc = c ? 0 : -1;

	space_default(s->space, a);
	progress_start(&p, "flips", (uint64_t)set->flips, PROGRESS_AUTO);
	for (int64_t i = 0; i < set->flips && rc == 0 && n; i++) {
		struct delta delta = {0};
		uint32_t site = (uint32_t)rng_below(r, n), k = s->space->site[site].choices;
		memcpy(b, a, n);
		b[site] = (uint8_t)((b[site] + 1 + rng_below(r, k - 1)) % k);
		rc = cost_delta(c, a, b, &delta, err);
		outcome[delta.outcome]++;
		gains += delta.outcome == OUTCOME_OK && delta.seconds < 0;
		if (delta.outcome != OUTCOME_OK && !strstr(delta.detail, "when it was tried before"))
			snprintf(last, sizeof last, "%.390s", delta.detail);
		progress_update(&p, (uint64_t)i + 1, NULL);
	}
	if (set->flips && c) {
		progress_end(&p);
		printf("  flips     %lld: %u priced (%u gains), %u refused, %u crashed, %u "
			"other; %u regions compiled in %.1f s wall%s%s\n",
			(long long)set->flips, outcome[OUTCOME_OK], gains, outcome[OUTCOME_REFUSED],
			outcome[OUTCOME_CRASHED], outcome[OUTCOME_TIMEOUT] + outcome[OUTCOME_OOM] +
			outcome[OUTCOME_NOT_HONOURED], (unsigned)cost_totals(c)->measured, now_seconds() - start, *last
			? "; last: " : "", last);
	}
	cost_free(c);
	mem_free(a);
	mem_free(b);
	return rc;
}

static int try_program(const char *path, const struct settings *set, struct err *err)
{
	struct device_options o = {.backend = set->device, .kind = "fusion", .options = set->options};
	double start = now_seconds(), used = processor_seconds();
	struct device *d = device_open(&o, err);
	struct subject s = {0};
	struct rng r;
	int rc = d ? subject_open(&s, path, "fusion", d, err) : -1;

	rng_seed(&r, (uint64_t)set->seed);
	if (rc == 0) {
		printf("%s: %u sites; %s\n", s.name, s.space->n_sites, s.decoded ? s.decoded : "");
		rc = replay(&s, d, err);
	}
	if (rc == 0)
		rc = try_configs(&s, d, set, &r, err);
	if (rc == 0)
		rc = try_flips(&s, d, set, &r, err);
	device_close(d);
	if (rc == 0)
		printf("  in all    %.1f s wall, %.1f s of a processor\n", now_seconds() - start,
			processor_seconds() - used);
	subject_release(&s);
	return rc;
}

int main(int argc, char **argv)
{
	struct settings set = {.device = "cuda:h100", .seed = 1};
	const struct opt table[] = {OPT_STR('d', "device", &set.device, "NAME", "device: a backend and a target"),
		OPT_STR(0, "options", &set.options, "LIST", "further compile options, name=value,..."),
		OPT_INT('n', "configs", &set.configs, 0, 100000, "random configurations of each program"),
		OPT_INT('f', "flips", &set.flips, 0, 100000, "single flips of each program"),
		OPT_INT('s', "seed", &set.seed, 0, INT64_MAX, "random seed"), OPT_END};
	const struct opt_program prog = {"estimated", "[OPTIONS] GRAPH...",
		"Tries a compiler for hardware that is not here.", table};
	struct err err = {{0}};
	int n = 0, failed = 0;

	err_program(prog.name);
	setvbuf(stdout, NULL, _IOLBF, 0); /* a line is there as soon as it is known, in a file, too */
	if (opt_parse(&prog, argc, argv, &n, &err) != 0)
		return err.text[0] ? err_exit(&err) : 0;
	for (int i = 0; i < n; i++)
		if (try_program(argv[i], &set, &err) < 0) {
			fprintf(stderr, "estimated: %s: %s\n", argv[i], err.text);
			failed = 1;
		}
	return failed;
}
