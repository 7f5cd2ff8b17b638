/*
 * facts.c - see facts.h. A program may be in a dataset several times, once for each database, kind of space and
 * environment; its content tells that it is one program. If any part of it was trained on, it was not held out.
 */
#include "learn/facts.h"

#include <string.h>
#include <time.h>
#include "learn/apart.h"

static void add_graphs(struct json *j, const struct training *t)
{
	json_array(j, "graphs");
	for (size_t i = 0; i < t->ds->data.n_graphs; i++) {
		const struct data_graph *g = &t->ds->data.graph[i];
		json_object(j, NULL);
		json_str(j, "name", g->name);
		json_uint(j, "samples", g->n_samples);
		json_num(j, "sigma_seconds", g->sigma);
		json_bool(j, "held_out", t->held[i]);
		json_end(j);
	}
	json_end(j);
}

static char *provenance(const struct training *t)
{
	const struct train_options *o = &t->options->net;
	struct buf b = {0};
	struct json j = {.out = &b};

	json_object(&j, NULL);
	json_str(&j, "program", opt_version());
	json_array(&j, "databases");
	for (size_t i = 0; i < t->databases->n; i++) {
		const char *slash = strrchr(t->databases->item[i], '/'); /* folders are nobody's business */
		json_str(&j, NULL, slash ? slash + 1 : t->databases->item[i]);
	}
	json_end(&j);
	add_graphs(&j, t);
	json_str(&j, "learner", learner_name(t->options->learner));
	json_bool(&j, "absolute", t->options->absolute);
	if (t->options->learner != LEARNER_GNN) {
		json_uint(&j, "trees", t->options->trees.rounds);
		json_uint(&j, "leaves", t->options->trees.leaves);
	}
	json_num(&j, "epochs", o->epochs);
	json_num(&j, "rate", o->adam.rate);
	json_num(&j, "top_draws", o->top_draws);
	json_num(&j, "kernel_us", t->kernel_us);
	json_str(&j, "compiler", t->ds->version);
	json_num(&j, "gain_draws", o->gain_draws);
	json_bool(&j, "linear", o->linear);
	json_bool(&j, "stopped_early", t->result->stopped);
	json_end(&j);
	/* The runs are an array already written. */
	b.len--;
	buf_addf(&b, ",\"runs\":[%s]}", t->ds->runs.len ? t->ds->runs.data : "");
	return buf_detach(&b, NULL);
}

static struct model_program *program_of(struct model_facts *f, const struct digest *content)
{
	for (uint32_t i = 0; i < f->n_programs; i++)
		if (memcmp(&f->program[i].content, content, sizeof *content) == 0)
			return &f->program[i];
	return NULL;
}

static void add_programs(const struct training *t, struct model_facts *f)
{
	const struct data *d = &t->ds->data;

	f->program = MEM_NEW(d->n_graphs, struct model_program);
	for (size_t i = 0; i < d->n_graphs; i++) {
		const struct data_graph *g = &d->graph[i];
		const struct digest *content = &g->scene.space->graph->content;
		struct model_program *p = program_of(f, content);
		if (g->n_samples == 0)
			continue;
		if (!p) {
			p = &f->program[f->n_programs++];
			*p = (struct model_program){.name = mem_strdup(g->name), .content = *content, .held_out = true};
		}
		p->samples += g->n_samples;
		p->held_out &= t->held[i];
	}
}

void facts_of(const struct training *t, struct model_facts *out)
{
	const struct dataset *ds = t->ds;

	*out = (struct model_facts){.backend = mem_strdup(ds->backend), .space = mem_strdup(ds->space),
		.kind = ds->kind,
		.quantity = ds->quantity,
		.provenance = provenance(t), .seed = t->options->net.seed, .samples = ds->n_samples,
		.steps = t->result->steps,
		.since = (uint64_t)ds->since, .until = (uint64_t)ds->until,
		.machine = mem_strdup(ds->machines.len ? ds->machines.data : ""),
		.apart = mem_strdup(t->apart ? APART_RULE : "")};
	add_programs(t, out);
}

