/*
 * pipeline.c - see pipeline.h.
 *
 * Two kinds of line matter of what XLA prints, wherever in a line they begin:
 *
 *	Running HLO pass pipeline on module MODULE: PIPELINE
 *	  HLO pass PASS
 *
 * A nested pipeline is first named as a pass of the outer one, and then as a pipeline; the second line says
 * nothing new and is left out. The end of a pipeline is not printed, and nobody needs it: the compiler enables
 * passes by name, wherever they stand.
 */
#include "device/pipeline.h"

#include <string.h>
#include "base/re.h"

#define MOST_STEPS 100000u /* a log is text from elsewhere */
#define HEAD "vantage pipeline 2\n"

const char *const pipeline_log[] = {"TF_CPP_MIN_LOG_LEVEL=0", "TF_CPP_VMODULE=hlo_pass_pipeline=1", NULL};

static const char pipeline_line[] = "Running HLO pass pipeline on module ", pass_line[] = "  HLO pass ";

static void add(struct pipeline *p, const char *name, size_t n, bool outermost)
{
	if (n == 0 || p->n == MOST_STEPS)
		return;
	MEM_GROW(&p->step, &p->cap, p->n + 1);
	p->step[p->n++] = (struct pipeline_step){arena_printf(&p->mem, "%.*s", (int)n, name), outermost};
}

static bool is_called(const struct pipeline_step *s, const char *name, size_t n)
{
	return strlen(s->name) == n && memcmp(s->name, name, n) == 0;
}

static void read_line(struct pipeline *p, const char *line, size_t n)
{
	const char *at = memmem(line, n, pipeline_line, sizeof pipeline_line - 1), *end = line + n;

	if (at) {
		at = memmem(at, (size_t)(end - at), ": ", 2);
		at = at ? at + 2 : end;
		if (p->n == 0 || p->step[p->n - 1].outermost || !is_called(&p->step[p->n - 1], at, (size_t)(end - at)))
			add(p, at, (size_t)(end - at), true);
	} else if ((at = memmem(line, n, pass_line, sizeof pass_line - 1))) {
		at += sizeof pass_line - 1;
		add(p, at, (size_t)(end - at), false);
	}
}

void pipeline_read(struct pipeline *p, const char *log, size_t n)
{
	*p = (struct pipeline){0};
	for (const char *end = log + n, *next; log < end; log = next) {
		const char *stop = memchr(log, '\n', (size_t)(end - log));
		next = stop ? stop + 1 : end;
		read_line(p, log, (size_t)((stop ? stop : end) - log));
	}
}

void pipeline_release(struct pipeline *p)
{
	mem_free(p->step);
	arena_release(&p->mem);
	*p = (struct pipeline){0};
}

int pipeline_find(struct pipeline *p, const char *pass, struct err *err)
{
	struct re *re = re_new(pass, err);
	size_t found = 0;

	if (!re)
		return -1;
	for (size_t i = 0; i < p->n; i++)
		if (!p->step[i].outermost && re_match(re, p->step[i].name, strlen(p->step[i].name))) {
			p->decides = i;
			found++;
		}
	re_free(re);
	if (found == 1)
		return 0;
	if (p->n == 0)
		return err_set(err, "the compiler does not say which passes it runs");
	if (found == 0)
		return err_set(err, "the compiler runs %zu passes, and none of them is %s", p->n, pass);
	return err_set(err, "the compiler runs %s %zu times, and which of them decides is not known", pass, found);
}

/* Is there a pass of the name in steps [from, to)? */
static bool runs(const struct pipeline *p, size_t from, size_t to, const char *name)
{
	for (size_t i = from; i < to; i++)
		if (!p->step[i].outermost && strcmp(p->step[i].name, name) == 0)
			return true;
	return false;
}

static void list_after(const struct pipeline *p, bool again, struct buf *out)
{
	size_t begin = out->len;

	for (size_t i = p->decides + 1; i < p->n; i++) {
		const char *name = p->step[i].name;
		if (p->step[i].outermost || runs(p, p->decides + 1, i, name) ||
			again != runs(p, 0, p->decides, name))
			continue;
		buf_addf(out, "%s%s", out->len > begin ? "," : "", name);
	}
}

void pipeline_after(const struct pipeline *p, struct buf *out)
{
	list_after(p, false, out);
}

void pipeline_again(const struct pipeline *p, struct buf *out)
{
	list_after(p, true, out);
}

void pipeline_save(const struct pipeline *p, struct buf *out)
{
	buf_adds(out, HEAD);
	for (size_t i = 0; i < p->n; i++)
		buf_addf(out, "%s%s\n", p->step[i].outermost ? "" : "\t", p->step[i].name);
}

int pipeline_load(struct pipeline *p, const char *text, size_t n)
{
	const char *end = text + n;

	*p = (struct pipeline){0};
	if (n < sizeof HEAD - 1 || memcmp(text, HEAD, sizeof HEAD - 1) != 0 || end[-1] != '\n')
		return -1;
	for (text += sizeof HEAD - 1; text < end;) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		bool outermost = *text != '\t';
		text += !outermost;
		add(p, text, (size_t)(stop - text), outermost);
		text = stop + 1;
	}
	return p->n ? 0 : -1;
}
