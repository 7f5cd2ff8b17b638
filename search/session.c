/*
 * session.c - see session.h. The store is opened before the device, as everywhere, so that two programs cannot wait for
 * each other's store and device for ever.
 */
#include "search/session.h"

#include <stdio.h>
#include <string.h>
#include "base/json.h"
#include "base/opt.h"
#include "base/stop.h"
#include "device/machine.h"
#include "search/earlier.h"
#include "search/output.h"

void session_default_dir(const char *graph, struct buf *out)
{
	const char *slash = strchr(graph, '/'), *dot;
	size_t n, name;

	if (space_maker(graph) && slash) /* what stands before the path is no folder */
		for (const char *colon; (colon = strchr(graph, ':')) && colon < slash;)
			graph = colon + 1;
	n = strlen(graph);
	while (n > 1 && graph[n - 1] == '/') /* it is a folder itself */
		n--;
	for (name = n; name > 0 && graph[name - 1] != '/';)
		name--;
	dot = memchr(graph + name, '.', n - name);
	buf_add(out, graph, dot && dot > graph + name ? (size_t)(dot - graph) : n);
	for (size_t i = name; i < out->len; i++)
		if (out->data[i] == ':')
			out->data[i] = '-';
	buf_adds(out, ".tuned");
}

static int open_advisor(struct session *s, const char *backend, struct err *err)
{
	const struct settings *set = s->set;
	struct buf begun = {0};
	struct advisor_options o = {.named = set->model, .at = {.backend = backend, .space = s->lab.space->kind,
		.kind = cost_kind(s->lab.cost), .quantity = cost_quantity(s->lab.cost)}};
	int rc = 0;

	if (set->strategy == STRATEGY_RANDOM || set->strategy == STRATEGY_BRKGA)
		return 0;
	if (set->resume && output_saved_setting(s->dir.data, "model", &begun))
		o.begun = begun.data;
	rc = advisor_open(&s->advisor, &o, s->lab.space, err);
	s->scoring = advisor_scoring(&s->advisor, s->lab.space, (enum infer_by)set->by, set->adapt);
	buf_release(&begun);
	return rc;
}

/*
 * Writes the objective and the limits. Seconds without limits are not written, so states that were saved before there
 * were other objectives stay valid.
 */
static void identify_aim(const struct session *s, struct json *j)
{
	struct buf text = {0};

	if (s->lab.quantity != QUANTITY_SECONDS)
		json_str(j, "objective", quantity_name(s->lab.quantity));
	for (uint32_t i = 0; i < s->lab.n_limits; i++) {
		buf_adds(&text, i ? "," : "");
		limit_text(&s->lab.limit[i].limit, &text);
	}
	if (text.len)
		json_str(j, "limits", text.data);
	buf_release(&text);
}

bool session_bundles(const struct session *s)
{
	bool scored = s->advisor.infer || s->lab.space->ops->promise;

	return scored && s->set->bundles && s->set->by == INFER_GAIN &&
	       hunt_bundles(s->lab.space, s->set->strategy, s->set->propose);
}

/* What the store keeps figures apart by (lab.c), in words. A formula is the same everywhere. */
static void identify_where(struct session *s)
{
	const struct device_info *i = s->device ? device_info(s->device) : NULL;

	if (i)
		buf_addf(&s->where, "%s; %s%s%s; %s %s, build %s; %s", i->machine, i->device, *i->device ? "; " : "",
			i->backend, i->platform, i->version, *i->build ? i->build : "unknown", i->compile_options);
	else
		buf_adds(&s->where, "a formula");
}

struct state_of session_state(const struct session *s)
{
	return (struct state_of){s->identity.data, s->where.data};
}

