/*
 * probe.c - see probe.h.
 *
 * A separate worker compiles one small program and prints the passes that it runs. The list with which configurations
 * are applied has the passes that run after the one that decides, and not also before it (pipeline.h says why). The
 * same worker then proves two things on that program:
 *
 *	The compiler's own decisions, applied with the list, give the compiler's own program. If the list lacks a pass,
 *	or has one that runs too early, it shows here, as far as this small program needs that pass.
 *	If the decision is about kernels (GROUPED in schemas/stage.def) and nothing was fused, nothing is fused
 *	afterwards: no pass of the list decides again.
 *
 * A plugin that fails is refused for decisions. The names and the number of passes do not matter, so a new version with
 * another pass needs no change here. A table of known passes would stop at each new name.
 *
 * The proof is kept with the list. The key is the fingerprint of the plugin's file, the stage, and the program below.
 * Nothing is kept of a plugin that failed, because a busy machine can make one fail.
 */
#include "device/probe.h"

#include <string.h>
#include "base/hash.h"
#include "base/home.h"
#include "base/io.h"
#include "graph/graph.h"

/*
 * Something of each sort that the passes behind fusion look at: chains, a sum, a product, a value with two readers, and
 * a loop that is small enough to become one kernel. The branch stays one because there is a product in it; a cheap one
 * would become a select. The transpose costs nothing, but its result is then read in order, so it is copied into
 * another layout.
 */
static const char program[] =
	"HloModule vantage_probe\n"
	"add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT sum = f32[] add(a, b) }\n"
	"below { p = (s32[], f32[64,32]) parameter(0) i = s32[] get-tuple-element(p), index=0 n = s32[] constant(5)\n"
	"  ROOT less = pred[] compare(i, n), direction=LT }\n"
	"step { p = (s32[], f32[64,32]) parameter(0) i = s32[] get-tuple-element(p), index=0\n"
	"  x = f32[64,32] get-tuple-element(p), index=1 one = s32[] constant(1) next = s32[] add(i, one)\n"
	"  y = f32[64,32] tanh(x) z = f32[64,32] multiply(y, x) ROOT both = (s32[], f32[64,32]) tuple(next, z) }\n"
	"wave { p = f32[64,32] parameter(0) s = f32[64,32] sine(p)\n"
	"  near = f32[64,64] dot(s, p), lhs_contracting_dims={1}, rhs_contracting_dims={1}\n"
	"  n = f32[64,64] negate(near)\n"
	"  ROOT far = f32[64,32] dot(n, p), lhs_contracting_dims={1}, rhs_contracting_dims={0} }\n"
	"decay { p = f32[64,32] parameter(0) n = f32[64,32] negate(p) ROOT e = f32[64,32] exponential(n) }\n"
	"ENTRY main { x = f32[64,32] parameter(0) w = f32[32,32] parameter(1) v = f32[32] parameter(2)\n"
	"  which = pred[] parameter(3)\n"
	"  product = f32[64,32] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
	"  wide = f32[64,32] broadcast(v), dimensions={1} shifted = f32[64,32] add(product, wide)\n"
	"  grown = f32[64,32] exponential(shifted) zero = f32[] constant(0)\n"
	"  rows = f32[64] reduce(grown, zero), dimensions={1}, to_apply=add\n"
	"  spread = f32[64,32] broadcast(rows), dimensions={0} share = f32[64,32] divide(grown, spread)\n"
	"  root = f32[64] sqrt(rows) none = s32[] constant(0) start = (s32[], f32[64,32]) tuple(none, share)\n"
	"  turned = (s32[], f32[64,32]) while(start), condition=below, body=step\n"
	"  last = f32[64,32] get-tuple-element(turned), index=1 less = f32[64,32] subtract(last, share)\n"
	"  either = f32[64,32] conditional(which, x, less), true_computation=wave, false_computation=decay\n"
	"  turn = f32[32,64] transpose(either), dimensions={1,0} line = f32[2048] reshape(turn)\n"
	"  steep = f32[2048] tanh(line) ROOT all = (f32[64,32], f32[64], f32[2048]) tuple(less, root, steep) }\n";

const char *probe_program(void)
{
	return program;
}

/* ---- what is kept ---- */

void probe_path(const struct host *h, struct buf *out)
{
	const struct stage *s = h->stage;
	uint64_t hash = hash64(program, sizeof program, 0);

	if (home_path("XDG_CACHE_HOME", ".cache", out) < 0)
		return;
	hash = hash64(s->pass, strlen(s->pass), hash64(s->extract, strlen(s->extract),
		hash64(s->apply, strlen(s->apply), hash)));
	buf_addf(out, "/vantage/passes/%s-%s-%016llx.txt", h->base.info.build, s->kind, (unsigned long long)hash);
}

static bool load(const struct host *h, const char *path, struct pipeline *out)
{
	struct buf text = {0};
	bool good = io_exists(path) && io_read_file(path, IO_FILE_LIMIT, &text, NULL) == 0 &&
		pipeline_load(out, text.data, text.len) == 0 && pipeline_find(out, h->stage->pass, NULL) == 0;

	if (!good)
		pipeline_release(out);
	buf_release(&text);
	return good;
}

/* Where it cannot be kept it is read anew the next time. */
static void keep(const char *path, const struct pipeline *p)
{
	struct buf text = {0}, folder = {0};
	const char *slash = strrchr(path, '/');

	buf_add(&folder, path, (size_t)(slash - path));
	pipeline_save(p, &text);
	if (io_make_dir(folder.data, NULL) == 0)
		(void)io_write_file(path, text.data, text.len, NULL);
	buf_release(&folder);
	buf_release(&text);
}

