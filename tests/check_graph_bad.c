/*
 * check_graph_bad.c - files that are no program, or a broken one: one finished sentence that names
 * the file and the offence, nothing left behind, no more memory than a small multiple of the file.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/io.h"
#include "bench/gen_module.h"
#include "graph/graph.h"
#include "graph/own.h"
#include "hlo/guard.h"
#include "hlo/shape.h"
#include "tests/test.h"

/* Reads bytes that may be anything; whatever comes out must make sense. 0 read, -1 refused. */
static int feed(const void *p, size_t n, struct err *err)
{
	struct graph g = {0};
	uint8_t *exact = mem_alloc(n); /* so that a sanitizer sees a read beyond the end */
	if (n)
		memcpy(exact, p, n);
	*err = (struct err){0};
	int rc = graph_parse(&g, exact, n, "FILE", err);
	if (rc < 0)
		CHECK(strncmp(err->text, "FILE", 4) == 0 && strlen(err->text) > 12 &&
			(!strchr(err->text, '\n') || strchr(err->text, '^'))); /* text is shown with a caret */
	else
		CHECK(g.n_nodes > 0 && g.mem.used < GUARD_FACTOR * 2 * n + 2 * GUARD_FLOOR);
	graph_release(&g);
	mem_free(exact);
	return rc;
}

/* The bytes are refused with a sentence that holds `word`. */
static void refused(const struct buf *b, const char *word)
{
	struct err err;
	if (!CHECK_INT(feed(b->data, b->len, &err), -1) || !strstr(err.text, word)) {
		CHECK(strstr(err.text, word) != NULL);
		printf("wanted \"%s\", got \"%s\"\n", word, err.text);
	}
}

static void sample(struct buf *out)
{
	gen_module(60, 3, out);
}

static void truncated_anywhere(void)
{
	struct buf b = {0};
	struct err err;
	sample(&b);
	CHECK_INT(feed(b.data, b.len, &err), 0);
	for (size_t n = 0; n < b.len; n++)
		if (!CHECK_INT(feed(b.data, n, &err), -1)) /* the entry's id comes last */
			printf("%zu of %zu bytes were taken for a program\n", n, b.len);
	buf_release(&b);
}

static void random_bytes(void)
{
	struct rng r;
	uint8_t bytes[512];
	struct err err;
	rng_seed(&r, 1);
	for (int i = 0; i < 20000; i++) {
		size_t n = rng_below(&r, sizeof(bytes));
		for (size_t k = 0; k < n; k++)
			bytes[k] = (uint8_t)rng_u64(&r);
		feed(bytes, n, &err);
	}
}

/* Flipped bits, bytes set to extremes, pieces doubled and dropped. */
static void damage(struct buf *b, struct rng *r)
{
	size_t at = rng_below(r, b->len), n = 1 + rng_below(r, 40);
	if (n > b->len - at)
		n = b->len - at;
	switch (rng_below(r, 4)) {
	case 0:
		b->data[at] = (char)(b->data[at] ^ 1 << rng_below(r, 8));
		break;
	case 1:
		b->data[at] = (char)(rng_below(r, 2) ? 0xff : 0);
		break;
	case 2:
		memmove(b->data + at, b->data + at + n, b->len - at - n);
		b->len -= n;
		break;
	default:
		buf_reserve(b, n);
		memmove(b->data + at + n, b->data + at, b->len - at);
		b->len += n;
	}
}

static void damaged(const char *path, int rounds)
{
	struct buf whole = {0}, b = {0};
	struct rng r;
	struct err err = {0};
	rng_seed(&r, 2);
	if (path ? io_read_file(path, IO_FILE_LIMIT, &whole, &err) < 0 : (sample(&whole), 0))
		SKIP("no ../shared/hlo");
	for (int i = 0; i < rounds; i++) {
		buf_reset(&b);
		buf_add(&b, whole.data, whole.len);
		for (uint64_t k = 1 + rng_below(&r, 3); k > 0 && b.len > 1; k--)
			damage(&b, &r);
		feed(b.data, b.len, &err);
	}
	for (int i = 0; path && i < 60; i++)
		feed(whole.data, rng_below(&r, whole.len), &err);
	buf_release(&whole);
	buf_release(&b);
}

