/*
 * form.c - see form.h.
 */
#include "search/form.h"

#include <string.h>
#include "base/mem.h"

/* Is the answer the compiler's own program? Then the user's program is compiled with all of its decisions. */
static bool is_own(const struct hunt *h)
{
	uint8_t *dflt = MEM_NEW(h->s->n_sites + 1, uint8_t);
	bool same;

	space_default(h->s, dflt);
	same = !h->lab->derived && memcmp(dflt, h->config, h->s->n_sites) == 0;
	mem_free(dflt);
	return same;
}

static int try_forms(struct form *f, struct hunt *h, const struct form_options *o, struct err *err)
{
	struct race x;
	int rc = race_begin(&x, h, err);

	if (rc == 0 && o->weld)
		rc = welding_answer(&f->weldings, &x, err);
	if (rc == 0 && o->codegen)
		rc = recode_answer(&f->recode, &x, err);
	return race_end(&x, rc == 0 ? err : NULL) < 0 ? -1 : rc;
}

int form_choose(struct form *f, struct hunt *h, const struct form_options *o, struct err *err)
{
	struct lab *lab = h->lab;
	int rc = 0;

	*f = (struct form){0};
	if (!race_possible(h) || (!o->from && h->o.budget == 0))
		return 0;
	lab->how = is_own(h) ? COMPILE_CODEGEN_OWN : COMPILE_CODEGEN;
	if (!o->from)
		rc = try_forms(f, h, o, err);
	if (o->from && o->codegen)
		recode_again(&f->recode, o->from, lab->device);
	if (o->from && o->weld)
		welding_again(&f->weldings, o->from, lab);
	if (!f->recode.taken && !lab->weld.tag)
		lab->how = COMPILE_APPLIED;
	return rc;
}

bool form_undo(struct form *f, struct lab *lab)
{
	if (f->recode.taken)
		f->recode.taken = 0;
	else if (lab->weld.tag)
		welding_undo(&f->weldings, lab);
	else
		return false;
	if (!lab->weld.tag)
		lab->how = COMPILE_APPLIED;
	return true;
}

void form_json(const struct form *f, struct json *j)
{
	recode_json(&f->recode, j);
	welding_json(&f->weldings, j);
}

void form_text(const struct form *f, struct buf *out)
{
	welding_text(&f->weldings, out);
	if (f->recode.taken && f->weldings.bytes > 0)
		buf_addch(out, ' ');
	recode_text(&f->recode, out);
}
