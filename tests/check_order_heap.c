/*
 * The heap of an order, against one that is laid out slowly: every block is held against all that have their place. The
 * programs are drawn graphs of calls, none of which can take the place of an operand, so that each value is one block.
 */
#include <stdlib.h>
#include "base/rng.h"
#include "graph/graph.h"
#include "space/order/heap.h"
#include "space/order/list.h"
#include "tests/test.h"

struct slow {
	uint64_t size, begin, end, made, offset; /* by XLA's clock */
};

struct tick {
	uint64_t time, made;
	uint32_t block, goes;
};

/* Draws calls that read two of those before them: `far` of 100 calls read any, the others only the last twenty. */
static void draw(struct buf *b, struct rng *r, uint32_t n, uint32_t far)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = rng_below(r, 100) < far || i < 20 ? 0 : i - 20;
		uint64_t bytes = (uint64_t)4096 << rng_below(r, 8);
		buf_addf(b, "node {\n name: \"n%u\"\n id: %u\n", i, i);
		for (uint32_t k = 0; i && k < 2; k++)
			buf_addf(b, " input_info { preceding_node: %u }\n", from + (uint32_t)rng_below(r, i - from));
		buf_addf(b, " output_info { size: %llu }\n}\n", (unsigned long long)(bytes + rng_below(r, bytes)));
	}
}

static int by_tick(const void *a, const void *b)
{
	const struct tick *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->goes != y->goes)
		return x->goes ? 1 : -1;
	return (x->made > y->made) - (x->made < y->made);
}

static int by_bytes(const void *a, const void *b)
{
	const struct slow *x = a, *y = b;
	uint64_t s = x->end - x->begin, t = y->end - y->begin;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return s != t ? (s > t ? -1 : 1) : (x->made > y->made) - (x->made < y->made);
}

static int by_life(const void *a, const void *b)
{
	const struct slow *x = a, *y = b;
	uint64_t s = x->end - x->begin, t = y->end - y->begin;

	if (s != t)
		return s > t ? -1 : 1;
	return x->size != y->size ? (x->size > y->size ? -1 : 1) : (x->made > y->made) - (x->made < y->made);
}

static uint32_t blocks_of(const struct program *p, struct slow *s)
{
	struct tick *tick = MEM_NEW(2 * (size_t)p->n_values + 1, struct tick);
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_values; i++) {
		const struct program_value *v = &p->value[i];
		const struct program_life *l = &p->life[v->first];
		if (v->result || v->room != NONE || !v->size)
			continue;
		CHECK(v->n == 1);
		tick[2 * n] = (struct tick){l->begin, p->time[l->maker], n, 0};
		tick[2 * n + 1] = (struct tick){l->end, p->time[l->maker], n, 1};
		s[n++] = (struct slow){.size = v->size, .made = p->time[l->maker]};
	}
	if (n)
		qsort(tick, 2 * (size_t)n, sizeof *tick, by_tick);
	for (uint32_t i = 0; i < 2 * n; i++)
		*(tick[i].goes ? &s[tick[i].block].end : &s[tick[i].block].begin) = i;
	mem_free(tick);
	return n;
}

static struct values heap_like; /* the alignment of its buffers */

/* Does nothing lie there that lives at some of the same time? If something does, `next` is where it ends. */
static bool is_free(const struct slow *s, uint32_t n, uint64_t at, const struct slow *x, uint64_t *next)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t end = values_rounded(&heap_like, s[i].offset + s[i].size);
		if (s[i].begin <= x->end && x->begin <= s[i].end && s[i].offset < at + x->size && at < end) {
			*next = end;
			return false;
		}
	}
	return true;
}

/* Returns the bytes from there to the next block in the way. */
static uint64_t gap(const struct slow *s, uint32_t n, uint64_t at, const struct slow *x)
{
	uint64_t end = UINT64_MAX;

	for (uint32_t i = 0; i < n; i++)
		if (s[i].begin <= x->end && x->begin <= s[i].end && s[i].offset >= at && s[i].offset < end)
			end = s[i].offset;
	return end - at;
}

