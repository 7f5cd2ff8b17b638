/*
 * result.c - empties what a device answers with (device.h).
 */
#include "base/mem.h"
#include "device/device.h"

void compiled_release(struct compiled *c)
{
	buf_release(&c->optimised);
	buf_release(&c->serialised);
}

void arranged_release(struct arranged *a)
{
	buf_release(&a->proto);
}

void extracted_release(struct extracted *e)
{
	buf_release(&e->initial);
	buf_release(&e->before);
	buf_release(&e->after);
	buf_release(&e->own);
	compiled_release(&e->resident);
}

void timing_release(struct timing *t)
{
	buf_release(&t->raw);
	buf_release(&t->executable[0]);
	buf_release(&t->executable[1]);
}

void comparison_release(struct comparison *c)
{
	mem_free(c->output);
	*c = (struct comparison){0};
}
