/*
 * memory.c - `inspect --memory FILE`: shows where a program needs most temporary memory, and what is in it there.
 *
 * With --device the compiler says in which order it runs the program, and how much memory that needs. Without it, the
 * order is the schedule in the file, or the order of the listing if there is no schedule. The kind of decision that
 * arranges programs (space/arranging.h) has a model of the compiler's memory, which tells what is alive at the peak.
 */
#include <stdio.h>
#include "base/json.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "device/backend.h"
#include "inspect/inspect.h"
#include "lab/lab.h"
#include "ready/foreign.h"
#include "ready/user_program.h"
#include "space/arranging.h"

#define SHOWN 20 /* values alive at the peak that the text lists */
#define WIDE 60	 /* characters in the longest bar */
#define BARS 40	 /* bars at most, each for a piece of the program */

/* Steps in a piece of the program that is shown as one, and the most bytes alive in the piece from `p` on. */
static uint32_t piece(const struct space_course *c)
{
	return (c->n + BARS - 1) / BARS;
}

static uint64_t most_in(const struct space_course *c, uint32_t p, uint32_t n)
{
	uint64_t most = 0;

	for (uint32_t i = p; i < p + n && i < c->n; i++)
		most = c->alive[i] > most ? c->alive[i] : most;
	return most;
}

static void draw(const struct space_course *c, struct buf *out)
{
	uint64_t peak = most_in(c, 0, c->n);
	char text[QUANTITY_TEXT];

	for (uint32_t p = 0; p < c->n; p += piece(c)) {
		uint64_t most = most_in(c, p, piece(c));
		buf_addf(out, "  %8u  %10s  ", p + 1, quantity_text(QUANTITY_BYTES, (double)most, text));
		for (uint64_t k = 0; peak && k < (most * WIDE + peak - 1) / peak; k++)
			buf_addch(out, '#');
		buf_addch(out, '\n');
	}
}

static void show_json(const struct holders *h, const struct space_course *c, uint64_t said, struct buf *out)
{
	struct json j = {.out = out, .pretty = true};

	json_object(&j, NULL);
	json_uint(&j, "model_bytes", h->bytes);
	json_uint(&j, "model_heap_bytes", c->bytes);
	if (said)
		json_uint(&j, "compiler_bytes", said);
	json_uint(&j, "step", h->at);
	json_uint(&j, "steps", h->steps);
	json_str(&j, "instruction", h->step);
	json_array(&j, "alive");
	for (uint32_t i = 0; i < h->n; i++) {
		json_object(&j, NULL);
		json_str(&j, "name", h->v[i].name);
		json_str(&j, "shape", h->v[i].shape);
		json_uint(&j, "bytes", h->v[i].bytes);
		json_str(&j, "op", h->v[i].op);
		json_str(&j, "file", h->v[i].file);
		json_int(&j, "line", h->v[i].line);
		json_bool(&j, "inside", h->v[i].inside);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "course");
	for (uint32_t p = 0; p < c->n; p += piece(c)) {
		json_object(&j, NULL);
		json_uint(&j, "step", p);
		json_uint(&j, "bytes", most_in(c, p, piece(c)));
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_addch(out, '\n');
}

/* `said`: bytes according to the compiler; 0 if it was not asked. */
static int show(const struct inspection *in, const struct space_kind *kind, const struct graph *g, uint64_t said)
{
	struct space *s = space_open(kind->name, backend_first(), g, NULL, 0, in->err);
	uint8_t *config;
	struct space_course course;
	struct holders h;
	char text[QUANTITY_TEXT];

	if (!s)
		return -1;
	config = MEM_NEW(s->n_sites + 1, uint8_t);
	kind->arranging->untold(s);
	kind->arranging->course(s, config, &course);
	kind->arranging->holders(s, config, &h);
	if (in->set->json) {
		show_json(&h, &course, said, in->out);
	} else {
		if (said)
			buf_addf(in->out, "temporary memory: %s, by the compiler\n", quantity_text(QUANTITY_BYTES,
				(double)said, text));
		else
			buf_addf(in->out, "temporary memory: %s, by our model of the compiler's heap\n",
				quantity_text(QUANTITY_BYTES, (double)course.bytes, text));
		buf_adds(in->out, "most is alive, by our model of its memory: ");
		holders_text(&h, SHOWN, in->out);
		buf_adds(in->out, "over the program, from its first instruction on:\n");
		draw(&course, in->out);
	}
	holders_release(&h);
	mem_free(course.alive);
	mem_free(config);
	space_free(s);
	return 0;
}

/* Shows the program as the compiler arranges it. */
static int show_arranged(struct inspection *in, const struct space_kind *kind, const struct graph *program)
{
	struct device_options o = {.backend = in->set->device, .kind = kind->name, .wait = true, .untimed = true};
	struct device *d = lab_place(&o, "1", in->set->replicas, in->set->partitions, in->err) < 0 ? NULL
		: inspect_open(&o, in->err);
	struct extracted e = {0};
	struct graph g = {0};
	struct buf module = {0};
	uint64_t said = 0;
	int rc = -1;

	graph_write(program, &module);
	if (d)
		rc = device_extract(d, "hlo", module.data, module.len, &e, in->err);
	if (rc == 0 && e.outcome != OUTCOME_OK)
		rc = refused_by_compiler(in->path, &e, in->err);
	if (rc == 0)
		rc = kind->arranging->figure(e.after.data, e.after.len, &said, in->err);
	if (rc == 0)
		rc = graph_parse(&g, e.before.data, e.before.len, in->path, in->err);
	if (rc == 0)
		rc = show(in, kind, &g, said);
	graph_release(&g);
	extracted_release(&e);
	buf_release(&module);
	device_close(d);
	return rc;
}

int inspect_memory(struct inspection *in)
{
	const struct space_kind *kind = space_arranger();
	struct user_program p;
	int rc;

	if (!kind)
		return err_set(in->err, "no kind of decision that was built in knows how a program lies in memory");
	if (user_program_fetch(&p, in->path, NULL, in->err) < 0)
		return -1;
	if (in->set->device)
		rc = show_arranged(in, kind, &p.graph);
	else
		rc = show(in, kind, &p.graph, 0);
	user_program_release(&p);
	return rc;
}
