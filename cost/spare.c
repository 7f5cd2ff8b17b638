/* spare.c - a handful of slots, searched one by one. */
#include "cost/spare.h"

#include "base/hash.h"

static uint64_t hash_of(enum compile_how how, const struct buf *module)
{
	uint64_t h = hash64(module->data, module->len, (uint64_t)how + 1);

	return h ? h : 1;
}

void spares_release(struct spares *k)
{
	for (int i = 0; i < SPARES; i++)
		buf_release(&k->program[i].executable);
	*k = (struct spares){0};
}

static struct spare *find(struct spares *k, uint64_t hash)
{
	for (int i = 0; i < SPARES; i++)
		if (k->program[i].hash == hash)
			return &k->program[i];
	return NULL;
}

static struct spare *least_used(struct spares *k)
{
	struct spare *p = &k->program[0];

	for (int i = 1; i < SPARES; i++)
		if (k->program[i].used < p->used)
			p = &k->program[i];
	return p;
}

void spare_put(struct spares *k, enum compile_how how, const struct buf *module, const struct compiled *c)
{
	uint64_t hash = hash_of(how, module);
	struct spare *p = find(k, hash);

	if (c->outcome != OUTCOME_OK || !c->serialised.len || c->seconds < SPARE_DEAR)
		return;
	if (!p)
		p = least_used(k);
	buf_reset(&p->executable);
	buf_add(&p->executable, c->serialised.data, c->serialised.len);
	p->hash = hash;
	p->seconds = c->seconds;
	p->used = ++k->tick;
}

const struct spare *spare_get(struct spares *k, enum compile_how how, const struct buf *module)
{
	struct spare *p = find(k, hash_of(how, module));

	if (p)
		p->used = ++k->tick;
	return p;
}

int spare_compile(struct spares *k, struct device *d, enum compile_how how, const struct buf *module, unsigned want,
	struct compiled *out, struct err *err)
{
	const struct spare *p = k ? spare_get(k, how, module) : NULL;
	int rc;

	if (p) {
		rc = device_compile(d, how, FORMAT_EXECUTABLE, p->executable.data, p->executable.len, want, out, err);
		out->seconds = p->seconds;
		if (rc < 0 || out->outcome == OUTCOME_OK || out->outcome == OUTCOME_OOM)
			return rc;
		compiled_release(out); /* no use to anybody */
		find(k, p->hash)->hash = 0;
	}
	rc = device_compile(d, how, "hlo", module->data, module->len, want | (k ? WANT_SERIALISED : 0u), out, err);
	if (rc == 0 && k)
		spare_put(k, how, module, out);
	return rc;
}
