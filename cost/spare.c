/* spare.c - a handful of slots, searched one by one. */
#include "cost/spare.h"

#include "base/hash.h"

static uint64_t hash_of(const struct spares *k, enum compile_how how, const struct buf *module)
{
	bool one = k->plain && how < COMPILE_CODEGEN;
	uint64_t ways = how < COMPILE_CODEGEN ? 0 : k->ways;
	uint64_t h = hash64(module->data, module->len, ways << 8 | ((uint64_t)(one ? COMPILE_DEFAULT : how) + 1));

	return h ? h : 1;
}

static int slots(const struct spares *k)
{
	return k->sides ? SPARE_SIDES : SPARES;
}

static void forget(struct spare *p)
{
	compiled_release(&p->live);
	p->live = (struct compiled){0};
	p->on = NULL;
}

void spares_forget(struct spares *k)
{
	for (int i = 0; i < slots(k); i++)
		forget(&k->program[i]);
}

void spares_release(struct spares *k)
{
	spares_forget(k);
	for (int i = 0; i < slots(k); i++)
		buf_release(&k->program[i].executable);
	*k = (struct spares){0};
}

static struct spare *find(struct spares *k, uint64_t hash)
{
	for (int i = 0; i < slots(k); i++)
		if (k->program[i].hash == hash)
			return &k->program[i];
	return NULL;
}

static struct spare *least_used(struct spares *k)
{
	struct spare *p = &k->program[0];

	for (int i = 1; i < slots(k); i++)
		if (k->program[i].used < p->used)
			p = &k->program[i];
	return p;
}

static struct spare *empty_slot(struct spares *k)
{
	struct spare *p = least_used(k);

	forget(p);
	buf_release(&p->executable);
	return p;
}

/* Forgets the sides that were not used for longest, until so many more bytes fit. */
static void make_room(struct spares *k, size_t bytes)
{
	for (int n = 0; n < slots(k); n++) {
		struct spare *last = NULL;
		size_t sum = bytes;
		for (int i = 0; i < slots(k); i++) {
			struct spare *p = &k->program[i];
			sum += p->executable.len;
			last = p->executable.len && (!last || p->used < last->used) ? p : last;
		}
		if (sum <= SPARE_SIDES_BYTES || !last)
			return;
		buf_release(&last->executable);
		last->hash = last->used = 0;
	}
}

void spare_put(struct spares *k, enum compile_how how, const struct buf *module, const struct compiled *c)
{
	uint64_t hash = hash_of(k, how, module);
	struct spare *p = find(k, hash);

	if (c->outcome != OUTCOME_OK || !c->serialised.len || c->seconds < (k->sides ? SPARE_DEAR_SIDE : SPARE_DEAR))
		return;
	if (k->sides && !p)
		make_room(k, c->serialised.len);
	p = p ? p : empty_slot(k);
	buf_reset(&p->executable);
	buf_add(&p->executable, c->serialised.data, c->serialised.len);
	p->hash = hash;
	p->seconds = c->seconds;
	p->used = ++k->tick;
}

const struct spare *spare_get(struct spares *k, enum compile_how how, const struct buf *module)
{
	struct spare *p = find(k, hash_of(k, how, module));

	if (!p || !p->executable.len)
		return NULL;
	p->used = ++k->tick;
	return p;
}

void spare_share_as(struct spares *k, enum compile_how how, const struct buf *module, struct spares *to,
	enum compile_how as_how, const struct buf *as)
{
	const struct spare *p = spare_get(k, how, module);
	struct compiled c = {.outcome = OUTCOME_OK};

	if (!p)
		return;
	c.seconds = p->seconds;
	c.serialised = p->executable; /* borrowed */
	spare_put(to, as_how, as, &c);
}

void spare_share(struct spares *k, enum compile_how how, const struct buf *module, struct spares *to)
{
	spare_share_as(k, how, module, to, how, module);
}

void spare_rename(struct spares *k, enum compile_how how, const struct buf *module, enum compile_how as_how,
	const struct buf *as)
{
	struct spare *p = find(k, hash_of(k, how, module));
	uint64_t hash = hash_of(k, as_how, as);

	if (p && !find(k, hash))
		p->hash = hash;
}

void spare_lend(struct spares *k, enum compile_how how, const struct buf *module, struct device *d, struct compiled *c)
{
	uint64_t hash = hash_of(k, how, module);
	struct spare *p = c->handle ? find(k, hash) : NULL;
	struct err ignored;

	if (!p && c->handle && c->seconds >= SPARE_DEAR) { /* its executable cannot be kept */
		p = empty_slot(k);
		p->hash = hash;
		p->seconds = c->seconds;
		p->used = ++k->tick;
	}
	if (p && !p->live.handle) {
		p->live = *c;
		p->on = d;
	} else {
		device_drop(d, c, &ignored);
		compiled_release(c);
	}
	*c = (struct compiled){0};
}

/* Takes what is on the device, if it is still there. */
static bool take_live(struct spare *p, const struct device *d, unsigned want, struct compiled *out)
{
	if (!p->live.handle || p->on != d || p->live.generation != device_generation(d) || want & WANT_OPTIMISED)
		return false;
	*out = p->live;
	out->seconds = p->seconds;
	p->live = (struct compiled){0};
	if (!p->executable.len)
		p->hash = 0;
	return true;
}

int spare_compile(struct spares *k, struct device *d, enum compile_how how, const struct buf *module, unsigned want,
	struct compiled *out, struct err *err)
{
	struct spare *p = k ? find(k, hash_of(k, how, module)) : NULL;
	int rc;

	if (p)
		p->used = ++k->tick;
	if (p && take_live(p, d, want, out))
		return 0;
	if (p && p->executable.len) {
		rc = device_compile(d, how, FORMAT_EXECUTABLE, p->executable.data, p->executable.len, want, out, err);
		out->seconds = p->seconds;
		if (rc < 0 || out->outcome == OUTCOME_OK || out->outcome == OUTCOME_OOM)
			return rc;
		compiled_release(out); /* no use to anybody */
		p->hash = 0;
	}
	rc = device_compile(d, how, "hlo", module->data, module->len, want | (k ? WANT_SERIALISED : 0u), out, err);
	if (rc == 0 && k)
		spare_put(k, how, module, out);
	return rc;
}
