/*
 * full_verdict.c - a wrong answer is refused, on the real compiler.
 *
 * The module before fusion is one that the compiler never had: an operation was changed, or a layout was lost.
 * Everything made from it agrees with itself; only the compiler's own program differs. The unharmed programs are
 * verified. Skipped without a plugin.
 */
#include <stdlib.h>
#include <unistd.h>
#include "base/io.h"
#include "lab/lab.h"
#include "schemas/hlo.pb-c.h"
#include "search/verdict.h"
#include "tests/test.h"

static struct device_options on = {.backend = "cpu", .wait = true, .deadline = PATIENT};
static bool available;

typedef bool (*harm)(Hlo__HloModuleProto *m);

/* Replaces every operation of the entry for which there is another one with the same operands. */
static bool change_operations(Hlo__HloModuleProto *m)
{
	static const char *const other[] = {"subtract", "add", "tanh", "maximum"};
	static const char *const one[] = {"add", "multiply", "exponential", "minimum"};
	size_t changed = 0;

	for (size_t c = 0; c < m->n_computations; c++)
		for (size_t i = 0; m->computations[c]->id == m->entry_computation_id &&
			i < m->computations[c]->n_instructions; i++) {
			Hlo__HloInstructionProto *in = m->computations[c]->instructions[i];
			size_t k = 0;
			while (k < sizeof one / sizeof *one && strcmp(in->opcode, one[k]) != 0)
				k++;
			if (k == sizeof one / sizeof *one)
				continue;
			free(in->opcode);
			in->opcode = strdup(other[k]);
			changed++;
		}
	return changed > 0;
}

static const Hlo__HloInstructionProto *by_id(const Hlo__HloComputationProto *c, int64_t id)
{
	for (size_t i = 0; i < c->n_instructions; i++)
		if (c->instructions[i]->id == id)
			return c->instructions[i];
	return NULL;
}

/*
 * A value that is copied into another layout keeps the one it had; a bitcast of it then reads its elements in another
 * order.
 */
static bool lose_inner(Hlo__HloModuleProto *m)
{
	size_t lost = 0;

	for (size_t c = 0; c < m->n_computations; c++)
		for (size_t i = 0; i < m->computations[c]->n_instructions; i++) {
			Hlo__HloInstructionProto *in = m->computations[c]->instructions[i];
			const Hlo__HloInstructionProto *from =
				strcmp(in->opcode, "copy") == 0 ? by_id(m->computations[c], in->operand_ids[0]) : NULL;
			for (size_t k = 0; from && k < in->shape->layout->n_minor_to_major; k++) {
				lost += in->shape->layout->minor_to_major[k] != from->shape->layout->minor_to_major[k];
				in->shape->layout->minor_to_major[k] = from->shape->layout->minor_to_major[k];
			}
		}
	return lost > 0;
}

static size_t make_row_major(Hlo__ShapeProto *s)
{
	size_t lost = 0;

	for (size_t k = 0; s && s->layout && k < s->layout->n_minor_to_major; k++) {
		int64_t plain = (int64_t)(s->layout->n_minor_to_major - 1 - k);
		lost += s->layout->minor_to_major[k] != plain;
		s->layout->minor_to_major[k] = plain;
	}
	return lost;
}

/* Makes every value row-major, parameters and results included, as happens if layouts are not written down. */
static bool lose_outer(Hlo__HloModuleProto *m)
{
	size_t lost = make_row_major(m->host_program_shape->result);

	for (size_t i = 0; i < m->host_program_shape->n_parameters; i++)
		lost += make_row_major(m->host_program_shape->parameters[i]);
	for (size_t c = 0; c < m->n_computations; c++) {
		make_row_major(m->computations[c]->program_shape->result);
		for (size_t i = 0; i < m->computations[c]->program_shape->n_parameters; i++)
			make_row_major(m->computations[c]->program_shape->parameters[i]);
		for (size_t i = 0; i < m->computations[c]->n_instructions; i++)
			make_row_major(m->computations[c]->instructions[i]->shape);
	}
	return lost > 0;
}

/* Replaces the module under the space; the sites stay. */
static bool replace_module(struct lab *lab, harm how)
{
	struct subject *s = &lab->subject;
	Hlo__HloModuleProto *m = hlo__hlo_module_proto__unpack(NULL, s->bytes.len, (uint8_t *)s->bytes.data);
	uint32_t n = s->space->n_sites;
	uint8_t *dflt = mem_alloc(n + 1);
	struct err err = {0};
	bool ok = m && how(m);

	space_default(s->space, dflt);
	if (ok) {
		buf_reset(&s->bytes);
		buf_reserve(&s->bytes, hlo__hlo_module_proto__get_packed_size(m));
		s->bytes.len = hlo__hlo_module_proto__pack(m, (uint8_t *)s->bytes.data);
		space_free(s->space);
		graph_release(&s->graph);
		s->space = lab->space = NULL;
		ok = graph_parse(&s->graph, s->bytes.data, s->bytes.len, "harmed", &err) == 0 &&
			(s->space = lab->space = space_open("fusion", "cpu", &s->graph, dflt, n, &err));
	}
	if (!ok)
		printf("\t%s\n", err.text[0] ? err.text : "nothing to harm");
	if (m)
		hlo__hlo_module_proto__free_unpacked(m, NULL);
	mem_free(dflt);
	return ok;
}