void session_identify(struct session *s)
{
	const struct settings *set = s->set;
	struct json j = {.out = &s->identity};
	char hex[65];

	identify_where(s);
	digest_hex(&s->lab.subject.graph.content, hex);
	json_object(&j, NULL);
	json_int(&j, "format", HUNT_FORMAT);
	json_str(&j, "graph", hex);
	json_str(&j, "space", set->space);
	json_str(&j, "device", set->device);
	json_str(&j, "measure", set->measure == POLICY_WHOLE ? "whole" : "region");
	json_int(&j, "seed", set->seed);
	json_str(&j, "strategy", search_strategy_name(set->strategy));
	json_str(&j, "model", s->advisor.name.len ? s->advisor.name.data : NULL);
	json_int(&j, "propose", set->propose);
	json_int(&j, "start", s->start == HUNT_BETTER ? HUNT_DEFAULT : s->start); /* as before it could be asked for */
	json_hex(&j, "from", set->from ? config_hash(s->lab.space, s->given) : 0);
	json_int(&j, "by", set->by);
	json_num(&j, "alpha", set->alpha);
	json_num(&j, "explore", set->explore);
	json_int(&j, "hops", set->hops);
	json_bool(&j, "tied", set->tied);
	json_bool(&j, "adapt", set->adapt);
	json_num(&j, "kernel_us", set->kernel_us);
	if (set->replicas > 1)
		json_int(&j, "replicas", set->replicas);
	if (set->partitions > 1)
		json_int(&j, "partitions", set->partitions);
	if (set->unverified)
		json_bool(&j, "unverified", true);
	if (s->info.inputs)
		json_hex(&j, "inputs", s->info.inputs);
	if (s->lab.space->ops->scheme)
		json_bool(&j, "schemes", true); /* searches of before that saved nothing about them */
	if (session_bundles(s))
		json_bool(&j, "bundles", true); /* likewise */
	identify_aim(s, &j);
	json_end(&j);
}

/* Where a search begins that may choose. Strategies that others are compared with, and what was begun, do not. */
static int unnamed_start(const struct session *s)
{
	struct buf space = {0};
	bool begun = s->set->resume && output_saved_setting(s->dir.data, "space", &space);

	buf_release(&space);
	return s->set->strategy == STRATEGY_GUIDED && !begun ? HUNT_BETTER : HUNT_DEFAULT;
}

/* The start by its name: of enum hunt_start. */
static int find_start(struct session *s, struct err *err)
{
	const char *name = s->set->start;
	const struct space *space = s->lab.space;
	const struct space_start *own = space_start_find(space, name);
	struct buf list = {0};

	s->start = own ? HUNT_NAMED + (int)(own - space->ops->starts) : strcmp(name, "random") == 0 ? HUNT_RANDOM
		: strcmp(name, SETTINGS_BETTER) == 0 ? unnamed_start(s) : HUNT_DEFAULT;
	if (own || s->start == HUNT_RANDOM || !settings_begin_elsewhere(s->set))
		return 0;
	for (const struct space_start *p = space->ops->starts; p && p->name; p++)
		buf_addf(&list, ", %s", p->name);
	err_set(err, "there is no start called %.60s; a search of %s starts from auto, default, random%s", name,
		space->kind, list.len ? (char *)list.data : "");
	buf_release(&list);
	return -1;
}

/* A start is priced as a whole program, and where programs are measured --unverified runs none. */
static int check_start(const struct session *s, struct err *err)
{
	bool elsewhere = s->set->from || settings_begin_elsewhere(s->set);

	if (s->set->unverified && elsewhere && s->device && device_info(s->device)->kind == COST_MEASURED)
		return err_set(err, SETTINGS_BY_PARTS);
	return 0;
}

static int read_limits(const struct settings *set, struct limit *out, uint32_t *n, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < set->limits.n && rc == 0; i++)
		rc = limits_read(set->limits.item[i], out, n, err);
	return rc;
}

void session_heed_stop(struct session *s, bool heed)
{
	if (s->device)
		device_heed_stop(s->device, heed);
}

