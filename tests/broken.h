/*
 * broken.h - programs that are broken in one place, and must be refused with a sentence that says so.
 */
#ifndef TESTS_BROKEN_H
#define TESTS_BROKEN_H

#include "graph/graph.h"
#include "hlo/guard.h"
#include "tests/make_module.h"
#include "tests/test.h"

/* Reads any bytes. Returns 0 if they are a program, -1 if they are refused; checks the graph, or the sentence. */
static inline int feed(const void *p, size_t n, struct err *err)
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

/* Checks that the bytes are refused with a sentence that contains `word`. */
static inline void refused(const struct buf *b, const char *word)
{
	struct err err;
	if (!CHECK_INT(feed(b->data, b->len, &err), -1) || !strstr(err.text, word)) {
		CHECK(strstr(err.text, word) != NULL);
		printf("wanted \"%s\", got \"%s\"\n", word, err.text);
	}
}

/* A module with a few parts, to be broken in one place. */
struct broken {
	struct make mk;
	struct make_comp *sum, *body, *c;
	make_instruction *x, *y, *r, *t, *e;
	Hlo__HloModuleProto *m;
};

static inline void make_whole(struct broken *b)
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

struct broken_case {
	void (*change)(struct broken *b);
	const char *says; /* NULL: it is read */
};

static inline void broken_in(const struct broken_case *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct broken b;
		struct buf bytes = {0};
		struct err err;
		make_whole(&b);
		v[i].change(&b);
		make_pack(b.m, &bytes);
		if (v[i].says)
			refused(&bytes, v[i].says);
		else
			CHECK_INT(feed(bytes.data, bytes.len, &err), 0);
		buf_release(&bytes);
		make_release(&b.mk);
	}
}

#endif