static void damaged_sample(void)
{
	damaged(NULL, 20000);
}

static void damaged_real(void)
{
	damaged("../shared/hlo/diffrax.b380012920.pb", 80);
}

/* A module of some parts, to be broken in one place. */
struct broken {
	struct make mk;
	struct make_comp *sum, *body, *c;
	make_instruction *x, *y, *r, *t, *e;
	Hlo__HloModuleProto *m;
};

static void make_whole(struct broken *b)
{
	memset(b, 0, sizeof(*b));
	Hlo__ShapeProto *f = make_shape(&b->mk, DT_F32, 1, 8);
	b->sum = make_reducer(&b->mk, "add");
	b->body = make_comp(&b->mk, "body");
	make_op(b->body, "negate", f, 1, make_param(b->body, f));
	b->c = make_comp(&b->mk, "main");
	b->x = make_param(b->c, f);
	b->y = make_calls(make_op(b->c, "call", f, 1, b->x), &b->mk, 1, b->body);
	b->r = make_op(b->c, "reduce", make_shape(&b->mk, DT_F32, 0), 2, b->y, make_f32(b->c, 0));
	make_calls(b->r, &b->mk, 1, b->sum);
	b->t = make_tuple(b->c, 2, b->r, b->y);
	b->e = make_element(b->c, b->t, 1);
	b->m = make_module(&b->mk);
}

