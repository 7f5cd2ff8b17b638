/*
 * advisor.c - see advisor.h. Searches of earlier versions called their model by its path.
 */
#include "search/advisor.h"

#include <string.h>

static struct model *choose(struct advisor *a, const struct advisor_options *o, struct err *err)
{
	struct model *m = NULL;

	if (o->named) {
		buf_adds(&a->path, o->named);
		m = model_read(o->named, err);
		if (m && model_fits(m, o->at.backend, o->at.space, o->at.kind, o->at.quantity, err) < 0) {
			model_free(m);
			m = NULL;
		}
		return m;
	}
	if (o->begun)
		m = shelf_find_sum(&o->at, o->begun, &a->path);
	return m ? m : shelf_find(&o->at, &a->path, &a->notes);
}

int advisor_open(struct advisor *a, const struct advisor_options *o, struct space *space, struct err *err)
{
	char hex[65];

	if (o->named && strcmp(o->named, "none") == 0)
		return 0;
	a->model = choose(a, o, err);
	if (!a->model)
		return o->named ? -1 : 0;
	if (!(a->infer = infer_new(a->model, space, err)))
		return -1;
	a->rater = rater_new(a->model, space);
	a->seen = facts_seen(&a->model->facts, &space->graph->content);
	digest_hex(&a->model->sum, hex);
	buf_adds(&a->name, o->begun && strcmp(o->begun, a->path.data) == 0 ? o->begun : hex);
	return 0;
}

void advisor_release(struct advisor *a)
{
	infer_free(a->infer);
	rater_free(a->rater);
	model_free(a->model);
	buf_release(&a->path);
	buf_release(&a->name);
	buf_release(&a->notes);
	*a = (struct advisor){0};
}

struct model_scorer advisor_scoring(const struct advisor *a, struct space *s, enum infer_by by, bool learns)
{
	return (struct model_scorer){.f = a->infer, .by = by, .learns = learns && a->infer, .r = a->rater,
		.believes = s->ops->believe ? s : NULL};
}

void advisor_text(const struct advisor *a, struct buf *out)
{
	buf_addf(out, "%s: ", a->path.data);
	facts_text(&a->model->facts, out);
	buf_addf(out, "; %s", facts_seen_text(a->seen));
}

void advisor_json(const struct advisor *a, struct json *j)
{
	char hex[65];

	json_str(j, "model", a->model ? a->path.data : NULL);
	if (!a->model)
		return;
	digest_hex(&a->model->sum, hex);
	json_str(j, "model_hash", hex);
	facts_json(&a->model->facts, j, "model_trained_on");
	json_str(j, "model_trained_on_this_program", facts_seen_name(a->seen));
}