static uint64_t lay_out(struct slow *s, uint32_t n)
{
	uint64_t heap = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t best = UINT64_MAX, next;
		for (uint64_t at = 0;; at = next) {
			uint64_t room;
			if (!is_free(s, i, at, &s[i], &next))
				continue;
			room = gap(s, i, at, &s[i]);
			if (best == UINT64_MAX || room < best) {
				best = room;
				s[i].offset = at;
			}
			if (room > UINT64_MAX / 2) /* behind all */
				break;
			next = at + room;
		}
		heap = s[i].offset + s[i].size > heap ? s[i].offset + s[i].size : heap;
	}
	return heap;
}

static uint64_t slow_bytes(const struct program *p)
{
	struct slow *s = MEM_NEW(p->n_values + 1, struct slow);
	uint32_t n = blocks_of(p, s);
	uint64_t a, b;

	qsort(s, n, sizeof *s, by_bytes);
	a = lay_out(s, n);
	qsort(s, n, sizeof *s, by_life);
	b = lay_out(s, n);
	mem_free(s);
	return a < b ? a : b;
}

static void the_heap_is_that_of_all_pairs(void)
{
	static const struct { uint32_t n, far; } drawn[] = {{30, 50}, {300, 0}, {300, 100}, {700, 5}, {600, 60}};
	struct rng r;

	rng_seed(&r, 4);
	for (uint32_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
		struct buf text = {0};
		struct graph g;
		struct program p;
		struct err err = {0};
		draw(&text, &r, drawn[i].n, drawn[i].far);
		if (!CHECK(graph_parse(&g, text.data, text.len, "drawn", &err) == 0)) {
			printf("\t%s\n", err.text);
			buf_release(&text);
			continue;
		}
		program_open_for(&p, &g, i % 2 ? "cuda:h100" : "cpu");
		heap_like.align = p.values.align;
		for (int k = 0; k < 2; k++) { /* and after it was laid out differently */
			uint64_t fast, slow;
			if (k)
				list_depth_first(program_line(&p, g.entry), p.order[g.entry]);
			program_settle(&p);
			fast = heap_bytes(&p);
			slow = slow_bytes(&p);
			if (!CHECK(fast == slow))
				printf("\t%u calls, %u%% far: %llu bytes, slowly %llu\n", drawn[i].n, drawn[i].far,
					(unsigned long long)fast, (unsigned long long)slow);
		}
		program_release(&p);
		graph_release(&g);
		buf_release(&text);
	}
}

/* Two buffers of 4 bytes that live together need the first one's whole place, and 4 bytes. */
static void buffers_begin_where_the_backend_puts_them(void)
{
	static const struct {
		const char *backend;
		uint64_t bytes;
	} t[] = {{"cpu", 68}, {"cuda", 260}, {"cuda:h100", 260}, {"tpu", 68}, {NULL, 68}};
	static const char text[] = "HloModule m\nENTRY e {\n  x = f32[1]{0} parameter(0)\n"
		"  a = f32[1]{0} exponential(x)\n  b = f32[1]{0} tanh(x)\n"
		"  ROOT r = f32[2]{0} concatenate(a, b), dimensions={0}\n}\n";

	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct graph g;
		struct program p;
		struct err err = {0};
		if (!CHECK(graph_parse(&g, text, strlen(text), "text", &err) == 0))
			return;
		program_open_for(&p, &g, t[i].backend);
		program_settle(&p);
		CHECK_INT(heap_bytes(&p), t[i].bytes);
		program_release(&p);
		graph_release(&g);
	}
}

int main(void)
{
	RUN(buffers_begin_where_the_backend_puts_them);
	RUN(the_heap_is_that_of_all_pairs);
	return test_done();
}
