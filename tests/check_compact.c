/*
 * check_compact.c - programs whose ids lie far apart: made compact they are the same programs, in the same order, and
 * what is broken stays as it is.
 */
#include <glob.h>
#include <string.h>
#include "base/rng.h"
#include "graph/graph.h"
#include "hlo/compact.h"
#include "hlo/pack.h"
#include "tests/test.h"

#define APART 977

/* An id further from its neighbours; the high half stays. */
static int64_t far(int64_t id)
{
	return (id & ~INT64_C(0xffffffff)) | (((id & 0xffffffff) % 100000 * APART) + 5);
}

static void spread(const Hlo__HloModuleProto *m)
{
	for (size_t c = 0; c < m->n_computations; c++) {
		Hlo__HloComputationProto *p = m->computations[c];
		p->root_id = far(p->root_id);
		for (size_t i = 0; i < p->n_instructions; i++) {
			Hlo__HloInstructionProto *in = p->instructions[i];
			in->id = far(in->id);
			for (size_t k = 0; k < in->n_operand_ids; k++)
				in->operand_ids[k] = far(in->operand_ids[k]);
			for (size_t k = 0; k < in->n_control_predecessor_ids; k++)
				in->control_predecessor_ids[k] = far(in->control_predecessor_ids[k]);
		}
	}
	for (size_t s = 0; m->schedule && s < m->schedule->n_sequences; s++)
		for (size_t k = 0; k < m->schedule->sequences[s]->value->n_instruction_ids; k++) {
			int64_t *id = &m->schedule->sequences[s]->value->instruction_ids[k];
			*id = far(*id);
		}
}

/* Gives the module a schedule: each computation runs in the order in which it is written. */
static void schedule(struct arena *mem, Hlo__HloModuleProto *m)
{
	m->schedule = ARENA_NEW(mem, 1, Hlo__HloScheduleProto);
	hlo__hlo_schedule_proto__init(m->schedule);
	m->schedule->sequences = ARENA_NEW(mem, m->n_computations, Hlo__ScheduledSequence *);
	m->schedule->n_sequences = m->n_computations;
	for (size_t c = 0; c < m->n_computations; c++) {
		const Hlo__HloComputationProto *p = m->computations[c];
		Hlo__ScheduledSequence *s = m->schedule->sequences[c] = ARENA_NEW(mem, 1, Hlo__ScheduledSequence);
		hlo__scheduled_sequence__init(s);
		s->key = p->id;
		s->value = ARENA_NEW(mem, 1, Hlo__InstructionSequence);
		hlo__instruction_sequence__init(s->value);
		s->value->instruction_ids = ARENA_NEW(mem, p->n_instructions, int64_t);
		s->value->n_instruction_ids = p->n_instructions;
		for (size_t i = 0; i < p->n_instructions; i++)
			s->value->instruction_ids[i] = p->instructions[i]->id;
	}
}

/* Is each id the number of smaller ones that the computation had before? */
static bool ranks(const Hlo__HloComputationProto *before, const Hlo__HloComputationProto *after)
{
	for (size_t i = 0; i < before->n_instructions; i++) {
		int64_t id = before->instructions[i]->id, rank = 0;
		for (size_t k = 0; k < before->n_instructions; k++)
			rank += (before->instructions[k]->id & 0xffffffff) < (id & 0xffffffff);
		if (after->instructions[i]->id != ((id & ~INT64_C(0xffffffff)) | rank))
			return false;
	}
	return true;
}

static void compare(const struct graph *before, const struct graph *after)
{
	const Hlo__HloModuleProto *a = before->module, *b = after->module;
	bool same = CHECK(memcmp(&before->content, &after->content, sizeof before->content) == 0) &&
		    CHECK(a->n_computations == b->n_computations);

	for (size_t c = 0; same && c < a->n_computations; c++) {
		const Hlo__InstructionSequence *s = b->schedule->sequences[c]->value;
		same = CHECK(ranks(a->computations[c], b->computations[c]));
		for (size_t i = 0; same && i < s->n_instruction_ids; i++)
			same = CHECK(s->instruction_ids[i] == b->computations[c]->instructions[i]->id);
	}
}

/* A program's bytes with a schedule and with ids that lie far apart. */
static bool sparse(const char *path, struct buf *out)
{
	struct graph g = {0};
	struct err err = {0};
	bool ok = CHECK(graph_read(&g, path, &err) == 0);

	if (ok) {
		schedule(&g.mem, g.module);
		spread(g.module);
		pack_message(&g.module->base, out);
	} else {
		printf("\t%s: %s\n", path, err.text);
	}
	graph_release(&g);
	return ok;
}