static void no_change(struct broken *b)
{
	(void)b;
}
static void id_repeats(struct broken *b)
{
	b->y->id = b->x->id;
}
static void computation_repeats(struct broken *b)
{
	b->sum->p->id = b->c->p->id;
}
static void operand_dangles(struct broken *b)
{
	b->y->operand_ids[0] = 77;
}
static void operand_elsewhere(struct broken *b)
{
	b->y->operand_ids[0] = b->body->p->instructions[0]->id;
}
static void control_dangles(struct broken *b)
{
	b->y->n_control_predecessor_ids = 1;
	b->y->control_predecessor_ids = ARENA_NEW(&b->mk.mem, 1, int64_t);
}
static void call_dangles(struct broken *b)
{
	b->y->called_computation_ids[0] = -5;
}
static void root_dangles(struct broken *b)
{
	b->c->p->root_id = 1;
}
static void entry_dangles(struct broken *b)
{
	b->m->entry_computation_id = 99;
}
static void reads_itself(struct broken *b)
{
	b->y->operand_ids[0] = b->y->id;
}
static void cycle(struct broken *b)
{
	b->y->operand_ids[0] = b->e->id;
}
static void control_cycle(struct broken *b)
{
	control_dangles(b);
	b->y->control_predecessor_ids[0] = b->r->id;
}
static void calls_itself(struct broken *b)
{
	make_instruction *in = b->body->p->instructions[1];
	in->opcode = (char *)"call";
	make_calls(in, &b->mk, 1, b->c);
}
static void no_operands(struct broken *b)
{
	b->r->n_operand_ids = 1;
}
static void no_shape(struct broken *b)
{
	b->y->shape = NULL;
}
static void no_type(struct broken *b)
{
	b->x->shape->element_type = 0;
}
static void negative_size(struct broken *b)
{
	b->x->shape->dimensions[0] = -1;
}
static void huge_size(struct broken *b)
{
	b->x->shape->dimensions[0] = INT64_MAX;
}
static void huge_product(struct broken *b)
{
	b->x->shape = make_shape(&b->mk, DT_F32, 4, 1 << 30, 1 << 30, 1 << 30, 1 << 30);
}
static void no_element(struct broken *b)
{
	b->e->tuple_index = 2;
}
static void negative_element(struct broken *b)
{
	b->e->tuple_index = -1;
}
static void tuple_too_small(struct broken *b)
{
	b->t->shape->n_tuple_shapes = 3;
	b->t->shape->tuple_shapes = ARENA_NEW(&b->mk.mem, 3, Hlo__ShapeProto *);
	for (int i = 0; i < 3; i++)
		b->t->shape->tuple_shapes[i] = b->x->shape;
}
static void element_of_another_shape(struct broken *b)
{
	b->e->tuple_index = 0;
}
static void part_of_another_shape(struct broken *b)
{
	b->t->shape->tuple_shapes[0] = b->x->shape;
}
static void nothing_but_wide(struct broken *b)
{
	b->x->shape = make_shape_v(&b->mk, DT_F32, 2, (int64_t[]){0, INT64_C(1) << 62});
}
static void rank_of_many(struct broken *b)
{
	b->x->shape = make_shape_v(&b->mk, DT_F32, RANK_LIMIT + 1, ARENA_NEW(&b->mk.mem, RANK_LIMIT + 1, int64_t));
}
static void layout_repeats(struct broken *b)
{
	b->x->shape = make_shape(&b->mk, DT_F32, 2, 4, 2);
	b->x->shape->layout->minor_to_major[0] = 0;
}
static void layout_elsewhere(struct broken *b)
{
	b->x->shape->layout->minor_to_major[0] = INT64_MIN;
}
static void layout_shorter(struct broken *b)
{
	b->x->shape->layout->n_minor_to_major = 0;
}
static void array_of_parts(struct broken *b)
{
	b->x->shape->n_tuple_shapes = 1;
	b->x->shape->tuple_shapes = b->t->shape->tuple_shapes;
}
static void dynamic_of_others(struct broken *b)
{
	b->x->shape->n_is_dynamic_dimension = 2;
	b->x->shape->is_dynamic_dimension = ARENA_NEW(&b->mk.mem, 2, protobuf_c_boolean);
}
static void id_far(struct broken *b)
{
	b->e->id = b->c->p->root_id = INT64_MAX;
}
static void id_negative(struct broken *b)
{
	b->e->id = b->c->p->root_id = -1;
}
static void computation_far(struct broken *b)
{
	b->sum->p->id = b->r->called_computation_ids[0] = INT64_C(1) << 32;
}
static void boundary_wider(struct broken *b)
{
	b->m->host_program_shape->parameters[0] = make_shape(&b->mk, DT_F32, 1, 9);
}
static void boundary_shorter(struct broken *b)
{
	b->m->host_program_shape->n_parameters = b->m->host_program_shape->n_parameter_names = 0;
}
static void boundary_without_result(struct broken *b)
{
	b->m->host_program_shape->result = NULL;
}
static void add_of_three(struct broken *b)
{
	b->c->root = make_op(b->c, "add", b->x->shape, 3, b->x, b->x, b->x);
	b->m = make_module(&b->mk);
}
static void reduces_elsewhere(struct broken *b)
{
	make_dims(b->c, b->r, 1, 1);
}
static void reduces_twice(struct broken *b)
{
	make_dims(b->c, b->r, 2, 0, 0);
}
static void reduces_with_nothing(struct broken *b)
{
	b->r->n_called_computation_ids = 0;
}
static void negates_with_a_call(struct broken *b)
{
	b->y->opcode = (char *)"negate";
}
static void call_of_another_shape(struct broken *b)
{
	b->body->p->instructions[1]->shape = make_shape(&b->mk, DT_F32, 1, 9);
}
static make_instruction *instead(struct broken *b, const char *opcode, int operands)
{
	make_instruction *in = make_op(b->c, opcode, b->x->shape, operands, b->x, b->x);
	b->c->root = in;
	b->m = make_module(&b->mk);
	return in;
}
static void gather_without_numbers(struct broken *b)
{
	instead(b, "gather", 2);
}
static void window_of(struct broken *b, Hlo__WindowDimension d)
{
	Hlo__WindowDimension *w = ARENA_NEW(&b->mk.mem, 1, Hlo__WindowDimension);
	hlo__window_dimension__init(w);
	d.base = w->base;
	*w = d;
	b->y->window = ARENA_NEW(&b->mk.mem, 1, Hlo__Window);
	hlo__window__init(b->y->window);
	b->y->window->dimensions = arena_dup(&b->mk.mem, &w, sizeof(w));
	b->y->window->n_dimensions = 1;
}
static void window_huge(struct broken *b)
{
	window_of(b, (Hlo__WindowDimension){.size = INT64_MAX});
}
static void window_negative(struct broken *b)
{
	window_of(b, (Hlo__WindowDimension){.size = -2});
}
static void window_far(struct broken *b)
{
	window_of(b, (Hlo__WindowDimension){.size = 1, .padding_low = INT64_MIN});
}
static void transform_huge(struct broken *b)
{
	int64_t length[] = {INT64_MAX, INT64_MAX};
	b->y->n_fft_length = 2;
	b->y->fft_length = arena_dup(&b->mk.mem, length, sizeof(length));
}
static void convolution_far(struct broken *b)
{
	Hlo__ConvolutionDimensionNumbers *d = ARENA_NEW(&b->mk.mem, 1, Hlo__ConvolutionDimensionNumbers);
	hlo__convolution_dimension_numbers__init(d);
	d->input_feature_dimension = d->kernel_output_feature_dimension = 1;
	d->output_feature_dimension = INT64_MAX;
	b->y->convolution_dimension_numbers = d;
}
static Hlo__Literal *literal_of(struct broken *b, Hlo__ShapeProto *s)
{
	Hlo__Literal *l = ARENA_NEW(&b->mk.mem, 1, Hlo__Literal);
	make_instruction *in = make_op(b->c, "constant", s, 0);
	hlo__literal__init(l);
	l->shape = s;
	in->literal = l;
	b->c->root = b->e;
	b->m = make_module(&b->mk);
	return l;
}
static Hlo__ShapeProto *shape_of_two(struct broken *b)
{
	Hlo__ShapeProto *s = make_shape(&b->mk, DT_TUPLE, 0);
	s->n_tuple_shapes = 2;
	s->tuple_shapes = ARENA_NEW(&b->mk.mem, 2, Hlo__ShapeProto *);
	s->tuple_shapes[0] = s->tuple_shapes[1] = make_shape(&b->mk, DT_F32, 0);
	return s;
}
static void literal_left_out(struct broken *b)
{
	literal_of(b, make_shape(&b->mk, DT_F32, 1, 8));
}
static void literal_without_shape(struct broken *b)
{
	literal_of(b, make_shape(&b->mk, DT_F32, 1, 8))->shape = NULL;
}
static void literal_of_another_shape(struct broken *b)
{
	literal_of(b, make_shape(&b->mk, DT_F32, 1, 8))->shape = make_shape(&b->mk, DT_F32, 1, 9);
}
static void literal_layout_repeats(struct broken *b)
{
	Hlo__Literal *l = literal_of(b, make_shape(&b->mk, DT_F32, 2, 2, 2));
	l->shape = make_shape(&b->mk, DT_F32, 2, 2, 2);
	l->shape->layout->minor_to_major[0] = 0;
	l->n_f32s = 4;
	l->f32s = ARENA_NEW(&b->mk.mem, 4, float);
}
static void literal_of_fewer(struct broken *b)
{
	Hlo__Literal *l = literal_of(b, make_shape(&b->mk, DT_F32, 1, 8));
	l->n_f32s = 7;
	l->f32s = ARENA_NEW(&b->mk.mem, 7, float);
}
static void tuple_without_shapes(struct broken *b)
{
	Hlo__Literal *l = literal_of(b, shape_of_two(b));
	l->n_tuple_literals = 2;
	l->tuple_literals = ARENA_NEW(&b->mk.mem, 2, Hlo__Literal *);
	for (int i = 0; i < 2; i++) {
		l->tuple_literals[i] = ARENA_NEW(&b->mk.mem, 1, Hlo__Literal);
		hlo__literal__init(l->tuple_literals[i]);
	}
}
static void tuple_of_no_values(struct broken *b)
{
	literal_of(b, shape_of_two(b));
}
static void origin_far(struct broken *b)
{
	Hlo__OriginalValue *v = ARENA_NEW(&b->mk.mem, 1, Hlo__OriginalValue);
	Hlo__OriginalValueElement *e = ARENA_NEW(&b->mk.mem, 1, Hlo__OriginalValueElement);
	int64_t far = INT64_C(1) << 40;
	hlo__original_value__init(v);
	hlo__original_value_element__init(e);
	e->n_shape_index = 1;
	e->shape_index = arena_dup(&b->mk.mem, &far, sizeof(far));
	v->n_elements = 1;
	v->elements = arena_dup(&b->mk.mem, &e, sizeof(e));
	b->y->original_value = v;
}
static void parameter_gap(struct broken *b)
{
	b->x->parameter_number = 1;
}
static void parameter_negative(struct broken *b)
{
	b->x->parameter_number = -1;
}
static void call_does_not_fit(struct broken *b)
{
	make_calls(b->y, &b->mk, 1, b->sum);
}
static void while_of_one(struct broken *b)
{
	b->y->opcode = (char *)"while";
}
static void empty_computation(struct broken *b)
{
	b->sum->p->n_instructions = 0;
}
static void no_computations(struct broken *b)
{
	b->m->n_computations = 0;
}
static void deep_shape(struct broken *b)
{
	for (int i = 0; i < 3000; i++) {
		Hlo__ShapeProto *s = make_shape(&b->mk, DT_TUPLE, 0);
		s->n_tuple_shapes = 1;
		s->tuple_shapes = ARENA_NEW(&b->mk.mem, 1, Hlo__ShapeProto *);
		s->tuple_shapes[0] = b->y->shape;
		b->y->shape = s;
	}
}
static void deep_sharding(struct broken *b)
{
	for (int i = 0; i < 3000; i++) {
		Hlo__OpSharding *s = ARENA_NEW(&b->mk.mem, 1, Hlo__OpSharding);
		hlo__op_sharding__init(s);
		s->n_tuple_shardings = b->y->sharding != NULL;
		s->tuple_shardings = ARENA_NEW(&b->mk.mem, 1, Hlo__OpSharding *);
		s->tuple_shardings[0] = b->y->sharding;
		b->y->sharding = s;
	}
}
static void deep_calls(struct broken *b)
{
	/* put between the body and the entry, each calling the one before */
	enum { N = CALL_DEPTH + 10 };
	Hlo__ShapeProto *f = b->x->shape;
	struct make_comp *inner = b->body;
	b->mk.n--;
	for (int i = 0; i < N; i++) {
		struct make_comp *c = make_comp(&b->mk, "deep");
		c->p->id = 1000 + i;
		make_calls(make_op(c, "call", f, 1, make_param(c, f)), &b->mk, 1, inner);
		inner = c;
	}
	make_calls(b->y, &b->mk, 1, inner);
	b->mk.comp[b->mk.n++] = b->c;
	b->m = make_module(&b->mk);
}