static void add_day(struct buf *out, uint64_t seconds)
{
	time_t at = (time_t)seconds;
	struct tm tm;
	char day[40];

	if (gmtime_r(&at, &tm) && strftime(day, sizeof day, "%Y-%m-%d", &tm) > 0)
		buf_adds(out, day);
	else
		buf_adds(out, "one day");
}

/* Was it trained on a program of this name that stands before the i-th? */
static bool named_before(const struct model_facts *f, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (!f->program[k].held_out && strcmp(f->program[k].name, f->program[i].name) == 0)
			return true;
	return false;
}

uint32_t facts_trained_on(const struct model_facts *f, uint64_t *decisions)
{
	uint32_t n = 0;

	*decisions = f->n_programs ? 0 : f->samples; /* a model of format 1 does not say more */
	for (uint32_t i = 0; i < f->n_programs; i++)
		if (!f->program[i].held_out) {
			n += !named_before(f, i);
			*decisions += f->program[i].samples;
		}
	return n;
}

void facts_text(const struct model_facts *f, struct buf *out)
{
	uint64_t decisions;
	uint32_t n = facts_trained_on(f, &decisions);

	buf_addf(out, "%llu decisions", (unsigned long long)decisions);
	if (f->n_programs == 0) {
		buf_adds(out, " (an older file, which does not say when and of which programs)");
		return;
	}
	buf_addf(out, " of %u program%s, %s ", n, n == 1 ? "" : "s", cost_kind_name(f->kind));
	add_day(out, f->since);
	if (f->since / 86400 != f->until / 86400) {
		buf_adds(out, " to ");
		add_day(out, f->until);
	}
	if (*f->machine)
		buf_addf(out, " on %s", f->machine);
}

static void add_time(struct json *j, const char *key, uint64_t seconds)
{
	time_t at = (time_t)seconds;
	struct tm tm;
	char text[40];

	if (seconds && gmtime_r(&at, &tm) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm) > 0)
		json_str(j, key, text);
	else
		json_str(j, key, NULL);
}

void facts_json(const struct model_facts *f, struct json *j, const char *key)
{
	uint64_t decisions;

	facts_trained_on(f, &decisions);
	json_object(j, key);
	json_str(j, "device", f->backend);
	json_str(j, "cost", cost_kind_name(f->kind));
	json_str(j, "quantity", quantity_name(f->quantity));
	json_str(j, "decisions_of_kind", f->space);
	json_uint(j, "decisions", decisions);
	add_time(j, "measured_since", f->since);
	add_time(j, "measured_until", f->until);
	json_str(j, "machine", *f->machine ? f->machine : NULL);
	json_str(j, "kept_apart", *f->apart ? f->apart : NULL);
	json_array(j, "programs");
	for (uint32_t i = 0; i < f->n_programs; i++) {
		char hex[65];
		digest_hex(&f->program[i].content, hex);
		json_object(j, NULL);
		json_str(j, "name", f->program[i].name);
		json_str(j, "content_hash", hex);
		json_uint(j, "decisions", f->program[i].samples);
		json_bool(j, "held_out", f->program[i].held_out);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

enum facts_seen facts_seen(const struct model_facts *f, const struct digest *content)
{
	if (f->n_programs == 0)
		return SEEN_UNKNOWN;
	for (uint32_t i = 0; i < f->n_programs; i++)
		if (!f->program[i].held_out && memcmp(&f->program[i].content, content, sizeof *content) == 0)
			return SEEN;
	return SEEN_NOT;
}

const char *facts_seen_text(enum facts_seen s)
{
	static const char *const text[] = {"this program was not one of them", "this program was one of them",
		"this program may have been one of them"};
	return text[s];
}

const char *facts_seen_name(enum facts_seen s)
{
	static const char *const name[] = {"no", "yes", "unknown"};
	return name[s];
}
