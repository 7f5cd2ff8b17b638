/*
 * check_graph_content.c - which changes of a file leave a program the same program, and which do not (graph/content.c).
 */
#include "base/rng.h"
#include "tests/make_graph.h"

/* A random program, with elementwise operations, reductions, unread values and control dependencies. */
struct random {
	struct make mk;
	struct rng rng;
};

static Hlo__ShapeProto *vector(struct random *r)
{
	return make_shape(&r->mk, DT_F32, 1, 8);
}

static void wait_for(struct random *r, make_instruction *in, const make_instruction *before)
{
	in->n_control_predecessor_ids = 1;
	in->control_predecessor_ids = ARENA_NEW(&r->mk.mem, 1, int64_t);
	in->control_predecessor_ids[0] = before->id;
}

static void random_comp(struct random *r, struct make_comp *c, struct make_comp *sum, uint64_t n)
{
	static const char *const op[] = {"add", "multiply", "subtract", "maximum"};
	make_instruction *v[64];
	uint64_t have = 0;
	for (; have < 3; have++)
		v[have] = make_param(c, vector(r));
	while (have < n) {
		make_instruction *a = v[rng_below(&r->rng, have)], *b = v[rng_below(&r->rng, have)];
		v[have] = make_op(c, op[rng_below(&r->rng, 4)], vector(r), 2, a, b);
		if (rng_below(&r->rng, 8) == 0)
			wait_for(r, v[have], v[rng_below(&r->rng, have)]);
		have++;
		if (rng_below(&r->rng, 4) == 0) {
			make_instruction *s = make_op(c, "reduce", make_shape(&r->mk, DT_F32, 0), 2, a,
				make_f32(c, (float)rng_below(&r->rng, 3)));
			make_dims(c, s, 1, 0);
			make_calls(s, &r->mk, 1, sum);
			if (rng_below(&r->rng, 2) && have < n)
				v[have++] = make_op(c, "broadcast", vector(r), 1, s);
		}
	}
	c->root = v[have - 1];
}

static Hlo__HloModuleProto *random_module(struct random *r, uint64_t seed)
{
	rng_seed(&r->rng, seed);
	struct make_comp *sum = make_reducer(&r->mk, "add");
	struct make_comp *inner = make_comp(&r->mk, "inner"), *c;
	random_comp(r, inner, sum, 4 + rng_below(&r->rng, 6));
	c = make_comp(&r->mk, "main");
	random_comp(r, c, sum, 4 + rng_below(&r->rng, 40));
	make_instruction *p[] = {c->p->instructions[0], c->p->instructions[1], c->root};
	make_instruction *call = make_calls(make_op_v(c, "call", vector(r), 3, p), &r->mk, 1, inner);
	c->root = make_tuple(c, 2, call, c->root);
	return make_module(&r->mk);
}

/* Gives the program new names, ids, order and metadata; it stays the same program. */
static void disguise(struct random *r, Hlo__HloModuleProto *m)
{
	int64_t shift = 1000 + (int64_t)rng_below(&r->rng, 1000000);
	for (size_t c = 0; c < m->n_computations; c++) {
		Hlo__HloComputationProto *p = m->computations[c];
		p->id += shift;
		p->root_id += shift;
		p->name = arena_printf(&r->mk.mem, "c%llu", (unsigned long long)rng_u64(&r->rng));
		for (size_t i = 0; i < p->n_instructions; i++) {
			make_instruction *in = p->instructions[i];
			in->id += shift;
			for (size_t k = 0; k < in->n_operand_ids; k++)
				in->operand_ids[k] += shift;
			for (size_t k = 0; k < in->n_control_predecessor_ids; k++)
				in->control_predecessor_ids[k] += shift;
			for (size_t k = 0; k < in->n_called_computation_ids; k++)
				in->called_computation_ids[k] += shift;
			in->name = arena_printf(&r->mk.mem, "i%llu", (unsigned long long)rng_u64(&r->rng));
			in->metadata = ARENA_NEW(&r->mk.mem, 1, Hlo__OpMetadata);
			hlo__op_metadata__init(in->metadata);
			in->metadata->op_name = in->name;
		}
		for (size_t i = p->n_instructions; i > 1; i--) {
			size_t k = rng_below(&r->rng, i);
			make_instruction *swap = p->instructions[i - 1];
			p->instructions[i - 1] = p->instructions[k];
			p->instructions[k] = swap;
		}
	}
	m->entry_computation_id += shift;
	m->name = (char *)"disguised";
	m->id = shift;
	for (size_t i = m->n_computations; i > 1; i--) {
		size_t k = rng_below(&r->rng, i);
		Hlo__HloComputationProto *swap = m->computations[i - 1];
		m->computations[i - 1] = m->computations[k];
		m->computations[k] = swap;
	}
}