void session_give_back(struct session *s)
{
	if (!s->device)
		return;
	s->info = *device_info(s->device);
	lab_drop_costs(&s->lab);
	s->device_options.core = s->info.core + 1;
	s->device_options.jobs = 0;
	device_close(s->device);
	s->device = NULL;
}

int session_not_opened(const struct session *s, struct err *err)
{
	if (s->before || !stop_asked())
		return -1;
	if (s->first)
		return 1;
	return err_set(err, "stopped while %s was opened: nothing was searched", s->set->graph);
}

static int open_stores(struct session *s, struct err *err)
{
	const struct settings *set = s->set;
	struct store_options so = {.force = set->force, .wait = set->wait};

	s->archive.raw = set->raw;
	if (set->db && !(s->archive.db = store_open(set->db, STORE_CREATE, &so, err)))
		return -1;
	return set->cache && !(s->archive.cache = store_open(set->cache, STORE_READ, &so, err)) ? -1 : 0;
}

int session_open_device(struct session *s, struct err *err)
{
	const struct settings *set = s->set;

	s->device_options = (struct device_options){.backend = set->device, .core = (int)set->core + 1,
		.kind = set->space, .made_by = s->before ? s->before->made_by : NULL,
		.seed = 1, .inputs = set->inputs, .wait = set->wait, .deadline = set->deadline,
		.jobs = (int)set->jobs, .crew = (int)set->jobs, .quiet_pairs = set->quiet_pairs,
		.parts_only = set->unverified};
	if (lab_place(&s->device_options, set->cores, set->replicas, set->partitions, err) < 0)
		return -1;
	if (strcmp(set->device, "none") == 0)
		return 0;
	if (!(s->device = device_open(&s->device_options, err)))
		return -1;
	s->info = *device_info(s->device);
	device_keep_cores(s->device); /* the verdict opens others on them */
	return 0;
}

int session_open(struct session *s, struct err *err)
{
	const struct settings *set = s->set;
	struct cost_options co = {.policy = (enum cost_policy)set->measure, .seed = (uint64_t)set->seed,
		.ask_wholes = true, .as_compiled = true};
	const char *backend = "formula";
	struct limit limits[LIMITS_MOST];
	uint32_t n_limits = 0;

	if (lab_objective(set->objective, &co.quantity, err) < 0 || read_limits(set, limits, &n_limits, err) < 0)
		return -1;
	buf_adds(&s->dir, set->out);
	if (open_stores(s, err) < 0 || session_open_device(s, err) < 0)
		return -1;
	session_heed_stop(s, !s->before);
	if (check_start(s, err) < 0)
		return -1;
	backend = s->device ? device_info(s->device)->backend : "formula";
	if (set->kernel_us != OPT_AUTO)
		co.part_seconds = set->kernel_us > 0 ? set->kernel_us * 1e-6 : -1;
	if (lab_open(&s->lab, set->graph, set->space, s->device, &co, &s->archive, err) < 0 ||
		lab_limits(&s->lab, limits, n_limits, err) < 0 || find_start(s, err) < 0 ||
		open_advisor(s, backend, err) < 0)
		return -1;
	s->lab.subject.opened.spares.plain = s->device && s->info.plain;
	if (s->before && lab_derive(&s->lab, &s->before->lab, err) < 0)
		return -1;
	if (set->from && s->lab.space->ops->kind->arranging)
		return err_set(err, "decisions of the kind %s are looked for anew each time: --from is for choices "
			"that are priced one by one", s->lab.space->ops->kind->name);
	if (set->from) {
		s->given = mem_alloc(s->lab.space->n_sites + 1);
		if (earlier_read(set->from, s->lab.space, s->given, err) < 0)
			return -1;
	}
	return output_prepare(s->dir.data, err);
}

