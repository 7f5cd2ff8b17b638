/*
 * subject.c - opens a space from what --graph names.
 *
 * There are five steps:
 *
 *	fetch	 some kinds make their own programs; user_program.c reads all others
 *	extract	 the device compiles once and gives the module just before the pass that decides, and the one just
 *		 after; our performance model has no passes and gives the program back
 *	flatten	 what is called takes the place of the calls, if the decisions are about the program as it was handed in
 *	count	 the program is run to count the turns of loops and the branches taken, which its text does not tell
 *	open	 the space is opened over the module before; its defaults are decoded from the one after. If no choice
 *		 can say what the compiler did, the kind first rewrites the program so that choices can
 *
 * Without a device the program is taken as it is, so that stores and models can be inspected anywhere.
 */
#include "ready/subject.h"

#include <stdio.h>
#include <string.h>
#include "base/progress.h"
#include "base/talk.h"
#include "device/backend.h"
#include "device/machine.h"
#include "device/room.h"
#include "graph/uncall.h"
#include "space/arranging.h"
#include "ready/evade.h"
#include "ready/foreign.h"
#include "ready/user_program.h"
#include "ready/turns.h"

#define ADOPTS 3 /* ways to take in what no choice can say: a kind has one or two */
#define BLOWN 3.0 /* times as large as the program: most become 1.5 to 2.5 times as large */

/* Reads the program, with what it calls put in the place of the calls where the kind wants that. */
static int read_module(struct subject *s, const struct buf *program, struct err *err)
{
	struct buf flat = {0};
	int rc = graph_parse(&s->graph, program->data, program->len, s->name, err);

	if (rc == 0 && s->opened.flat)
		uncall(&s->graph, &flat);
	if (flat.len) {
		graph_release(&s->graph);
		rc = graph_parse(&s->graph, flat.data, flat.len, s->name, err);
	}
	buf_release(&flat);
	return rc;
}

/*
 * Brings the program into its final form. Compilers number modules as they meet them, but the same program must have
 * the same bytes every time, so the numbers go. With a device, the turns that it counts are noted in the bytes.
 */
static int settle(struct subject *s, const struct buf *program, struct device *d, struct err *err)
{
	bool noted = false;
	int rc = read_module(s, program, err);

	if (rc == 0 && d && s->regions) {
		talk_wait("counting the turns of loops and the branches taken, by a run", 0, now_seconds());
		rc = count_turns(d, &s->graph, &noted, err);
		talk_waited();
	}
	if (rc < 0)
		return -1;
	s->graph.module->id = 0;
	graph_write(&s->graph, &s->bytes);
	if (!noted)
		return 0;
	graph_release(&s->graph);
	return graph_parse(&s->graph, s->bytes.data, s->bytes.len, s->name, err);
}

/* Opens the space again, over another module. */
static int reopen(struct subject *s, const struct buf *module, const char *backend, struct err *err)
{
	char kind[SPACE_KIND_ROOM];

	memcpy(kind, s->space->kind, sizeof kind);
	space_free(s->space);
	s->space = NULL;
	graph_release(&s->graph);
	buf_reset(&s->bytes);
	if (settle(s, module, NULL, err) < 0)
		return -1;
	s->space = space_open(kind, backend, &s->graph, NULL, 0, err);
	return s->space ? 0 : -1;
}

/* Reads the compiler's choices back as defaults, from the program as it left it. */
static int read_back(struct subject *s, const struct graph *after, const char *backend, struct buf *said,
	struct err *err)
{
	const struct space_ops *ops = s->space->ops;
	struct buf module = {0};
	uint32_t added = 0;
	int rc = 0;

	for (int k = 0; k < ADOPTS && rc == 0 && ops->adopt && ops->adopt(s->space, after, &module); k++) {
		rc = reopen(s, &module, backend, err);
		buf_reset(&module);
	}
	if (rc == 0 && ops->restate && (added = ops->restate(s->space, after, &module)))
		rc = reopen(s, &module, backend, err);
	buf_release(&module);
	if (rc < 0)
		return -1;
	s->space->account.added = added;
	return ops->decode(s->space, after, said, err);
}

static int decode(struct subject *s, const struct buf *after, const char *backend, struct err *err)
{
	const struct space_ops *ops = s->space->ops;
	struct buf said = {0};
	struct graph g = {0};
	int rc = 0;

	if (!ops->decode || after->len == 0) {
		buf_addf(&said, "the compiler shows no choices; the default is %s", ops->undecided);
	} else {
		rc = graph_parse(&g, after->data, after->len, "the program as the compiler left it", err);
		if (rc == 0)
			rc = read_back(s, &g, backend, &said, err);
		graph_release(&g);
	}
	if (rc == 0)
		s->decoded = mem_strdup(said.data);
	buf_release(&said);
	return rc;
}

static int open_space(struct subject *s, const char *kind, struct device *d, const struct buf *after,
	struct err *err)
{
	const char *backend = d ? device_info(d)->family : backend_first();

	s->space = space_open(kind, backend, &s->graph, NULL, 0, err);
	return s->space ? decode(s, after, backend, err) : -1;
}

