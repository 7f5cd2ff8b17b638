/*
 * full_functions.c - proves the rules about functions of f32, of which integer rings (check_rewrite_proof.c) know
 * nothing: what they write runs on the real compiler and is compared with the compiler's function of 64 bits. Of 32
 * bits, some numbers of each sign and exponent are tried, zeros and infinities among them, or with LONG_TESTS=1 all
 * numbers that there are. Of 16 bits all are tried.
 *
 * The proof can fail: every number that is written is changed, and every operation that can be another one is, one at a
 * time; all that must be seen.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/device.h"
#include "hlo/pack.h"
#include "space/space.h"
#include "space/rewrite/own.h"
#include "tests/function_programs.h"
#include "tests/test.h"

#define KINDS 3
static const char *const wrong[KINDS] = {"another number", "another operation", "the other one selected"};

/* The bound, in units of the last place, is what the compiler's own f32 function keeps, or less. */
#define BOUND 0.51
static const struct {
	const char *opcode, *rule, *other;
	double bound;
} functions[] = {{"sine", "sine-as-polynomial", NULL, BOUND}, {"cosine", "cosine-as-polynomial", NULL, BOUND},
	{"tan", "tangent-as-polynomials", NULL, BOUND}, {"power", "power-as-polynomials", "1.4", BOUND},
	{"power", "power-as-polynomials", "-7", BOUND}, {"power", "power-as-polynomials", "", BOUND},
	{"cbrt", "cube-root-as-polynomials", NULL, BOUND}, {"atan2", "angle-as-polynomial", "1", BOUND},
	{"atan2", "angle-as-polynomial", "", BOUND}, {"remainder", "remainder-by-steps", "0.7", BOUND},
	{"remainder", "remainder-by-steps", "", BOUND}, {"rsqrt", "inverse-root", NULL, 1.5}};

static struct device *device;
static uint32_t tried[KINDS], caught[KINDS];

/* Does a program find nothing wrong? -1: it does not compile. */
static int nothing_wrong(const struct buf *program)
{
	struct graph none = {0};
	struct buf right = {0};
	const struct buf *module[2] = {&right, program};
	struct compiled c[2] = {{0}, {0}};
	struct comparison x = {0};
	struct err err = {0};
	int result = 1;

	CHECK(graph_parse(&none, function_nothing_wrong, strlen(function_nothing_wrong), "none", &err) == 0);
	graph_write(&none, &right);
	for (int i = 0; i < 2; i++)
		if (!CHECK(device_compile(device, COMPILE_APPLIED, "hlo", module[i]->data, module[i]->len, 0, &c[i],
			&err) == 0) || c[i].outcome != OUTCOME_OK) {
			printf("# %s%s\n", c[i].detail, err.text);
			result = -1;
		}
	if (result > 0)
		result = CHECK(device_compare(device, &c[0], &c[1], NULL, &x, &err) == 0) &&
			CHECK(x.outcome == OUTCOME_OK) && x.all.unlike == 0 && x.all.elements > 0;
	comparison_release(&x);
	for (int i = 0; i < 2; i++) {
		CHECK(device_drop(device, &c[i], &err) == 0);
		compiled_release(&c[i]);
	}
	graph_release(&none);
	buf_release(&right);
	return result;
}

static const char *other_operation(uint16_t op)
{
	switch (op) {
	case OP_NEGATE:
	case OP_ABS:
		return "copy";
	case OP_ADD:
		return "subtract";
	case OP_SUBTRACT:
		return "add";
	case OP_ROUND_NEAREST_EVEN:
		return "negate";
	case OP_MINIMUM:
		return "maximum";
	case OP_MAXIMUM:
		return "minimum";
	case OP_AND:
		return "or";
	case OP_OR:
		return "and";
	default:
		return NULL;
	}
}

/* A number that is wrong for certain: twice a coefficient, another limit. A little less may be as good. */
static double other(double v)
{
	return fabs(v) < 1e-100 ? 1 : fabs(v) < 100 ? 2 * v : 0;
}

