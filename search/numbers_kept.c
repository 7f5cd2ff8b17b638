/* numbers_kept.c - see the header. There are some dozens of comparisons at most: they are looked up one by one. */
#include "search/numbers_kept.h"

#include <string.h>
#include "base/mem.h"

static void copy(struct comparison *to, const struct comparison *from)
{
	*to = *from;
	to->output = MEM_NEW(from->n_outputs + 1, struct difference);
	if (from->n_outputs)
		memcpy(to->output, from->output, from->n_outputs * sizeof *from->output);
}

bool numbers_recall(const struct numbers_kept *k, uint8_t a, uint8_t b, enum inputs inputs, uint8_t nudged,
	struct comparison *out)
{
	for (size_t i = 0; i < k->n_known; i++) {
		const struct numbers_known *p = &k->known[i];
		if (p->a == a && p->b == b && p->inputs == inputs && p->nudged == nudged) {
			copy(out, &p->said);
			return true;
		}
	}
	return false;
}

void numbers_note(struct numbers_kept *k, uint8_t a, uint8_t b, enum inputs inputs, uint8_t nudged,
	const struct comparison *said)
{
	struct numbers_known *p;

	MEM_GROW(&k->known, &k->room, k->n_known + 1);
	p = &k->known[k->n_known++];
	*p = (struct numbers_known){.a = a, .b = b, .inputs = (uint8_t)inputs, .nudged = nudged};
	copy(&p->said, said);
}

int numbers_drop(struct numbers_side *side, struct device *d, struct err *err)
{
	int rc = device_drop(d, &side->program, err);

	compiled_release(&side->program);
	return rc;
}

int numbers_forget(struct numbers_kept *k, struct device *d, struct err *err)
{
	int rc = 0;

	for (int i = 0; i < NUMBERS_KEPT; i++)
		if (numbers_drop(&k->side[i], d, rc == 0 ? err : NULL) < 0)
			rc = -1;
	for (size_t i = 0; i < k->n_known; i++)
		comparison_release(&k->known[i].said);
	mem_free(k->known);
	*k = (struct numbers_kept){0};
	return rc;
}