/* ---- what is read ---- */

/* A second worker beside h's, which is idle meanwhile; on the same core, so that nobody else's is taken. */
static struct host *open_beside(const struct host *h)
{
	struct host *p = MEM_NEW(1, struct host);

	p->backend = h->backend;
	p->stage = h->stage;
	memcpy(p->target, h->target, sizeof p->target);
	memcpy(p->base.info.backend, h->base.info.backend, sizeof p->base.info.backend);
	p->seed = h->seed;
	p->deadline = h->deadline;
	p->base.info.core = h->base.info.core;
	buf_addf(&p->plugin, "%s", h->plugin.data);
	buf_addf(&p->worker, "%s", h->worker.data);
	p->child.listen = true;
	p->child.environment = pipeline_log;
	return p;
}

static void close_beside(struct host *p)
{
	child_release(&p->child);
	buf_release(&p->plugin);
	buf_release(&p->worker);
	buf_release(&p->request);
	buf_release(&p->reply.payload);
	mem_free(p);
}

static int make_program(struct buf *out, struct err *err)
{
	struct graph g = {0};
	int rc = graph_parse(&g, program, sizeof program - 1, "our probe", err);

	if (rc == 0)
		graph_write(&g, out);
	graph_release(&g);
	return rc;
}

/* ---- what is proved ---- */

static int compile_applied(struct host *p, const struct buf *module, const char *options, unsigned want,
	struct compiled *out, struct err *err)
{
	if (host_compile_with(p, "hlo", options, module->data, module->len, want, false, NULL, out, err) < 0)
		return -1;
	if (out->outcome == OUTCOME_OK)
		return 0;
	return err_set(err, "compiling with only the passes behind the decision ends with %s: %.500s",
		outcome_name(out->outcome), out->detail);
}

static int prove_default(struct host *p, const struct extracted *e, uint64_t own, const char *options, struct err *err)
{
	struct compiled c = {0};
	int rc = compile_applied(p, &e->after, options, 0, &c, err);

	if (rc == 0 && (own == 0 || c.hash != own))
		rc = err_set(err, "the passes behind its decision, run alone, "
			"make another program of it than the plugin does");
	compiled_release(&c);
	return rc;
}

/* The largest number of instructions in a fusion, parameters apart. */
static int largest_fusion(const struct buf *module, uint32_t *most, struct err *err)
{
	struct graph g = {0};
	int rc = graph_parse(&g, module->data, module->len, "what the plugin made of our probe", err);

	*most = 0;
	for (uint32_t c = 0; rc == 0 && c < g.n_comps; c++) {
		uint32_t n = 0;
		for (uint32_t v = g.comp[c].first; v < g.comp[c].first + g.comp[c].n_nodes; v++)
			n += g.comp[c].role == ROLE_FUSED && g.node[v].opcode != OP_PARAMETER;
		*most = n > *most ? n : *most;
	}
	graph_release(&g);
	return rc;
}

static int prove_nothing(struct host *p, const struct extracted *e, const char *options, struct err *err)
{
	struct compiled c = {0};
	uint32_t most;
	int rc = compile_applied(p, &e->before, options, WANT_OPTIMISED, &c, err);

	if (rc == 0)
		rc = largest_fusion(&c.optimised, &most, err);
	if (rc == 0 && most > 1)
		rc = err_set(err, "a pass behind its decision decides anew: of a program in which every "
			"instruction was left alone it put %u into one kernel", most);
	compiled_release(&c);
	return rc;
}

/* Compiles the probe, reads the passes, and proves them. */
static int ask(struct host *p, const struct buf *module, struct pipeline *out, struct buf *apply, struct err *err)
{
	struct extracted e = {0};
	struct compiled c = {0};
	int rc = host_extract_at(p, "hlo", module->data, module->len, 0, &c, &e, err);

	if (rc == 0 && e.outcome != OUTCOME_OK)
		rc = err_set(err, "it does not compile our probe (%s): %.500s", outcome_name(e.outcome), e.detail);
	pipeline_release(out);
	if (p->child.tail.len)
		pipeline_read(out, p->child.tail.data, p->child.tail.len);
	if (rc == 0)
		rc = pipeline_find(out, p->stage->pass, err);
	if (rc == 0)
		stage_apply(p->stage, out, apply);
	if (rc == 0)
		rc = prove_default(p, &e, c.hash, apply->data, err);
	if (rc == 0 && p->stage->grouped)
		rc = prove_nothing(p, &e, apply->data, err);
	extracted_release(&e);
	compiled_release(&c);
	return rc;
}

int probe_pipeline(struct host *h, struct pipeline *out, struct buf *apply, bool *kept, struct err *err)
{
	struct buf path = {0}, module = {0};
	int rc;

	probe_path(h, &path);
	*kept = path.len && load(h, path.data, out);
	if (*kept) {
		stage_apply(h->stage, out, apply);
		rc = 0;
	} else {
		struct host *p = open_beside(h);
		rc = make_program(&module, err);
		if (rc == 0)
			rc = ask(p, &module, out, apply, err);
		close_beside(p);
		if (rc == 0 && path.len)
			keep(path.data, out);
	}
	buf_release(&path);
	buf_release(&module);
	return rc;
}