/* Makes an instruction wrong in one way; false if that way does not apply to it. */
static bool spoil(struct graph *g, uint32_t v, int kind)
{
	Hlo__HloInstructionProto *in = g->node[v].proto;
	uint16_t op = g->node[v].opcode;

	if (kind == 0 && op == OP_CONSTANT && in->literal->n_f64s == 1)
		in->literal->f64s[0] = other(in->literal->f64s[0]);
	else if (kind == 0 && op == OP_CONSTANT && in->literal->n_f32s == 1)
		in->literal->f32s[0] = (float)other((double)in->literal->f32s[0]);
	else if (kind == 0 && op == OP_CONSTANT && in->literal->n_s64s == 1)
		in->literal->s64s[0] *= 4096;
	else if (kind == 1 && other_operation(op))
		in->opcode = (char *)other_operation(op);
	else if (kind == 2 && op == OP_SELECT) {
		int64_t first = in->operand_ids[1];
		in->operand_ids[1] = in->operand_ids[2];
		in->operand_ids[2] = first;
	} else {
		return false;
	}
	return true;
}

static void spoil_all(const struct graph *a, const struct buf *module)
{
	struct graph g = {0};

	CHECK(graph_parse(&g, module->data, module->len, "rewritten", NULL) == 0);
	for (uint32_t v = 0; v < g.n_nodes; v++)
		for (int kind = 0; kind < KINDS; kind++) {
			struct buf bytes = {0};
			uint32_t old = graph_find(a, g.node[v].proto->name);
			bool stays = old != NONE && a->node[old].opcode == g.node[v].opcode;
			if (stays || !spoil(&g, v, kind))
				continue;
			pack_message(&g.module->base, &bytes);
			bool seen = nothing_wrong(&bytes) == 0;
			tried[kind]++;
			caught[kind] += seen;
			if (!seen)
				printf("# not seen: %s of %s, for %s\n", wrong[kind], g.node[v].proto->name,
					a->node[graph_find(a, "y")].proto->opcode);
			graph_release(&g);
			CHECK(graph_parse(&g, module->data, module->len, "rewritten", NULL) == 0);
			buf_release(&bytes);
		}
	graph_release(&g);
}

/* Rewrites the function of a program by its rule. `mutate`: tries what is wrong, not what is right. */
static void prove(const struct function_case *c, const char *rule, bool mutate)
{
	struct buf text = {0}, after = {0};
	struct graph g = {0};
	struct err err = {0};
	struct space *s = NULL;
	uint8_t config[16] = {0};
	uint32_t site = NONE;

	function_program(&text, c);
	if (CHECK(graph_parse(&g, text.data, text.len, "functions", &err) == 0))
		s = space_open("rewrite", "cpu", &g, NULL, 0, &err);
	if (s && CHECK(s->n_sites < sizeof config))
		site = s->site_of[graph_find(&g, "y")];
	if (CHECK(site != NONE) && CHECK_STR(rewrite_rule(s, rewrite_offer(s, site, 1))->name, rule)) {
		config[site] = 1;
		CHECK(s->ops->apply(s, config, &after, &err) == 0);
		if (mutate)
			spoil_all(&g, &after);
		else if (!CHECK_INT(nothing_wrong(&after), 1))
			printf("# %s of %s, part %d\n", c->opcode, c->type->name, c->part);
	}
	if (err.text[0])
		printf("%s\n", err.text);
	space_free(s);
	graph_release(&g);
	buf_release(&text);
	buf_release(&after);
}

static void every_number_is_right(void)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		for (size_t t = 0; t < sizeof float_types / sizeof *float_types; t++) {
			bool all = getenv("LONG_TESTS") && float_types[t].width == 32;
			for (int part = all ? 0 : -1; part < (all ? FUNCTION_PARTS : 0); part++)
				prove(&(struct function_case){functions[i].opcode, &float_types[t], part,
						functions[i].bound, functions[i].other},
					functions[i].rule, false);
		}
}

static void wrong_rules_are_caught(void)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		const char *other = functions[i].other;
		if (other && *other) /* one exponent does not need all that is written */
			continue;
		prove(&(struct function_case){functions[i].opcode, &float_types[0], -1, functions[i].bound, other},
			functions[i].rule, true);
	}
	for (int kind = 0; kind < KINDS; kind++) {
		printf("# %-32s %4u of %4u caught\n", wrong[kind], caught[kind], tried[kind]);
		CHECK(tried[kind] > 0);
		CHECK_INT(caught[kind], tried[kind]);
	}
}

int main(void)
{
	struct err err = {0};

	device = device_open(&(struct device_options){.backend = "cpu", .wait = true, .untimed = true,
		.deadline = PATIENT, .kind = "rewrite"}, &err);
	if (!device) {
		printf("skip: functions: %s\n", err.text);
		return 0;
	}
	RUN(every_number_is_right);
	RUN(wrong_rules_are_caught);
	device_close(device);
	return test_done();
}
