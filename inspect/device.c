/*
 * device.c - `inspect --device NAME FILE`: compiles a program, runs it, and shows the result.
 *
 * The compiler makes all decisions itself. The view shows how long compiling took, how long a run takes with its 95%
 * interval, how much memory it needs, and the size of the program after optimisation. If the device refuses the
 * program, that is the result, not an error.
 */
#include "base/json.h"
#include "device/device.h"
#include "inspect/inspect.h"
#include "lab/lab.h"
#include "ready/user_program.h"

struct optimised { /* the program as the compiler left it */
	uint32_t instructions; /* outside of fusions */
	uint32_t fusions;      /* how many of those are fusions */
	uint32_t inside;       /* instructions inside fusions */
};

static void count(const struct compiled *c, struct optimised *o)
{
	struct graph g = {0};
	if (graph_parse(&g, c->optimised.data, c->optimised.len, "the optimised program", NULL) ==
		0)
		for (uint32_t v = 0; v < g.n_nodes; v++) {
			bool launched = node_is_compiled(&g, v);
			o->instructions += launched;
			o->fusions += launched && g.node[v].opcode == OP_FUSION;
			o->inside += g.comp[g.node[v].comp].role == ROLE_FUSED;
		}
	graph_release(&g);
}

static void put_text(const struct device_info *i, const struct compiled *c,
	const struct optimised *o, const struct timing *t, struct buf *out)
{
	char source[DEVICE_SOURCE], text[3][QUANTITY_TEXT];
	double half = 1.96 * t->delta_se;

	buf_addf(out, "device    %s (%s, %s)", i->backend, i->platform, i->version);
	if (i->core >= 0)
		buf_addf(out, ", core %d", i->core);
	if (i->device[0])
		buf_addf(out, "\n          %s", i->device);
	buf_addf(out, "\nmachine   %s\n", i->machine);
	if (c->outcome != OUTCOME_OK) {
		buf_addf(out, "compile   %s: %s\n", outcome_name(c->outcome), c->detail);
		return;
	}
	buf_addf(out, "compile   %.3f s\n", c->seconds);
	if (t->outcome != OUTCOME_OK)
		buf_addf(out, "run       %s: %s\n", outcome_name(t->outcome), t->detail);
	else if (*i->estimator)
		buf_addf(out, "price     %s, %s\n", quantity_text(i->quantity, t->seconds_a, text[0]),
			device_source(i, source, sizeof source));
	else
		buf_addf(out, "run       %s, 95%% interval %s to %s (%s; %u runs)\n",
			quantity_text(i->quantity, t->seconds_a, text[0]),
			quantity_text(i->quantity, t->seconds_a - half, text[1]),
			quantity_text(i->quantity, t->seconds_a + half, text[2]), cost_kind_name(t->kind),
			t->pairs * t->batch);
	if (t->faults_a >= 1)
		buf_addf(out, "          %.0f pages of memory mapped in by a run\n", t->faults_a);
	if (c->peak_bytes)
		buf_addf(out, "memory    %.6g MB at the peak\n", (double)c->peak_bytes / 1e6);
	if (o->instructions)
		buf_addf(out, "optimised %u instructions, %u of them fusions of %u\n",
			o->instructions, o->fusions, o->inside);
}

static void put_json(const struct device_info *i, const struct compiled *c,
	const struct optimised *o, const struct timing *t, struct buf *out)
{
	struct json j = {.out = out, .pretty = true};
	json_object(&j, NULL);
	json_str(&j, "device", i->backend);
	json_str(&j, "platform", i->platform);
	json_str(&j, "version", i->version);
	json_str(&j, "accelerator", i->device[0] ? i->device : NULL);
	json_str(&j, "build", i->build[0] ? i->build : NULL);
	json_str(&j, "machine", i->machine);
	json_int(&j, "core", i->core);
	json_str(&j, "compile_outcome", outcome_name(c->outcome));
	json_num(&j, "compile_seconds", c->seconds);
	if (c->outcome == OUTCOME_OK) {
		json_str(&j, "run_outcome", outcome_name(t->outcome));
		json_str(&j, "quantity", quantity_name(i->quantity));
		json_num(&j, i->quantity == QUANTITY_SECONDS ? "run_seconds" : "run_cost", t->seconds_a);
		json_num(&j, "run_se", t->delta_se);
		json_str(&j, "kind", cost_kind_name(t->kind));
		json_str(&j, "estimator", *i->estimator ? i->estimator : NULL);
		json_num(&j, "page_faults", t->faults_a);
		json_uint(&j, "peak_bytes", c->peak_bytes);
		json_uint(&j, "instructions", o->instructions);
		json_uint(&j, "fusions", o->fusions);
		json_uint(&j, "fused", o->inside);
	}
	const char *detail = c->outcome != OUTCOME_OK ? c->detail : t->detail;
	json_str(&j, "detail", *detail ? detail : NULL);
	json_end(&j);
	buf_addch(out, '\n');
}

struct device *inspect_open(const struct device_options *o, struct err *err)
{
	struct device *d = device_open(o, err);

	if (d)
		device_heed_stop(d, true);
	return d;
}

int inspect_device(struct inspection *in)
{
	struct device_options o = {.backend = in->set->device, .wait = true};
	struct compiled c = {0};
	struct optimised opt = {0};
	struct timing t = {0};
	struct user_program p = {0};
	struct buf bytes = {0};
	struct device *d = lab_place(&o, "1", in->set->replicas, in->set->partitions, in->err) < 0 ? NULL
		: inspect_open(&o, in->err);
	int rc = d ? user_program_fetch(&p, in->path, d, in->err) : -1;
	if (rc == 0) {
		graph_write(&p.graph, &bytes);
		rc = device_compile(d, COMPILE_DEFAULT, "hlo", bytes.data, bytes.len, WANT_OPTIMISED | WANT_MEMORY, &c,
			in->err);
	}
	if (rc == 0 && c.outcome == OUTCOME_OK) {
		count(&c, &opt);
		rc = device_run(d, &c, NULL, &t, in->err);
	}
	if (rc == 0)
		(in->set->json ? put_json : put_text)(device_info(d), &c, &opt, &t, in->out);
	timing_release(&t);
	compiled_release(&c);
	device_close(d);
	user_program_release(&p);
	buf_release(&bytes);
	return rc;
}