/* Opens a program that its kind makes, without a compiler. Its name says which space it has, whatever --space says. */
static int open_made(struct subject *s, const struct space_kind *maker, const char *program, struct device *d,
	struct err *err)
{
	struct buf none = {0};
	char kind[SPACE_KIND_ROOM];

	if (maker->make(program, &s->original, kind, err) < 0)
		return -1;
	return settle(s, &s->original, NULL, err) < 0 ? -1 : open_space(s, kind, d, &none, err);
}

#define MANY 2000		   /* instructions, from which on a program is not opened in a moment */
/* seconds of a free core that compilers took for one, before anything was compiled here: from, to */
#define COMPILE_LEAST 0.7e-3
#define COMPILE_MOST 4e-3
uint64_t subject_least_memory(const struct graph *g)
{
	const struct comp *entry = &g->comp[g->entry];
	uint64_t bytes = g->node[entry->root].bytes;

	for (uint32_t v = entry->first; v < entry->first + entry->n_nodes; v++)
		bytes += g->node[v].opcode == OP_PARAMETER ? g->node[v].bytes : 0;
	return bytes;
}

/* Says why a program is not run that needs so much memory, and what can be done. */
static int refuse(const struct device *d, uint64_t bytes, const char *why, struct err *err)
{
	bool limited = device_info(d)->core >= 0 && machine_available() >= bytes;

	return err_set(err, "%s%s; where a program cannot be run, search --unverified goes by its parts alone", why,
		limited ? " for a worker, and more in the machine: VANTAGE_WORKER_MEMORY=MIB gives it so many MiB"
			: "");
}

/* What the device's veto (device.h) has to know. */
struct memory_veto {
	const struct subject *subject;
	const struct device *device;
	const struct space_arranging *arranging;
	uint64_t least; /* bytes of inputs and results */
	uint64_t bytes; /* with temporary values */
	bool refused;
};

/* Is there memory for inputs, results, and the temporary values of the program as the compiler arranged it? */
static enum vetoed ask_memory(void *ctx, const void *proto, size_t n, char *why, size_t room)
{
	struct memory_veto *m = ctx;
	struct err incomplete;
	uint64_t temporary;

	if (m->arranging->figure(proto, n, &temporary, &incomplete) < 0)
		return VETO_WAIT;
	m->bytes = m->least + temporary;
	m->refused = !room_for(m->device, m->bytes, m->subject->name, ROOM_OF_ALL, why, room);
	return m->refused ? VETO_STOP : VETO_NONE;
}

/* Seconds that compiling will take, or a bit more. */
static double foreseen(const struct graph *g, const struct device *d)
{
	double pace = opened_pace(d);

	return (pace > 0 ? pace : COMPILE_MOST) * g->n_nodes;
}

/* Gets the module before the decision and the one after it, unless fetching gave them already. `g`: the program. */
static int extract(struct subject *s, const struct graph *g, struct device *d, struct extracted *e, struct err *err)
{
	const struct space_kind *arranger = space_arranger();
	struct memory_veto m = {s, d, arranger ? arranger->arranging : NULL, subject_least_memory(g), 0, false};
	int rc;

	if (e->before.len)
		return 0;
	extracted_release(e);
	if (m.arranging && device_info(d)->can_run)
		device_veto(d, &(struct veto){.ask = ask_memory, .ctx = &m});
	talk_wait("compiling", foreseen(g, d), now_seconds());
	rc = device_extract(d, "hlo", s->original.data, s->original.len, e, err);
	talk_waited();
	device_veto(d, NULL);
	if (rc < 0)
		return -1;
	if (m.refused)
		return refuse(d, m.bytes, e->detail, err);
	if (e->outcome != OUTCOME_OK)
		return refused_by_compiler(s->name, e, err);
	if (e->before.len)
		return 0;
	return err_set(err, "%s was compiled, but the plugin did not show it as it is before the pass that decides",
		s->name);
}

/* Refuses a program that needs too much memory to be run here. */
static int fit(const struct subject *s, uint64_t bytes, const char *of, const struct device *d, struct err *err)
{
	char why[300];

	if (room_for(d, device_info(d)->can_run ? bytes : 0, s->name, of, why, sizeof why))
		return 0;
	return refuse(d, bytes, why, err);
}

/* How long compiling will take, in words: by what other programs took here, or within wide limits. */
static const char *how_long(const struct graph *g, const struct device *d, char *out, size_t n)
{
	double pace = opened_pace(d);
	char from[32], to[32];

	talk_seconds((pace > 0 ? pace : COMPILE_LEAST) * g->n_nodes, from, sizeof from);
	talk_seconds(COMPILE_MOST * g->n_nodes, to, sizeof to);
	if (pace > 0)
		snprintf(out, n, "about %s if it is like others before", from);
	else
		snprintf(out, n, "%s to %s of a free core", from, to);
	return out;
}

/*
 * Says what opening will do if it takes long, unless it is compiled already. Refuses, before compiling, a program that
 * cannot run here.
 */
static int foresee(const struct subject *s, const struct graph *g, const struct device *d, bool compiled,
	struct err *err)
{
	const struct device_passes *passes = device_passes(d);
	uint64_t bytes = subject_least_memory(g);
	char time[100];