static void broken_in_one_place(void)
{
	static const struct {
		void (*change)(struct broken *b);
		const char *says; /* NULL: it is read */
	} table[] = {
		{no_change, NULL},
		{id_repeats, "repeats the id"},
		{computation_repeats, "two computations have the id"},
		{operand_dangles, "reads what is not in its computation: 77"},
		{operand_elsewhere, "reads what is not in its computation"},
		{control_dangles, "waits for what is not in its computation: 0"},
		{call_dangles, "calls a computation that is not there: -5"},
		{root_dangles, "the root of computation main should be 1"},
		{entry_dangles, "its entry computation should be 99"},
		{reads_itself, "depends on itself"},
		{cycle, "depends on itself"},
		{control_cycle, "depends on itself"},
		{calls_itself, "calls itself"},
		{no_operands, "too few operands"},
		{no_shape, "has no shape"},
		{no_type, "a shape without a type"},
		{negative_size, "no machine holds"},
		{huge_size, "no machine holds"},
		{huge_product, "no machine holds"},
		{no_element, "takes an element"},
		{negative_element, "takes an element"},
		{tuple_too_small, "more or fewer elements"},
		{element_of_another_shape, "another shape than the element"},
		{part_of_another_shape, "not as its shape says"},
		{nothing_but_wide, "no machine holds"},
		{rank_of_many, "no machine holds"},
		{layout_repeats, "each dimension once"},
		{layout_elsewhere, "each dimension once"},
		{layout_shorter, "each dimension once"},
		{array_of_parts, "an array and a tuple"},
		{dynamic_of_others, "whether it is dynamic"},
		{id_far, "an id that XLA does not give"},
		{id_negative, "an id that XLA does not give"},
		{computation_far, "the id 4294967296, which XLA does not give"},
		{boundary_wider, "promises other parameters"},
		{boundary_shorter, "promises other parameters"},
		{boundary_without_result, "promises other parameters"},
		{add_of_three, "another number of operands"},
		{reduces_elsewhere, "names dimensions"},
		{reduces_twice, "names dimensions"},
		{reduces_with_nothing, "does not fit the computations"},
		{negates_with_a_call, "does not fit the computations"},
		{call_of_another_shape, "does not fit the computations"},
		{gather_without_numbers, "lacks an attribute"},
		{window_huge, "no machine moves"},
		{window_negative, "no machine moves"},
		{window_far, "no machine moves"},
		{transform_huge, "more than a machine holds"},
		{convolution_far, "names dimensions"},
		{literal_left_out, NULL},
		{literal_without_shape, "a value that is not as its shape says"},
		{literal_of_another_shape, "a value that is not as its shape says"},
		{literal_layout_repeats, "a value that is not as its shape says"},
		{literal_of_fewer, "a value that is not as its shape says"},
		{tuple_without_shapes, "a value that is not as its shape says"},
		{tuple_of_no_values, "a value that is not as its shape says"},
		{origin_far, "an origin that no text can say"},
		{parameter_gap, "parameter number"},
		{parameter_negative, "parameter number"},
		{call_does_not_fit, "does not fit the computations it calls"},
		{while_of_one, "does not fit the computations it calls"},
		{empty_computation, "has no instructions"},
		{no_computations, "no computations"},
		{deep_shape, "nested deeper"},
		{deep_sharding, "nested deeper"},
		{deep_calls, "call each other more than"},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct broken b;
		struct buf bytes = {0};
		struct err err;
		make_whole(&b);
		table[i].change(&b);
		make_pack(b.m, &bytes);
		if (table[i].says)
			refused(&bytes, table[i].says);
		else
			CHECK_INT(feed(bytes.data, bytes.len, &err), 0);
		buf_release(&bytes);
		make_release(&b.mk);
	}
}