static bool same_content(const struct graph *a, const struct graph *b)
{
	return memcmp(&a->content, &b->content, sizeof(a->content)) == 0;
}

/* Have equal nodes the same numbers in both graphs? Stored configurations rely on that. */
static bool same_numbering(const struct graph *a, const struct graph *b)
{
	if (a->n_nodes != b->n_nodes || a->n_edges != b->n_edges || a->n_comps != b->n_comps)
		return false;
	for (uint32_t v = 0; v < a->n_nodes; v++)
		if (a->node[v].opcode != b->node[v].opcode || a->node[v].operand != b->node[v].operand ||
			a->node[v].comp != b->node[v].comp)
			return false;
	return memcmp(a->edges, b->edges, a->n_edges * sizeof(*a->edges)) == 0;
}

static void disguises(void)
{
	for (uint64_t seed = 0; seed < (uint64_t)test_cases(150); seed++) {
		struct random r = {0};
		struct graph a = {0}, b = {0};
		Hlo__HloModuleProto *m = random_module(&r, seed);
		if (make_graph(&a, m)) {
			disguise(&r, m);
			if (make_graph(&b, m)) {
				uint64_t *x = MEM_NEW(a.n_nodes, uint64_t), *y = MEM_NEW(a.n_nodes, uint64_t);
				bool ok = CHECK(same_content(&a, &b)) && CHECK(same_numbering(&a, &b));
				if (ok) {
					graph_structural_hash(&a, x);
					graph_structural_hash(&b, y);
					ok = CHECK(memcmp(x, y, a.n_nodes * sizeof(*x)) == 0);
				}
				if (!ok)
					printf("seed %llu\n", (unsigned long long)seed);
				mem_free(x);
				mem_free(y);
			}
		}
		graph_release(&a);
		graph_release(&b);
		make_release(&r.mk);
	}
}

/* A small program with a bit of everything; `change` is one thing to do to it. */
struct sample {
	struct make mk;
	Hlo__HloModuleProto *m;
	struct make_comp *sum, *sum2, *c;
	make_instruction *x, *y, *sub, *lit, *r1, *r2, *gather;
};

static void sample_make(struct sample *s)
{
	memset(s, 0, sizeof(*s));
	s->sum = make_reducer(&s->mk, "add");
	s->sum2 = make_reducer(&s->mk, "add");
	s->c = make_comp(&s->mk, "main");
	Hlo__ShapeProto *f = make_shape(&s->mk, DT_F32, 2, 4, 8), *row = make_shape(&s->mk, DT_F32, 1, 4);
	s->x = make_param(s->c, f);
	s->y = make_param(s->c, make_shape(&s->mk, DT_F32, 2, 4, 8));
	s->sub = make_op(s->c, "subtract", f, 2, s->x, s->y);
	s->lit = make_f32(s->c, 1.5f);
	s->r1 = make_op(s->c, "reduce", row, 2, s->sub, s->lit);
	make_dims(s->c, s->r1, 1, 1);
	make_calls(s->r1, &s->mk, 1, s->sum);
	s->r2 = make_op(s->c, "reduce", row, 2, s->x, s->lit);
	make_dims(s->c, s->r2, 1, 1);
	make_calls(s->r2, &s->mk, 1, s->sum);
	make_tuple(s->c, 3, s->r1, s->r2, s->sub);
	s->m = make_module(&s->mk);
}