static void one_program(const char *path)
{
	struct graph before = {0}, after = {0};
	struct buf b = {0}, c = {0}, again = {0};
	struct err err = {0};

	if (sparse(path, &b) && CHECK(graph_parse(&before, b.data, b.len, path, &err) == 0) &&
		CHECK(compact_ids(b.data, b.len, &c))) {
		CHECK(!compact_ids(c.data, c.len, &again) && again.len == 0);
		if (CHECK(graph_parse(&after, c.data, c.len, path, &err) == 0))
			compare(&before, &after);
	}
	if (err.text[0])
		printf("\t%s\n", err.text);
	graph_release(&before);
	graph_release(&after);
	buf_release(&b);
	buf_release(&c);
}

static void same_programs(void)
{
	static const char *const all[] = {"examples/graphs/tiny/*.pb.zst", "examples/graphs/train/*.pb.zst"};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		glob_t files;
		if (!CHECK(glob(all[i], 0, NULL, &files) == 0))
			continue;
		for (size_t k = 0; k < files.gl_pathc; k++)
			one_program(files.gl_pathv[k]);
		globfree(&files);
	}
}

#define SPARSE "examples/graphs/tiny/loop.pb.zst"

/* Changes a sound program by `change`, and asks whether it would be made compact. */
static bool pays_after(void (*change)(Hlo__HloModuleProto *))
{
	struct graph g = {0};
	struct buf b = {0}, c = {0};
	struct err err = {0};
	bool pays = false;

	if (CHECK(graph_read(&g, SPARSE, &err) == 0)) {
		spread(g.module);
		change(g.module);
		pack_message(&g.module->base, &b);
		pays = compact_ids(b.data, b.len, &c);
		CHECK(pays == (c.len > 0));
	}
	graph_release(&g);
	buf_release(&b);
	buf_release(&c);
	return pays;
}

static void nothing(Hlo__HloModuleProto *m)
{
	(void)m;
}

static void stray_root(Hlo__HloModuleProto *m)
{
	m->computations[0]->root_id++;
}

static void stray_operand(Hlo__HloModuleProto *m)
{
	const Hlo__HloComputationProto *last = m->computations[m->n_computations - 1];

	last->instructions[last->n_instructions - 1]->operand_ids[0]++;
}

static void twins(Hlo__HloModuleProto *m)
{
	m->computations[0]->instructions[0]->id = m->computations[0]->instructions[1]->id;
}

static void twin_computations(Hlo__HloModuleProto *m)
{
	m->computations[0]->id = m->computations[1]->id;
}

static void unsound(void)
{
	struct buf none = {0};

	CHECK(pays_after(nothing));
	CHECK(!pays_after(stray_root));
	CHECK(!pays_after(stray_operand));
	CHECK(!pays_after(twins));
	CHECK(!pays_after(twin_computations));
	CHECK(!compact_ids(NULL, 0, &none) && !compact_ids("HloModule m", 11, &none) && none.len == 0);
}

/* What is cut off or has a flipped bit is left alone, or means after it what it meant before. */
static void damaged(void)
{
	struct buf b = {0};
	struct rng r;

	rng_seed(&r, 7);
	if (!sparse(SPARSE, &b))
		return;
	for (int i = 0; i < 4000; i++) {
		size_t n = i % 2 ? b.len : (size_t)rng_below(&r, b.len);
		char *exact = mem_alloc(n + 1);
		struct graph before = {0}, after = {0};
		struct buf c = {0};
		struct err err;
		memcpy(exact, b.data, n);
		if (n)
			exact[rng_below(&r, n)] ^= (char)(1 << rng_below(&r, 8));
		if (compact_ids(exact, n, &c) && graph_parse(&before, exact, n, "it", &err) == 0)
			CHECK(graph_parse(&after, c.data, c.len, "it", &err) == 0 &&
				memcmp(&before.content, &after.content, sizeof before.content) == 0);
		graph_release(&before);
		graph_release(&after);
		buf_release(&c);
		mem_free(exact);
	}
	buf_release(&b);
}

int main(void)
{
	RUN(same_programs);
	RUN(unsound);
	RUN(damaged);
	return test_done();
}