static int begin_run(struct session *s, const struct run_spec *spec, struct err *err)
{
	const struct hunt *h = &s->hunt;
	struct chain_spec chain = {.space = s->lab.space_id, .config = h->config, .base_seconds = h->default_seconds,
		.start = h->evaluations ? "resumed" : hunt_start_name(h)};
	struct anchor start = {.kind = s->device ? device_info(s->device)->kind : COST_MODELLED,
		.default_seconds = h->default_seconds, .whole = h->running.value, .whole_se = h->running.se,
		.running = h->running.value, .running_se = h->running.se, .reanchored = true};
	struct buf state = {0};
	int rc = run_begin(s->archive.db, spec, &s->archive.run, err);

	if (rc == 0)
		rc = run_chain(s->archive.run, &chain, &s->hunt.chain, err);
	start.chain = h->chain;
	if (rc == 0 && strcmp(chain.start, "default") != 0)
		rc = run_anchor(s->archive.run, &start, err);
	hunt_save(h, &state);
	if (rc == 0)
		rc = run_save(s->archive.run, state.data, state.len, err);
	buf_release(&state);
	return rc;
}

/* Takes up the run that was found: 1. */
static int take_up_run(struct session *s, struct err *err)
{
	struct run *run = s->archive.run;
	size_t n;
	const void *state = run_state(run, &n);

	if (hunt_load(&s->hunt, state, n, err) < 0)
		return err_prefix(err, "run %s", run_uuid(run));
	if (memcmp(run_config(run, 0, NULL), s->hunt.config, s->lab.space->n_sites) != 0)
		return err_set(err, "run %s: the saved state is not that of its last step", run_uuid(run));
	return 1;
}

int session_begin(struct session *s, struct err *err)
{
	struct run_spec spec = {.kind = "search", .settings = s->identity.data,
		.policy = s->set->measure == POLICY_WHOLE ? "whole" : "region", .seed = (uint64_t)s->set->seed,
		.environment = s->archive.environment};
	bool resume = s->set->resume && s->lab.space->n_sites > 0;
	struct state_of of = session_state(s);
	const char *unlike = NULL;
	char run[37] = "";
	int rc = 0;

	spec.spaces = &s->lab.space_id;
	spec.n_spaces = 1;
	if (resume && s->archive.db)
		rc = run_resume(s->archive.db, &spec, &s->archive.run, run, err);
	if (rc == 1)
		rc = take_up_run(s, err);
	else if (rc == 0 && resume)
		rc = output_load_state(s->dir.data, &s->hunt, &of, &unlike, err);
	if (rc == 1 && !s->set->quiet)
		fprintf(stderr, "search: going on after %llu evaluations\n", (unsigned long long)s->hunt.evaluations);
	if (rc == 0 && run[0])
		fprintf(stderr, "search: nothing to resume: run %s " OUTPUT_DECIDED "; beginning anew\n", run);
	else if (rc == 0 && unlike)
		fprintf(stderr, "search: nothing to resume: %s/state %s; beginning anew\n", s->dir.data, unlike);
	else if (rc == 0 && s->set->resume && !s->set->quiet)
		fprintf(stderr, "search: nothing to resume: no search with these settings was left here; "
			"beginning anew\n");
	if (rc >= 0 && s->archive.db && !s->archive.run)
		rc = begin_run(s, &spec, err);
	return rc < 0 ? -1 : 0;
}

void session_leave_store(struct session *s)
{
	run_free(s->archive.run);
	store_close(s->archive.db);
	store_close(s->archive.cache);
	s->archive = (struct archive){0};
}

void session_close(struct session *s)
{
	worth_release(&s->worth);
	screen_release(&s->screen);
	hunt_release(&s->hunt);
	advisor_release(&s->advisor);
	lab_release(&s->lab);
	session_leave_store(s);
	device_close(s->device);
	buf_release(&s->dir);
	buf_release(&s->identity);
	buf_release(&s->where);
	mem_free(s->given);
	spares_release(&s->ahead);
	*s = (struct session){0};
}
