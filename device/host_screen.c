/*
 * host_screen.c - gives a compilation up early if the program will not fit into memory.
 *
 * The compiler dumps how it arranges a program in memory, and then generates code for minutes. The dump grows while we
 * wait, so what is there is tried again until it is whole.
 */
#include <stdio.h>
#include "base/mem.h"
#include "device/dump.h"
#include "device/host.h"

static bool too_much(void *ctx)
{
	struct host_screen *s = ctx;
	const struct screen *of = &s->host->base.screen;
	enum screened answer = SCREEN_WAIT;
	struct buf proto = {0};
	struct err ignored;

	if (s->done)
		return false;
	if (dump_read_arranged(s->dump, s->stage, &proto, &ignored) == 0 && proto.len)
		answer = of->ask(of->ctx, proto.data, proto.len, s->host->unwanted, sizeof s->host->unwanted);
	buf_release(&proto);
	s->done = answer != SCREEN_WAIT;
	return answer == SCREEN_STOP;
}

void host_screen_begin(struct host_screen *s, struct host *h, struct dump *dump)
{
	*s = (struct host_screen){h, dump, stage_arranging(h->backend->name), false};
	if (!h->base.screen.ask || !s->stage)
		return;
	h->child.unwanted = too_much;
	h->child.ctx = s;
}

void host_screen_end(struct host_screen *s)
{
	s->host->child.unwanted = NULL;
	s->host->child.ctx = NULL;
}
