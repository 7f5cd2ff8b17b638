/*
 * host_veto.c - gives a compilation up early if the program will not fit into memory, or if what was wanted is there.
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
	struct host_veto *s = ctx;
	const struct veto *of = &s->host->base.veto;
	enum vetoed answer = VETO_WAIT;
	struct buf proto = {0};
	struct err ignored;

	if (s->done)
		return false;
	if ((of->initial ? dump_left(s->dump, DUMP_INITIAL, &proto, &ignored)
			 : dump_read_arranged(s->dump, s->stage, &proto, &ignored)) == 0 && proto.len)
		answer = of->ask(of->ctx, proto.data, proto.len, s->host->unwanted, sizeof s->host->unwanted);
	buf_release(&proto);
	s->done = answer != VETO_WAIT;
	return answer == VETO_STOP;
}

void host_veto_begin(struct host_veto *s, struct host *h, struct dump *dump)
{
	*s = (struct host_veto){h, dump, stage_arranging(h->backend->name), false};
	if (!h->base.veto.ask || (!s->stage && !h->base.veto.initial))
		return;
	h->child.unwanted = too_much;
	h->child.ctx = s;
}

void host_veto_end(struct host_veto *s)
{
	s->host->child.unwanted = NULL;
	s->host->child.ctx = NULL;
}
