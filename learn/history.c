/*
 * history.c - writes lines of history (history.h). The file is written anew with the line at its end, and renamed, so a
 * reader sees whole lines.
 */
#include "learn/history.h"

#include "base/io.h"
#include "learn/fit.h"

#define HISTORY_LIMIT ((size_t)64 << 20)

static enum learner learner_of_model(const struct model *m)
{
	if (!m->trees.n_columns)
		return LEARNER_GNN;
	return !m->net.size.layers ? LEARNER_TREES : m->net.size.advised ? LEARNER_CORRECTED : LEARNER_BOTH;
}

static void write_line(const struct kept *k, const struct model *fresh, double at, struct buf *out)
{
	struct json j = {.out = out};
	const struct judged *x = &k->judged;
	const struct model_facts *f = &fresh->facts;
	uint64_t decisions;

	json_object(&j, NULL);
	json_num(&j, "at", at);
	json_str(&j, "device", f->backend);
	json_str(&j, "cost", cost_kind_name(f->kind));
	json_str(&j, "quantity", quantity_name(f->quantity));
	json_str(&j, "decisions_of_kind", f->space);
	json_str(&j, "learner", learner_name(learner_of_model(fresh)));
	json_uint(&j, "programs", facts_trained_on(f, &decisions));
	json_uint(&j, "decisions", decisions);
	json_str(&j, "verdict", judgement_name(x->verdict));
	json_bool(&j, "replaced", k->placed);
	json_bool(&j, "forced", k->forced);
	json_num(&j, "depth_new", x->depth[0]);
	json_num(&j, "depth_old", x->depth[1]);
	json_num(&j, "difference_low", x->low);
	json_num(&j, "difference_high", x->high);
	json_uint(&j, "flips", x->flips);
	json_uint(&j, "surroundings", x->surroundings);
	json_end(&j);
	buf_addch(out, '\n');
}

int history_add(const struct kept *k, const struct model *fresh, double at, struct err *err)
{
	struct buf path = {0}, text = {0};
	int rc = 0;

	buf_addf(&path, "%s.history", k->path.data);
	if (io_exists(path.data))
		rc = io_read_file(path.data, HISTORY_LIMIT, &text, err);
	if (rc == 0) {
		if (text.len && text.data[text.len - 1] != '\n')
			buf_addch(&text, '\n');
		write_line(k, fresh, at, &text);
		rc = io_write_file(path.data, text.data, text.len, err);
	}
	buf_release(&path);
	buf_release(&text);
	return rc;
}