static void change_nothing(struct sample *s)
{
	s->sub->name = (char *)"other";
}
static void change_unknown_metadata(struct sample *s)
{
	/* all_reduce_id, an old spelling: says nothing about the program */
	static ProtobufCMessageUnknownField u = {45, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, 2, (uint8_t *)"\x01x"};
	s->sub->base.n_unknown_fields = 1;
	s->sub->base.unknown_fields = &u;
}
static void change_spelling(struct sample *s)
{
	/* all defaults, written out */
	s->r1->precision_config = ARENA_NEW(&s->mk.mem, 1, Hlo__PrecisionConfig);
	hlo__precision_config__init(s->r1->precision_config);
	s->r1->precision_config->n_operand_precision = 2;
	s->r1->precision_config->operand_precision = ARENA_NEW(&s->mk.mem, 2, int32_t);
	s->r1->feature_group_count = 1;
	s->r1->channel_id = -1;
	s->x->shape->n_is_dynamic_dimension = 2;
	s->x->shape->is_dynamic_dimension = ARENA_NEW(&s->mk.mem, 2, protobuf_c_boolean);
}
static void change_operands(struct sample *s)
{
	s->sub->operand_ids[0] = s->y->id;
	s->sub->operand_ids[1] = s->x->id;
}
static void change_literal(struct sample *s)
{
	s->lit->literal->f32s[0] = -1.5f;
}
static void change_sign_of_zero(struct sample *s)
{
	s->lit->literal->f32s[0] = 0;
}
static void change_layout(struct sample *s)
{
	s->x->shape->layout->minor_to_major[0] = 0;
	s->x->shape->layout->minor_to_major[1] = 1;
}
static void change_dimension(struct sample *s)
{
	s->r1->dimensions[0] = 0;
}
static void change_reducer(struct sample *s)
{
	s->sum->p->instructions[2]->opcode = (char *)"maximum";
}
static void change_sharing(struct sample *s)
{
	make_calls(s->r2, &s->mk, 1, s->sum2);
}
static void change_control(struct sample *s)
{
	s->r2->n_control_predecessor_ids = 1;
	s->r2->control_predecessor_ids = ARENA_NEW(&s->mk.mem, 1, int64_t);
	s->r2->control_predecessor_ids[0] = s->r1->id;
}
static void change_parameters(struct sample *s)
{
	s->x->parameter_number = 1;
	s->y->parameter_number = 0;
}
static void change_backend_config(struct sample *s)
{
	s->r1->backend_config = (ProtobufCBinaryData){2, (uint8_t *)"{}"};
}
static void change_alias(struct sample *s)
{
	Hlo__AliasEntry *e = ARENA_NEW(&s->mk.mem, 1, Hlo__AliasEntry);
	hlo__alias_entry__init(e);
	e->kind = 1;
	s->m->input_output_alias = ARENA_NEW(&s->mk.mem, 1, Hlo__HloInputOutputAliasProto);
	hlo__hlo_input_output_alias_proto__init(s->m->input_output_alias);
	s->m->input_output_alias->n_entries = 1;
	s->m->input_output_alias->entries = ARENA_NEW(&s->mk.mem, 1, Hlo__AliasEntry *);
	s->m->input_output_alias->entries[0] = e;
}
static void change_schedule(struct sample *s)
{
	Hlo__ScheduledSequence *q = ARENA_NEW(&s->mk.mem, 1, Hlo__ScheduledSequence);
	hlo__scheduled_sequence__init(q);
	q->key = s->c->p->id;
	q->value = ARENA_NEW(&s->mk.mem, 1, Hlo__InstructionSequence);
	hlo__instruction_sequence__init(q->value);
	q->value->n_instruction_ids = 2;
	q->value->instruction_ids = ARENA_NEW(&s->mk.mem, 2, int64_t);
	q->value->instruction_ids[0] = s->x->id;
	q->value->instruction_ids[1] = s->y->id;
	s->m->schedule = ARENA_NEW(&s->mk.mem, 1, Hlo__HloScheduleProto);
	hlo__hlo_schedule_proto__init(s->m->schedule);
	s->m->schedule->n_sequences = 1;
	s->m->schedule->sequences = ARENA_NEW(&s->mk.mem, 1, Hlo__ScheduledSequence *);
	s->m->schedule->sequences[0] = q;
}
static void change_unknown_field(struct sample *s)
{
	static ProtobufCMessageUnknownField u = {95, PROTOBUF_C_WIRE_TYPE_VARINT, 1, (uint8_t *)"\x02"};
	s->sub->base.n_unknown_fields = 1;
	s->sub->base.unknown_fields = &u;
}

/* The content hash of the sample after one change; zeros where it cannot be read. */
static struct digest content_after(void (*change)(struct sample *s))
{
	struct sample s;
	struct graph g = {0};
	struct digest d = {{0}};
	sample_make(&s);
	change(&s);
	if (make_graph(&g, s.m))
		d = g.content;
	graph_release(&g);
	make_release(&s.mk);
	return d;
}

static void changes(void)
{
	static const struct {
		const char *name;
		void (*change)(struct sample *s);
		bool same;
	} table[] = {
		{"nothing", change_nothing, true},
		{"where it came from", change_unknown_metadata, true},
		{"spelling", change_spelling, true},
		{"operands", change_operands, false},
		{"literal", change_literal, false},
		{"zero", change_sign_of_zero, false},
		{"layout", change_layout, false},
		{"dimension", change_dimension, false},
		{"reducer", change_reducer, false},
		{"sharing", change_sharing, false},
		{"control", change_control, false},
		{"parameters", change_parameters, false},
		{"backend config", change_backend_config, false},
		{"alias", change_alias, false},
		{"schedule", change_schedule, false},
		{"unknown field", change_unknown_field, false},
	};
	enum { N = sizeof(table) / sizeof(*table) };
	struct digest d[N];
	for (size_t i = 0; i < N; i++)
		d[i] = content_after(table[i].change);
	for (size_t i = 0; i < N; i++)
		for (size_t k = 0; k < i; k++)
			if (!CHECK_INT(memcmp(&d[i], &d[k], sizeof(d[i])) == 0, table[i].same && table[k].same))
				printf("%s and %s\n", table[i].name, table[k].name);
}

