/*
 * host_stage.c - at which stage of its compiler a device decides, and with which options it applies.
 *
 * A row of schemas/stage.def either lists the passes to apply with, or leaves a place for them (PASSES). Then they are
 * read from the plugin itself (probe.h), so that another version of a compiler brings its own list along.
 */
#include <stdio.h>
#include <string.h>
#include "device/codegen.h"
#include "device/dump.h"
#include "device/host.h"
#include "device/probe.h"

/* The stage's options into h->applied, with the passes that the plugin runs. */
static int read_passes(struct host *h, struct err *err)
{
	struct buf apply = {0};
	struct device_passes *passes = &h->base.passes;
	int rc = probe_pipeline(h, &h->pipeline, &apply, &passes->kept, err);

	if (h->pipeline.n)
		passes->pipeline = &h->pipeline;
	if (rc == 0)
		host_join(&h->applied, apply.data, h->options.data);
	buf_release(&apply);
	return rc;
}

void host_stage_open(struct host *h, const char *kind)
{
	struct device_info *i = &h->base.info;
	struct err err = {{0}};

	h->stage = stage_find(kind, h->backend->name);
	if (h->stage && stage_wants_passes(h->stage)) {
		if (read_passes(h, &err) < 0)
			h->refusal = mem_strdup(err.text);
	} else {
		host_join(&h->applied, h->stage ? h->stage->apply : "", h->options.data);
	}
	h->base.passes.decides = h->stage && *h->stage->pass ? h->stage->pass : NULL;
	h->base.passes.refusal = h->refusal;
	host_join(&h->region, h->applied.len ? h->applied.data : "", *h->target ? "" : h->backend->region);
	i->codegen = *h->target || !i->can_run ? 0 : codegen_worth(h->backend->name);
	i->plain = h->stage && !*h->stage->apply;
	snprintf(i->compile_options, sizeof i->compile_options, "%s", h->applied.len ? h->applied.data : "");
}

void host_stage_close(struct host *h)
{
	pipeline_release(&h->pipeline);
	buf_release(&h->applied);
	buf_release(&h->region);
	buf_release(&h->codegen);
	mem_free(h->refusal);
}

/* May something be decided here? */
static int check_stage(const struct host *h, struct err *err)
{
	if (h->refusal)
		return err_set(err, "nothing can be decided with the plugin %s: %s", h->plugin.data, h->refusal);
	return 0;
}

int host_apply_options(struct host *h, enum compile_how how, const char **options, struct err *err)
{
	const struct buf *each[] = {[COMPILE_DEFAULT] = &h->options, [COMPILE_APPLIED] = &h->applied,
		[COMPILE_REGION] = &h->region, [COMPILE_CODEGEN] = &h->applied,
		[COMPILE_CODEGEN_OWN] = &h->options};
	const struct buf *b = each[how];

	if (how == COMPILE_CODEGEN || how == COMPILE_CODEGEN_OWN) {
		host_join(&h->codegen, b->len ? b->data : "", NULL);
		buf_adds(&h->codegen, h->codegen.len && h->base.codegen ? "," : "");
		codegen_options(h->base.codegen, ",", &h->codegen);
		b = &h->codegen;
	}
	*options = b->len ? b->data : "";
	return how == COMPILE_DEFAULT || how == COMPILE_CODEGEN_OWN ? 0 : check_stage(h, err);
}

int host_extract(struct device *d, const char *format, const void *p, size_t n, struct extracted *out, struct err *err)
{
	struct host *h = host_of(d);
	struct compiled compiled = {0};

	if (!h->stage)
		return err_set(err, "decisions of this kind cannot be made with the compiler of device %s: no row of "
			"schemas/stage.def says how", h->backend->name);
	if (check_stage(h, err) < 0)
		return -1;
	if (!*h->stage->pass && strcmp(format, "hlo") == 0) { /* it is what was handed in */
		buf_add(&out->before, p, n);
		return 0;
	}
	if (h->stage->arranged && strcmp(format, "hlo") == 0)
		return host_extract_arranged(d, p, n, out, err);
	bool stays = h->base.info.can_run && strcmp(format, "hlo") == 0;
	int rc = host_extract_at(h, format, p, n, stays ? WANT_RESIDENT : 0, &compiled, out, err);
	compiled.generation = h->base.generation;
	if (rc == 0 && out->outcome == OUTCOME_OK && compiled.handle) {
		host_note(h, &compiled, &(struct known){.compile = compiled.seconds,
			.optimal = compiled.optimal_seconds});
		out->resident = compiled;
		return 0;
	}
	if (compiled.handle && d->ops->drop(d, compiled.handle, rc == 0 ? err : NULL) < 0)
		rc = -1;
	compiled_release(&compiled);
	return rc;
}