/* Bytes that no writer of messages would make. */
static void broken_bytes(void)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *says;
	} table[] = {
		{"", 0, "is empty"},
		{"\x1a", 1, "a length runs past the end"},
		{"\x1a\x05\x0a", 3, "a field runs past the end"},
		{"\x1a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10, "a field runs past the end"},
		{"\x1a\x03\x0a\x05x", 5, "a field runs past the end at byte 3, in computations[0]"},
		{"\x1a\x02\x0a\x00\x1a\x03\x12\x05z", 9, "in computations[1]"},
		{"\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, "a number runs past the end"},
		{"\x00\x01", 2, "no field where one should begin"},
		{"\x1b\x1c", 2, "a field of no known kind"},
		{"\x18\x05", 2, "a field has the wrong kind"},
		{"\x0a\x03" "a\0b", 5, "a name holds a NUL"},
		{"\x1a\x07\x12\x05\xa2\x02\x02\x80\x80", 9, "a list of numbers ends inside one"},
		{"hello, world\n", 13, "is neither HLO text nor StableHLO: "},
		{"HloModule x\n", 12, "text"},
		{"module @x {}\n", 13, "only a compiler plugin"},
		{"ML\xefR\x05", 5, "only a compiler plugin"},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct buf b = {0};
		buf_add(&b, table[i].bytes, table[i].n);
		refused(&b, table[i].says);
		buf_release(&b);
	}
}

/* A megabyte of the smallest fields there are would take hundreds of megabytes. */
static void bombs(void)
{
	static const struct {
		const char *unit;
		size_t n;
	} table[] = {{"\x12\x00", 2}, {"\x12\x02\x1a\x00", 4}, {"\x12\x03\x12\x01z", 5}};
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct buf b = {0}, inner = {0};
		while (inner.len < 1 << 20)
			buf_add(&inner, table[i].unit, table[i].n);
		buf_addch(&b, 0x1a);
		buf_varint(&b, inner.len);
		buf_add(&b, inner.data, inner.len);
		refused(&b, "would take");
		buf_release(&inner);
		buf_release(&b);
	}
}

