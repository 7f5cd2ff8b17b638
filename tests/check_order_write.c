/*
 * check_order_write.c - what is written of an order for the compiler, and what is read of the compiler's: control
 * edges, the instruction that stops it before it generates code, and copies that it makes anew.
 */
#include "graph/graph.h"
#include "hlo/pack.h"
#include "hlo/stopper.h"
#include "space/order/order.h"
#include "space/order/write.h"
#include "tests/order_chains.h"
#include "tests/test.h"

static void what_is_written_reads_back(void)
{
	struct graph g, back;
	struct space *s;
	struct err err = {0};
	struct rng r;
	uint8_t config[64];

	rng_seed(&r, 5);
	read_chains(&g, 4);
	s = space_open("order", "sim", &g, NULL, 0, &err);
	for (int k = 0; k < 20; k++) {
		struct buf module = {0};
		space_random(s, 0.5, &r, config);
		CHECK(s->ops->apply(s, config, &module, &err) == 0);
		CHECK(graph_parse(&back, module.data, module.len, "written", &err) == 0);
		/* Each waits for the one before, so that there is one legal order, and it is that one. */
		struct values v;
		values_find(&v, &back, values_alignment(NULL));
		struct program *p = order_program(s);
		uint32_t *order = MEM_NEW(v.line[back.entry].n, uint32_t);
		as_listed(&v.line[back.entry], order);
		order_set(s, config);
		for (uint32_t i = 0; i < v.line[back.entry].n; i++)
			CHECK(strcmp(back.node[back.comp[back.entry].first + order[i]].proto->name,
				g.node[g.comp[g.entry].first + p->order[g.entry][i]].proto->name) == 0);
		mem_free(order);
		values_release(&v);
		graph_release(&back);
		buf_release(&module);
	}
	space_free(s);
	graph_release(&g);
}

/*
 * The compiler tells the instructions of a computation apart by the low halves of their ids; an instruction may have
 * the high half of another computation.
 */
static void a_new_id_is_new_by_its_low_half(void)
{
	static const char text[] = "HloModule m\nENTRY f {\n a = f32[2] parameter(0)\n b = "
		"f32[2] negate(a)\n ROOT c = f32[2] add(a, b)\n}\n";
	struct graph g, with;
	struct buf before = {0}, added = {0};
	struct err err = {0};
	const Hlo__HloComputationProto *entry;

	if (!CHECK(graph_parse(&g, text, sizeof text - 1, "m", &err) == 0))
		return;
	entry = g.module->computations[0];
	entry->instructions[0]->id = INT64_C(7) << 32 | 8;
	/* the largest of all; one more has the low half of the root */
	entry->instructions[1]->id = INT64_C(9) << 32 | 9;
	entry->instructions[2]->id = g.module->computations[0]->root_id = INT64_C(7) << 32 | 10;
	entry->instructions[1]->operand_ids[0] = entry->instructions[2]->operand_ids[0] = entry->instructions[0]->id;
	entry->instructions[2]->operand_ids[1] = entry->instructions[1]->id;
	pack_message(&g.module->base, &before);
	CHECK(stopper_add(before.data, before.len, "m", &added, &err) == 0);
	if (CHECK(graph_parse(&with, added.data, added.len, "with", &err) == 0)) {
		CHECK_INT(with.n_nodes, 4);
		for (uint32_t v = 0; v < with.n_nodes; v++)
			for (uint32_t w = 0; w < v; w++)
				CHECK((uint32_t)with.node[v].proto->id != (uint32_t)with.node[w].proto->id);
		graph_release(&with);
	}
	graph_release(&g);
	buf_release(&before);
	buf_release(&added);
}

static void a_stopper_comes_and_goes(void)
{
	struct graph g, with, without;
	struct buf before = {0}, added = {0}, dropped = {0};
	struct err err = {0};

	read_chains(&g, 2);
	graph_write(&g, &before);
	CHECK(stopper_add(before.data, before.len, "chains", &added, &err) == 0);
	CHECK(stopper_drop(added.data, added.len, "chains", &dropped, &err) == 0);
	CHECK(graph_parse(&with, added.data, added.len, "with", &err) == 0);
	CHECK(graph_parse(&without, dropped.data, dropped.len, "without", &err) == 0);
	CHECK_INT(with.n_nodes, g.n_nodes + 1);
	CHECK_INT(without.n_nodes, g.n_nodes);
	CHECK(memcmp(&without.content, &g.content, sizeof g.content) == 0);
	CHECK(stopper_add("no", 2, "nothing", &added, &err) < 0 && strstr(err.text, "nothing"));
	graph_release(&g);
	graph_release(&with);
	graph_release(&without);
	buf_release(&before);
	buf_release(&added);
	buf_release(&dropped);
}