/* Names, layouts and sharing of applied computations do not count; what they compute does. */
static void applied_by_content(void)
{
	struct sample s;
	struct graph g = {0};
	uint64_t hash[64] = {0}, was = 0;
	sample_make(&s);
	make_calls(s.r2, &s.mk, 1, s.sum2);
	s.r2->operand_ids[0] = s.r1->operand_ids[0];
	if (make_graph(&g, s.m)) {
		graph_structural_hash(&g, hash);
		CHECK(hash[graph_find(&g, s.r1->name)] == hash[graph_find(&g, s.r2->name)]);
		CHECK(node_local_hash(&g, graph_find(&g, s.r1->name), true) ==
			node_local_hash(&g, graph_find(&g, s.r2->name), true));
	}
	graph_release(&g);
	s.sum2->p->instructions[2]->opcode = (char *)"maximum";
	if (make_graph(&g, s.m)) {
		graph_structural_hash(&g, hash);
		CHECK(hash[graph_find(&g, s.r1->name)] != hash[graph_find(&g, s.r2->name)]);
		was = node_local_hash(&g, graph_find(&g, s.x->name), false);
		CHECK(was == node_local_hash(&g, graph_find(&g, s.x->name), false));
	}
	graph_release(&g);
	change_layout(&s);
	if (make_graph(&g, s.m)) {
		uint32_t x = graph_find(&g, s.x->name);
		CHECK(node_local_hash(&g, x, false) == was);
		CHECK(node_local_hash(&g, x, true) != was);
	}
	graph_release(&g);
	make_release(&s.mk);
}

static void forget_stable(make_instruction *in)
{
	in->is_stable = false;
}
static void forget_sparsity(make_instruction *in)
{
	in->sparsity_config = NULL;
}

/* Older messages lack fields that the reader of text fills in. Where these fields say nothing, they do not count. */
static void text_and_message_are_one_program(void)
{
#define CONV "f32[1,2,1]{2,1,0} convolution(p, p), window={size=1}, dim_labels=b0f_o0i->b0f"
	static const struct {
		const char *type, *root;
		void (*forget)(make_instruction *in);
		bool same;
	} table[] = {
		{"f32[4]{0}", "(f32[2]{0}, s32[2]{0}) topk(p), k=2", forget_stable, true},
		{"f32[4]{0}", "(f32[2]{0}, s32[2]{0}) topk(p), k=2, largest=false", forget_stable, true},
		{"f32[4]{0}", "f32[4]{0} sort(p), dimensions={0}, is_stable=true, to_apply=less", forget_stable, false},
		{"f32[4]{0}", "f32[4]{0} sort(p), dimensions={0}, to_apply=less", forget_stable, true},
		{"f32[1,2,1]{2,1,0}", CONV, forget_sparsity, true},
		{"f32[1,2,1]{2,1,0}", CONV ", sparsity_config={lhs={sparsity=2x4 dimension=1}}", forget_sparsity,
			false},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct buf text = {0}, message = {0};
		struct graph a = {0}, b = {0};
		struct err err = {0};
		buf_addf(&text, "HloModule m\nless {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
			" ROOT c = pred[] compare(a, b), direction=LT\n}\nENTRY main {\n p = %s parameter(0)\n"
			" ROOT r = %s\n}\n", table[i].type, table[i].root);
		if (CHECK(graph_parse(&a, text.data, text.len, "text", &err) == 0)) {
			table[i].forget(a.node[graph_find(&a, "r")].proto);
			graph_write(&a, &message);
			if (!CHECK(graph_parse(&b, message.data, message.len, "message", &err) == 0) ||
				!CHECK_INT(same_content(&a, &b), table[i].same))
				printf("%s %s\n", table[i].root, err.text);
		} else {
			printf("%s\n", err.text);
		}
		graph_release(&a);
		graph_release(&b);
		buf_release(&text);
		buf_release(&message);
	}
}

int main(void)
{
	RUN(disguises);
	RUN(changes);
	RUN(text_and_message_are_one_program);
	RUN(applied_by_content);
	return test_done();
}
