/*
 * pipeline.c - `inspect --device NAME --pipeline`: shows which passes the compiler runs.
 *
 * The passes are those that device/probe.h observed in the plugin. The view lists them in order, marks the one that
 * decides, and names those after it, with which a configuration is compiled.
 */
#include "base/json.h"
#include "device/device.h"
#include "device/pipeline.h"
#include "inspect/inspect.h"

struct lists { /* names of passes, "a,b,c" */
	struct buf after, again; /* those after the decision; of those, the ones that also run before it */
};

static void put_passes(const struct pipeline *p, bool decided, struct buf *out)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct pipeline_step *s = &p->step[i];
		if (s->outermost)
			buf_addf(out, "%s\n", s->name);
		else
			buf_addf(out, "    %s%s\n", s->name, decided && i == p->decides ? "          <- decides" : "");
	}
}

static void put_text(const struct device_info *i, const struct device_passes *q, const struct lists *l, struct buf *out)
{
	buf_addf(out, "device    %s (%s, %s), build %s\n", i->backend, i->platform, i->version, i->build[0] ? i->build
		: "unknown");
	buf_addf(out, "decides   %s\n", q->decides ? q->decides : "nothing that we know");
	if (q->pipeline && l->after.len)
		buf_addf(out, "behind    %s\nnot named  as they also run before it: %s\n", l->after.data, l->again.len
			? l->again.data : "none");
	buf_addf(out, "apply     %s\n", i->compile_options[0] ? i->compile_options : "with nothing");
	if (q->refusal)
		buf_addf(out, "refused   %s\n", q->refusal);
	else if (q->pipeline)
		buf_addf(out, "proved    its own decision applied so gives its own "
			"program, and what was left alone stays so%s\n", q->kept ? " (read and proved earlier)" : "");
	if (q->pipeline) {
		buf_addf(out, "\n");
		put_passes(q->pipeline, l->after.len > 0, out);
	} else if (!q->refusal) {
		buf_addf(out, "its passes are not read: what to apply with is fixed for this compiler\n");
	}
}

static void put_json(const struct device_info *i, const struct device_passes *q, const struct lists *l, struct buf *out)
{
	struct json j = {.out = out, .pretty = true};

	json_object(&j, NULL);
	json_str(&j, "device", i->backend);
	json_str(&j, "version", i->version);
	json_str(&j, "build", i->build[0] ? i->build : NULL);
	json_str(&j, "decides", q->decides);
	json_str(&j, "behind", l->after.len ? l->after.data : NULL);
	json_str(&j, "also_before", l->again.len ? l->again.data : NULL);
	json_str(&j, "apply", i->compile_options);
	json_str(&j, "refused", q->refusal);
	json_bool(&j, "proved", q->pipeline && !q->refusal);
	json_bool(&j, "kept", q->kept);
	json_array(&j, "passes");
	for (size_t k = 0; q->pipeline && k < q->pipeline->n; k++) {
		json_object(&j, NULL);
		json_str(&j, q->pipeline->step[k].outermost ? "pipeline" : "pass", q->pipeline->step[k].name);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_addch(out, '\n');
}

int inspect_pipeline(struct inspection *in)
{
	struct device_options o = {.backend = in->set->device, .wait = true, .untimed = true};
	struct device *d = inspect_open(&o, in->err);
	struct lists l = {{0}, {0}};

	if (!d)
		return -1;
	const struct device_passes *q = device_passes(d);
	if (q->pipeline && !q->refusal) {
		pipeline_after(q->pipeline, &l.after);
		pipeline_again(q->pipeline, &l.again);
	}
	(in->set->json ? put_json : put_text)(device_info(d), q, &l, in->out);
	buf_release(&l.after);
	buf_release(&l.again);
	device_close(d);
	return 0;
}
