/*
 * form.c - see form.h.
 */
#include "search/form.h"

#include <string.h>
#include "base/mem.h"
#include "base/progress.h"
#include "base/talk.h"

/*
 * Welding that promises such a share of a run gets the time for so many sizes. (The gradients of quantum circuits are
 * hundreds of small kernels. One opens in 14 to 17 s. A minute's search had 15 s for all forms, tried none, and left
 * 46% there.) So do pieces of memory (recode.h) that promise as much. They are tried before welding then, and after it
 * otherwise.
 */
#define PROMISING 0.05
#define FORMS 3

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

static int try_forms(struct form *f, struct hunt *h, bool codegen, bool weld, struct err *err)
{
	struct race x;
	int rc;

	talk_wait("trying other forms of the answer", 0, now_seconds());
	rc = race_begin(&x, h, weld && welding_promise(h) >= PROMISING ? FORMS : 0, err);
	if (rc == 0 && codegen && recode_promise(&x) >= PROMISING) {
		race_allow(&x, FORMS);
		rc = race_afresh(&x, err);
		rc = rc == 0 ? recode_answer(&f->recode, &x, codegen_for_memory(), err) : rc;
	}
	if (rc == 0 && weld)
		rc = welding_answer(&f->weldings, &x, err);
	if (rc == 0 && codegen)
		rc = recode_answer(&f->recode, &x, UINT32_MAX, err);
	h->lab->subject.opened.spares.ways = f->recode.taken;
	rc = race_end(&x, rc == 0 ? err : NULL) < 0 ? -1 : rc;
	talk_waited();
	return rc;
}

static int take_again(struct form *f, struct hunt *h, bool codegen, bool weld, const char *from, struct err *err)
{
	if (codegen)
		recode_again(&f->recode, from, h->lab->device);
	h->lab->subject.opened.spares.ways = f->recode.taken;
	return weld ? welding_again(&f->weldings, from, h->lab, h->config, err) : 0;
}

int form_choose(struct form *f, struct hunt *h, const struct form_options *o, struct err *err)
{
	struct lab *lab = h->lab;
	bool codegen = o->codegen && lab->device && device_info(lab->device)->codegen;
	bool weld = o->weld && welding_possible(lab);
	int rc;

	*f = (struct form){0};
	if ((!codegen && !weld) || !race_possible(h) || (!o->from && h->o.budget == 0))
		return 0;
	lab->how = f->apart = is_own(h) ? COMPILE_CODEGEN_OWN : COMPILE_CODEGEN;
	rc = o->from ? take_again(f, h, codegen, weld, o->from, err) : try_forms(f, h, codegen, weld, err);
	if (!f->recode.taken && !lab->weld.tag)
		lab->how = COMPILE_APPLIED;
	return rc;
}

bool form_undo(struct form *f, struct lab *lab)
{
	bool welded = lab->weld.tag;

	if (!welded && !f->recode.taken)
		return false;
	if (welded)
		welding_undo(&f->weldings, lab);
	else
		f->recode.taken = 0;
	lab->subject.opened.spares.ways = f->recode.taken;
	lab->how = f->recode.taken ? f->apart : COMPILE_APPLIED;
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