static void files(void)
{
	char folder[] = "/tmp/vantage-check-XXXXXX";
	struct graph g = {0};
	struct err err = {0};
	struct buf path = {0}, b = {0}, packed = {0};
	if (!CHECK(mkdtemp(folder) != NULL))
		return;
	CHECK_INT(graph_read(&g, folder, &err), -1);
	CHECK(strstr(err.text, folder) && strstr(err.text, "is a directory"));
	buf_addf(&path, "%s/made.pb", folder);
	CHECK_INT(graph_read(&g, path.data, &err), -1);
	CHECK(strstr(err.text, path.data) && strstr(err.text, "cannot be opened"));
	CHECK_INT(io_write_file(path.data, "", 0, &err), 0);
	CHECK_INT(graph_read(&g, path.data, &err), -1);
	CHECK(strstr(err.text, path.data) && strstr(err.text, "is empty"));
	sample(&b);
	io_pack(b.data, b.len, 0, &packed);
	CHECK_INT(io_write_file(path.data, packed.data, packed.len, &err), 0);
	CHECK_INT(graph_read(&g, path.data, &err), 0);
	graph_release(&g);
	for (long n = 0; n < 100; n++) { /* no permission, in each call that could say so */
		err = (struct err){0};
		io_fail_at(n, EACCES);
		int rc = graph_read(&g, path.data, &err);
		long calls = io_fail_at(-1, 0);
		if (rc < 0)
			CHECK(strstr(err.text, path.data) && strstr(err.text, "ermission"));
		graph_release(&g);
		CHECK(rc == 0 ? calls <= n : true);
		if (rc == 0)
			break;
		CHECK(n < 99);
	}
	packed.data[packed.len / 2] ^= 0x55;
	CHECK_INT(io_write_file(path.data, packed.data, packed.len / 2, &err), 0);
	CHECK_INT(graph_read(&g, path.data, &err), -1);
	CHECK(strstr(err.text, path.data) != NULL);
	io_remove_tree(folder, NULL);
	buf_release(&path);
	buf_release(&b);
	buf_release(&packed);
}

int main(void)
{
	RUN(truncated_anywhere);
	RUN(random_bytes);
	RUN(damaged_sample);
	RUN(damaged_real);
	RUN(broken_in_one_place);
	RUN(broken_bytes);
	RUN(bombs);
	RUN(files);
	return test_done();
}