	if (fit(s, bytes, ROOM_OF_ENDS, d, err) < 0)
		return -1;
	if (!passes->decides)
		return 0; /* the decisions are about the user's program itself, which is not compiled first */
	if (g->n_nodes >= MANY && !compiled)
		talk("%s: %u instructions, %.1f GiB of inputs and results; compiling it to see what the compiler "
		     "decides, %s", s->name, g->n_nodes, (double)bytes / GIB, how_long(g, d, time, sizeof time));
	return 0;
}

/* Finds the program as it is before the stage; s->opened gets what that taught. */
static int learn(struct subject *s, struct user_program *p, struct device *d, struct err *err)
{
	struct opened *o = &s->opened;
	struct compiled own = {0};
	bool lowered = p->extracted.before.len > 0; /* the program was not HLO, and was compiled to become that */

	if (foresee(s, &p->graph, d, lowered, err) < 0 || extract(s, &p->graph, d, &p->extracted, err) < 0 ||
		fit(s, p->extracted.peak_bytes, ROOM_OF_ALL, d, err) < 0 || settle(s, &p->extracted.before, d, err) < 0)
		return -1;
	buf_add(&o->before, s->bytes.data, s->bytes.len);
	buf_add(&o->after, p->extracted.after.data, p->extracted.after.len);
	o->seconds = own.seconds = p->extracted.seconds;
	opened_compiled(d, o->seconds, p->graph.n_nodes);
	own.serialised = p->extracted.own;
	if (!lowered)
		spare_put(&o->spares, COMPILE_DEFAULT, &s->original, &own);
	spare_lend(&o->spares, COMPILE_DEFAULT, &s->original, d, &p->extracted.resident);
	if (!s->regions || device_info(d)->can_run || !turns_unknown(&s->graph))
		opened_keep(o, &s->original, d); /* the next search may count them */
	return 0;
}

/* Finds what the kind wants of the program: the turns of its loops, if it prices by regions; no calls. */
static void ask_kind(struct subject *s, const char *kind)
{
	struct err ignored;
	const struct space_kind *k = space_kind_find(kind, &ignored);

	for (const struct space_price *p = k ? space_prices(k) : NULL; p && p->how != PRICING_NONE; p++)
		s->regions |= p->how == PRICING_REGION;
	s->opened.flat = k && k->flat;
}

/* Takes out what this compiler computes wrongly. What the compiler showed of the program as it was no longer holds. */
static int evade(struct user_program *p, const struct device *d, struct buf *said, struct err *err)
{
	int n = d ? evade_faults(&p->graph, p->name, device_info(d), said, err) : 0;

	if (n > 0)
		extracted_release(&p->extracted);
	return n;
}

/* Adds what was evaded to what is known of the defaults. */
static void tell_evaded(struct subject *s, const struct buf *said)
{
	struct buf all = {0};

	if (!said->len || !s->decoded)
		return;
	buf_addf(&all, "%s; %s", s->decoded, (char *)said->data);
	mem_free(s->decoded);
	s->decoded = mem_strdup(all.data);
	buf_release(&all);
}

static int open_program(struct subject *s, const char *path, const char *kind, struct device *d,
	struct err *err)
{
	struct user_program p;
	struct buf said = {0};
	int rc;

	if (user_program_fetch(&p, path, d, err) < 0)
		return -1;
	if (evade(&p, d, &said, err) < 0 || (d && device_takes(d, &p.graph, err) < 0)) {
		buf_release(&said);
		user_program_release(&p);
		return -1;
	}
	s->name = p.name;
	ask_kind(s, kind);
	p.name = NULL;
	graph_write(&p.graph, &s->original);
	s->known = d && opened_find(&s->opened, &s->original, d);
	rc = s->known ? settle(s, &s->opened.before, NULL, err) : d ? learn(s, &p, d, err) : settle(s, &s->original,
		NULL, err);
	s->extract_seconds = s->opened.seconds;
	if (rc == 0)
		rc = open_space(s, kind, d, &s->opened.after, err);
	tell_evaded(s, &said);
	buf_release(&said);
	user_program_release(&p);
	return rc;
}

int subject_open(struct subject *s, const char *path, const char *space_kind, struct device *d,
	struct err *err)
{
	const struct space_kind *maker = space_maker(path);
	int rc;

	*s = (struct subject){0};
	if (maker) {
		s->name = mem_strdup(path);
		rc = open_made(s, maker, path, d, err);
	} else {
		rc = open_program(s, path, space_kind, d, err);
	}
	if (rc < 0)
		subject_release(s);
	return rc;
}

bool subject_is_blown(const struct subject *s)
{
	return s->bytes.len && (double)s->opened.after.len > BLOWN * (double)s->bytes.len;
}

void subject_release(struct subject *s)
{
	space_free(s->space);
	graph_release(&s->graph);
	buf_release(&s->original);
	buf_release(&s->bytes);
	opened_release(&s->opened);
	mem_free(s->name);
	mem_free(s->decoded);
	*s = (struct subject){0};
}