/* Asks for a verdict on a configuration that is one flip away from the default. */
static void judge(const char *path, harm how, struct verdict *v)
{
	struct cost_options co = {0};
	struct err err = {0};
	struct lab lab = {0};
	struct device *d = device_open(&on, &err);
	uint8_t *config = NULL;

	*v = (struct verdict){.outcome = OUTCOME_COUNT};
	if (!CHECK(d && lab_open(&lab, path, "fusion", d, &co, NULL, &err) == 0)) {
		printf("\t%s\n", err.text);
		return;
	}
	cost_free(lab.cost);
	lab.cost = NULL;
	device_close(d);
	if (CHECK(!how || replace_module(&lab, how))) {
		config = mem_alloc(lab.space->n_sites);
		space_default(lab.space, config);
		config[0] = (uint8_t)((config[0] + 1) % lab.space->site[0].choices);
		if (!CHECK(verdict_reach(v, &lab, config, &(struct verdict_options){&on, 0.3, 0}, &err) == 0))
			printf("\t%s\n", err.text);
		printf("%s: %s\n%s\n", path, v->sentence, v->compared);
	}
	mem_free(config);
	lab_release(&lab);
}

static void try_program(const char *path, harm how)
{
	struct verdict v;

	if (!available)
		SKIP("no plugin");
	judge(path, NULL, &v);
	CHECK_INT(v.outcome, OUTCOME_OK);
	CHECK_INT(v.numbers.outcome, OUTCOME_OK);
	for (int i = 0; i < INPUTS_COUNT; i++)
		CHECK(v.numbers.on[i].compared);
	CHECK(v.numbers.on[INPUTS_NORMAL].told && v.compared[0]);
	judge(path, how, &v);
	CHECK_INT(v.outcome, OUTCOME_OK);
	CHECK_INT(v.numbers.outcome, OUTCOME_WRONG_NUMBERS);
	CHECK(!v.tuned && strstr(v.sentence, "the default is the answer"));
}

static void another_operation(void)
{
	try_program("examples/graphs/tiny/chain.pb.zst", change_operations);
}

static void another_operation_among_many(void)
{
	try_program("examples/graphs/tiny/attention.pb.zst", change_operations);
}

/* A value that is turned over, and read in its new order. */
static const char turned[] =
	"HloModule turned\n"
	"ENTRY main {\n"
	"  a = f32[4,5,6]{2,1,0} parameter(0)\n"
	"  b = f32[4,5,6]{2,1,0} parameter(1)\n"
	"  sum = f32[4,5,6]{2,1,0} add(a, b)\n"
	"  turned = f32[5,4,6]{2,1,0} transpose(sum), dimensions={1,0,2}\n"
	"  split = f32[5,4,2,3]{3,2,1,0} reshape(turned)\n"
	"  tanh = f32[5,4,2,3]{3,2,1,0} tanh(split)\n"
	"  ROOT product = f32[5,4,2,3]{3,2,1,0} multiply(tanh, split)\n"
	"}\n";

/* Column-major values come in and go out. */
static const char columns[] =
	"HloModule columns, entry_computation_layout={(f32[40,60]{0,1}, f32[40,60]{0,1})->f32[40,60]{0,1}}\n"
	"ENTRY main {\n"
	"  a = f32[40,60]{0,1} parameter(0)\n"
	"  b = f32[40,60]{0,1} parameter(1)\n"
	"  sum = f32[40,60]{0,1} add(a, b)\n"
	"  tanh = f32[40,60]{0,1} tanh(sum)\n"
	"  ROOT product = f32[40,60]{0,1} multiply(tanh, sum)\n"
	"}\n";

static void try_text(const char *text, harm how)
{
	char path[] = "/tmp/vantage-verdict-XXXXXX.hlo";
	struct err err = {0};
	int fd = mkstemps(path, 4);

	if (CHECK(fd >= 0 && io_write_file(path, text, strlen(text), &err) == 0))
		try_program(path, how);
	unlink(path);
	close(fd);
}

static void a_layout_lost_within(void)
{
	try_text(turned, lose_inner);
}

static void layouts_lost_at_the_door(void)
{
	try_text(columns, lose_outer);
}

int main(void)
{
	struct device *d = device_open(&on, NULL);

	available = d != NULL;
	device_close(d);
	RUN(another_operation);
	RUN(another_operation_among_many);
	RUN(a_layout_lost_within);
	RUN(layouts_lost_at_the_door);
	return test_done();
}
