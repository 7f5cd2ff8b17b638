/*
 * check_cuttings.c - regions that are kept are given back whole, and the oldest make room.
 */
#include <string.h>
#include "base/mem.h"
#include "cost/cuttings.h"
#include "tests/test.h"

/* Regions whose sides are so many bytes of a value. */
static struct regions regions_of(size_t n, size_t bytes, char value)
{
	struct regions r = {0};
	char *text = mem_alloc(bytes + 1);

	memset(text, value, bytes);
	MEM_GROW(&r.v, &r.cap, n);
	for (r.n = 0; r.n < n; r.n++) {
		r.v[r.n] = (struct region){.key = {(uint64_t)value, r.n}, .times = 3, .copies = 2};
		buf_add(&r.v[r.n].a, text, bytes);
		buf_add(&r.v[r.n].b, text, bytes / 2);
	}
	mem_free(text);
	return r;
}

static void put(struct cuttings *c, uint64_t to, size_t n, size_t bytes)
{
	struct regions r = regions_of(n, bytes, (char)to);

	cuttings_put(c, 1, to, &r);
	regions_release(&r);
}

static bool has(struct cuttings *c, uint64_t to, size_t n, size_t bytes)
{
	struct regions out = {0}, want = regions_of(n, bytes, (char)to);
	bool got = cuttings_get(c, 1, to, &out), same = got && out.n == n;

	for (size_t i = 0; i < n && same; i++)
		same = out.v[i].key[1] == i && out.v[i].times == 3 && out.v[i].copies == 2 &&
		       out.v[i].a.len == bytes && memcmp(out.v[i].a.data, want.v[i].a.data, bytes) == 0 &&
		       out.v[i].b.len == bytes / 2;
	CHECK(!got || same);
	regions_release(&out);
	regions_release(&want);
	return got;
}

static void gives_back_what_was_put(void)
{
	struct cuttings c = {0};
	struct regions out = {0};

	put(&c, 2, 3, 1000);
	put(&c, 3, 0, 0); /* a move without regions is an answer, too */
	CHECK(has(&c, 2, 3, 1000));
	CHECK(has(&c, 3, 0, 0));
	CHECK(!cuttings_get(&c, 2, 1, &out) && !cuttings_get(&c, 1, 4, &out) && out.n == 0);
	cuttings_release(&c);
	CHECK(c.n == 0 && c.bytes == 0);
}

static void the_oldest_make_room(void)
{
	struct cuttings c = {0};

	for (uint64_t i = 0; i < 2 * CUTTINGS; i++) {
		put(&c, i, 1, 100);
		CHECK(has(&c, 0, 1, 100)); /* it stays, because it is wanted */
	}
	CHECK(c.n == CUTTINGS);
	CHECK(!has(&c, 1, 1, 100));
	CHECK(has(&c, 2 * CUTTINGS - 1, 1, 100));
	for (uint64_t i = 200; i < 220; i++)
		put(&c, i, 1, (size_t)8 << 20);
	CHECK(c.n < 20 && c.bytes <= (size_t)96 << 20);
	put(&c, 300, 1, (size_t)60 << 20); /* larger than any may be */
	CHECK(!has(&c, 300, 1, (size_t)60 << 20));
	CHECK(has(&c, 219, 1, (size_t)8 << 20));
	cuttings_release(&c);
}

int main(void)
{
	RUN(gives_back_what_was_put);
	RUN(the_oldest_make_room);
	return test_done();
}