/* Lists the entry's instructions in this order, as a compiler's scheduler does. */
static void set_schedule(struct arena *mem, struct graph *g, const char *const *order, size_t n)
{
	Hlo__HloScheduleProto *s = arena_alloc(mem, sizeof *s);
	Hlo__ScheduledSequence *entry = arena_alloc(mem, sizeof *entry);
	Hlo__InstructionSequence *q = arena_alloc(mem, sizeof *q);

	hlo__hlo_schedule_proto__init(s);
	hlo__scheduled_sequence__init(entry);
	hlo__instruction_sequence__init(q);
	q->instruction_ids = arena_alloc(mem, n * sizeof *q->instruction_ids);
	q->n_instruction_ids = n;
	for (size_t i = 0; i < n; i++)
		q->instruction_ids[i] = g->node[graph_find(g, order[i])].proto->id;
	entry->key = g->comp[g->entry].proto->id;
	entry->value = q;
	s->sequences = arena_alloc(mem, sizeof *s->sequences);
	s->sequences[0] = entry;
	s->n_sequences = 1;
	g->module->schedule = s;
}

#define WITH(copy, n) \
	"HloModule m\nENTRY f {\n a = f32[2] parameter(0)\n " copy n " e = f32[2] exponential(a)\n" \
	" ROOT s = f32[2] add(n, e)\n}\n"
#define WITH_COPY(copy) WITH(copy " = f32[2] copy(a)\n", " n = f32[2] negate(" copy ")\n")
#define WITHOUT_COPY WITH("", "n = f32[2] negate(a)\n")

/* A compiler may take copies out and put new ones in; where these are is not what was asked for. */
static void copies_that_are_made_anew_do_not_count(void)
{
	static const struct {
		const char *text, *order[5];
		uint32_t same, all;
		const char *then[5]; /* the program's order, by its own names */
	} cases[] = {
		{WITH_COPY("c"), {"a", "c", "n", "e", "s"}, 5, 5, {"a", "c", "n", "e", "s"}},
		{WITH_COPY("c"), {"a", "e", "c", "n", "s"}, 2, 5, {"a", "e", "c", "n", "s"}},
		{WITH_COPY("new"), {"a", "new", "n", "e", "s"}, 4, 4, {"a", "c", "n", "e", "s"}},
		{WITH_COPY("new"), {"a", "e", "new", "n", "s"}, 2, 4, {"a", "e", "c", "n", "s"}},
		/* taken out, and not put in again */
		{WITHOUT_COPY, {"a", "n", "e", "s"}, 4, 4, {"a", "c", "n", "e", "s"}},
		{WITHOUT_COPY, {"a", "e", "n", "s"}, 2, 4, {"a", "e", "c", "n", "s"}},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct graph g, then;
		struct program p;
		struct arena mem = {0};
		struct err err = {0};
		uint32_t same, all;
		size_t n = cases[i].order[4] ? 5 : 4;
		if (!CHECK(graph_parse(&g, WITH_COPY("c"), sizeof WITH_COPY("c") - 1, "m", &err) == 0) ||
			!CHECK(graph_parse(&then, cases[i].text, strlen(cases[i].text), "m", &err) == 0))
			return;
		program_open(&p, &g);
		set_schedule(&mem, &then, cases[i].order, n);
		CHECK(order_read(&p, then.module, &same, &all, &err) == 0);
		CHECK_INT(same, cases[i].same);
		CHECK_INT(all, cases[i].all);
		for (uint32_t k = 0; k < 5; k++)
			CHECK_STR(g.node[p.order[g.entry][k] + g.comp[g.entry].first].proto->name, cases[i].then[k]);
		then.module->schedule = NULL;
		program_release(&p);
		graph_release(&g);
		graph_release(&then);
		arena_release(&mem);
	}
}

int main(void)
{
	RUN(what_is_written_reads_back);
	RUN(copies_that_are_made_anew_do_not_count);
	RUN(a_new_id_is_new_by_its_low_half);
	RUN(a_stopper_comes_and_goes);
	return test_done();
}
