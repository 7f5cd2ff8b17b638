/*
 * check_graph_bad.c - files that are no program, or a broken one. Each gets one finished sentence that names the file
 * and the offence; nothing is left behind, and reading takes no more memory than a small multiple of the file.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/io.h"
#include "bench/gen_module.h"
#include "graph/own.h"
#include "tests/broken.h"

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

/* Damages the bytes: flips bits, sets bytes to extremes, doubles and drops pieces. */
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
	damaged(NULL, test_cases(20000));
}

static void damaged_real(void)
{
	damaged("../shared/hlo/diffrax.b380012920.pb", test_cases(80));
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
	static const struct broken_case table[] = {
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
	broken_in(table, sizeof(table) / sizeof(*table));
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
		{"hello, world\n", 13, "is neither HLO text nor StableHLO; read as an HLO proto: "},
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
