/*
 * main.c - `search`: a faster program for one graph.
 *
 * It opens the program, finds a model, hunts, and asks for a verdict. After the first SIGINT or SIGTERM the
 * hunt ends, and the verdict and the files still come; the second stops at once.
 *
 * --resume goes on with the run in the store, where every evaluation is committed with the state after it.
 * Without a store it goes on with the state in the folder, which is at most a few seconds old and never older
 * than the best. Both stay until the search has used up its budget: a search that time or a signal ended has
 * given its answer and can still go on. The store is opened before the device, as everywhere, so that two
 * programs cannot wait for each other's store and device for ever.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/io.h"
#include "base/json.h"
#include "base/opt.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/talk.h"
#include "lab/options.h"
#include "device/stage.h"
#include "search/advisor.h"
#include "search/arrange.h"
#include "search/earlier.h"
#include "search/output.h"
#include "search/puzzle.h"
#include "search/rival.h"
#include "search/scorer.h"

struct settings {
	const char *skip, *cores, *graph, *model, *db, *out, *device, *space, *from, *start, *objective;
	struct opt_list limits;
	int64_t budget, seed, hops, core, drift_checks, jobs, steps;
	double slower, deadline, seconds, alpha, explore, verdict_seconds, kernel_us;
	int strategy, propose, measure, by, placing, goal;
	bool json, quiet, resume, wait, force, tied, adapt, raw;
};

static const char *const strategy_name[] = {"guided", "random", "sweep", "taso", "greedy"};
/* How often the state is written into the folder, besides whenever something was kept that no store has. */
#define SAVE_SECONDS 5

_Static_assert(HUNT_AUTO == OPT_AUTO, "what auto stores is what the search takes");

struct session { /* everything open */
	const struct settings *set;
	struct device_options device_options;
	struct device *device;
	struct archive archive;
	struct lab lab;
	struct advisor advisor;
	struct model_scorer scoring;
	struct hunt hunt;
	struct verdict verdict;
	struct buf dir, identity;
	uint8_t *given; /* the configuration of --from */
	const struct session *before; /* what another kind decided first, or NULL: this one's program is what came of that */
	int start;	/* of enum hunt_start */
};

/* big.pb.zst -> big.tuned */
static void default_dir(const char *graph, struct buf *out)
{
	const char *slash = strrchr(graph, '/'), *name = slash ? slash + 1 : graph, *dot = strchr(name, '.');

	buf_add(out, graph, dot && dot > name ? (size_t)(dot - graph) : strlen(graph));
	buf_adds(out, ".tuned");
	for (size_t i = 0; i < out->len; i++)
		if (out->data[i] == ':')
			out->data[i] = '-';
}

static int open_advisor(struct session *s, const char *backend, struct err *err)
{
	const struct settings *set = s->set;
	struct buf begun = {0};
	struct advisor_options o = {.named = set->model, .at = {.backend = backend, .space = s->lab.space->kind,
		.kind = cost_kind(s->lab.cost), .quantity = cost_quantity(s->lab.cost)}};
	int rc = 0;

	if (set->strategy == STRATEGY_RANDOM)
		return 0;
	if (set->resume && output_saved_setting(s->dir.data, "model", &begun))
		o.begun = begun.data;
	rc = advisor_open(&s->advisor, &o, s->lab.space, err);
	s->scoring = (struct model_scorer){s->advisor.infer, (enum infer_by)set->by, set->adapt && s->advisor.infer};
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

/* Writes everything that decides the course of the search; only a search with the same goes on from its state. */
static void identify(struct session *s)
{
	const struct settings *set = s->set;
	struct json j = {.out = &s->identity};
	char hex[65];

	digest_hex(&s->lab.subject.graph.content, hex);
	json_object(&j, NULL);
	json_int(&j, "format", HUNT_FORMAT);
	json_str(&j, "graph", hex);
	json_str(&j, "space", set->space);
	json_str(&j, "device", set->device);
	json_str(&j, "measure", set->measure == POLICY_WHOLE ? "whole" : "region");
	json_int(&j, "seed", set->seed);
	json_str(&j, "strategy", strategy_name[set->strategy]);
	json_str(&j, "model", s->advisor.name.len ? s->advisor.name.data : NULL);
	json_int(&j, "propose", set->propose);
	json_int(&j, "start", s->start);
	json_hex(&j, "from", set->from ? config_hash(s->lab.space, s->given) : 0);
	json_int(&j, "by", set->by);
	json_num(&j, "alpha", set->alpha);
	json_num(&j, "explore", set->explore);
	json_int(&j, "hops", set->hops);
	json_bool(&j, "tied", set->tied);
	json_bool(&j, "adapt", set->adapt);
	json_num(&j, "kernel_us", set->kernel_us);
	identify_aim(s, &j);
	json_end(&j);
}

/* The start by its name: of enum hunt_start. */
static int find_start(struct session *s, struct err *err)
{
	const char *name = s->set->start;
	const struct space *space = s->lab.space;
	const struct space_start *own = space_start_find(space, name);
	struct buf list = {0};

	s->start = own ? HUNT_NAMED + (int)(own - space->ops->starts) : strcmp(name, "random") == 0 ? HUNT_RANDOM : HUNT_DEFAULT;
	if (own || s->start == HUNT_RANDOM || strcmp(name, "default") == 0)
		return 0;
	for (const struct space_start *p = space->ops->starts; p && p->name; p++)
		buf_addf(&list, ", %s", p->name);
	err_set(err, "there is no start called %.60s; a search of %s starts from default, random%s", name, space->kind,
		list.len ? (char *)list.data : "");
	buf_release(&list);
	return -1;
}

static int read_limits(const struct settings *set, struct limit *out, uint32_t *n, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < set->limits.n && rc == 0; i++)
		rc = limits_read(set->limits.item[i], out, n, err);
	return rc;
}

static int open_session(struct session *s, struct err *err)
{
	const struct settings *set = s->set;
	struct store_options so = {.force = set->force, .wait = set->wait};
	struct cost_options co = {.policy = (enum cost_policy)set->measure, .seed = (uint64_t)set->seed};
	const char *backend = "formula";
	struct limit limits[LIMITS_MOST];
	uint32_t n_limits = 0;

	if (lab_objective(set->objective, &co.quantity, err) < 0 || read_limits(set, limits, &n_limits, err) < 0)
		return -1;
	if (!space_maker(set->graph) && strcmp(set->graph, "-") != 0 && access(set->graph, R_OK) < 0)
		return err_errno(err, "%s cannot be read", set->graph);
	if (set->out)
		buf_adds(&s->dir, set->out);
	else
		default_dir(set->graph, &s->dir);
	s->archive.raw = set->raw;
	s->device_options = (struct device_options){.backend = set->device, .core = (int)set->core + 1, .kind = set->space,
		.seed = 1, .wait = set->wait, .deadline = set->deadline};
	if (cores_parse(set->cores, &s->device_options.cores, err) < 0 ||
		(set->db && !(s->archive.db = store_open(set->db, STORE_CREATE, &so, err))))
		return -1;
	if (strcmp(set->device, "none") != 0 && !(s->device = device_open(&s->device_options, err)))
		return -1;
	backend = s->device ? device_info(s->device)->backend : "formula";
	if (set->kernel_us != OPT_AUTO)
		co.part_seconds = set->kernel_us > 0 ? set->kernel_us * 1e-6 : -1;
	if (lab_open(&s->lab, set->graph, set->space, s->device, &co, &s->archive, err) < 0 ||
		lab_limits(&s->lab, limits, n_limits, err) < 0 || find_start(s, err) < 0 || open_advisor(s, backend, err) < 0)
		return -1;
	if (s->before) { /* the compiler's own program is that of the user's */
		const struct buf *own = &s->before->lab.subject.original;
		buf_reset(&s->lab.subject.original);
		buf_add(&s->lab.subject.original, own->data, own->len);
		s->lab.derived = true;
	}
	if (set->from) {
		s->given = mem_alloc(s->lab.space->n_sites + 1);
		if (earlier_read(set->from, s->lab.space, s->given, err) < 0)
			return -1;
	}
	return output_prepare(s->dir.data, err);
}

/* What the store calls a start. */
static const char *stored_start(int start)
{
	return start == HUNT_GIVEN ? "given" : start == HUNT_DEFAULT ? "default" : "random";
}

static int begin_run(struct session *s, const struct run_spec *spec, struct err *err)
{
	const struct hunt *h = &s->hunt;
	struct chain_spec chain = {.space = s->lab.space_id, .config = h->config, .base_seconds = h->default_seconds,
		.start = h->evaluations ? "resumed" : stored_start(h->o.start)};
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

/* Finds what to go on from, if anything; begins a run in the store otherwise. */
static int begin_or_resume(struct session *s, struct err *err)
{
	struct run_spec spec = {.kind = "search", .settings = s->identity.data,
		.policy = s->set->measure == POLICY_WHOLE ? "whole" : "region", .seed = (uint64_t)s->set->seed,
		.environment = s->archive.environment};
	bool resume = s->set->resume && s->lab.space->n_sites > 0;
	char run[37] = "";
	bool other = false;
	int rc = 0;

	spec.spaces = &s->lab.space_id;
	spec.n_spaces = 1;
	if (resume && s->archive.db)
		rc = run_resume(s->archive.db, &spec, &s->archive.run, run, err);
	if (rc == 1)
		rc = take_up_run(s, err);
	else if (rc == 0 && resume)
		rc = output_load_state(s->dir.data, &s->hunt, s->identity.data, &other, err);
	if (rc == 1 && !s->set->quiet)
		fprintf(stderr, "search: going on after %llu evaluations\n", (unsigned long long)s->hunt.evaluations);
	if (rc == 0 && (run[0] || other))
		fprintf(stderr, "search: what was to be gone on from (%s%s) made other decisions in this program, or started from "
			"another default; beginning\n", run[0] ? "run " : s->dir.data, run[0] ? run : "/state");
	else if (rc == 0 && s->set->resume && !s->set->quiet)
		fprintf(stderr, "search: there is nothing to go on from; beginning\n");
	if (rc >= 0 && s->archive.db && !s->archive.run)
		rc = begin_run(s, &spec, err);
	return rc < 0 ? -1 : 0;
}

static bool arranges(const struct session *s)
{
	const struct stage *stage = stage_find(s->lab.space->kind, device_info(s->device)->family);

	return stage && stage->arranged;
}

static void begin_talk(const struct session *s)
{
	const struct settings *set = s->set;
	struct buf line = {0};
	char time[32];

	if (set->quiet)
		return;
	fprintf(stderr, "search: %s: %u sites in %u classes; %s\n", s->lab.subject.name, s->lab.space->n_sites,
		s->lab.space->n_ties, s->lab.subject.decoded);
	if (s->advisor.notes.len)
		fprintf(stderr, "search: %s", s->advisor.notes.data);
	if (s->advisor.infer) {
		advisor_text(&s->advisor, &line);
		fprintf(stderr, "search: model %s\n", line.data);
	} else if (s->device && arranges(s)) {
		talk("the compiler is asked for its own ways first; then orders are annealed, and the best are shown to it");
	} else if (set->strategy == STRATEGY_GUIDED && s->lab.space->ops->promise) {
		fprintf(stderr, "search: no model for these decisions; guided by what the rules promise, then by what is measured\n");
	} else if (set->strategy == STRATEGY_GUIDED) {
		fprintf(stderr, "search: no model for this device; searching at random (train one with learn)\n");
	}
	if (s->lab.subject.extract_seconds >= SPARE_DEAR)
		talk(s->lab.subject.known ? "opened from what was kept of it, which took %s then"
			: "compiling took %s; now the default as it was read back is compiled as well, and both are run side by side",
			talk_seconds(s->lab.subject.extract_seconds, time, sizeof time));
	buf_release(&line);
}

static void show(struct session *s, struct progress *p)
{
	const struct hunt *h = &s->hunt;
	char detail[160];

	snprintf(detail, sizeof detail, "best %+.2f%% +- %.2f, %llu kept, cached %.0f%%", -100 * hunt_gain(h),
		100 * hunt_gain_se(h), (unsigned long long)h->kept,
		h->evaluations ? 100.0 * (double)h->cached / (double)h->evaluations : 0.0);
	progress_update(p, h->evaluations, detail);
}

static int hunt_on(struct session *s, struct err *err)
{
	struct progress p = {0};
	double saved = now_seconds();
	uint64_t kept = s->hunt.kept;
	int rc;

	progress_start(&p, "search", (uint64_t)s->set->budget, s->set->quiet ? PROGRESS_QUIET : PROGRESS_AUTO);
	while ((rc = hunt_next(&s->hunt, err)) == 1) {
		show(s, &p);
		if ((s->hunt.kept == kept || s->archive.run) && now_seconds() < saved + SAVE_SECONDS)
			continue;
		kept = s->hunt.kept;
		saved = now_seconds();
		if ((rc = output_save_state(s->dir.data, &s->hunt, s->identity.data, err)) < 0)
			break;
	}
	progress_end(&p);
	if (rc == 0) /* the verdict takes long, and may be killed too */
		rc = output_save_state(s->dir.data, &s->hunt, s->identity.data, err);
	return rc;
}

/* Puts the answer into the store, and ends this stint of the run. */
static int end_run(struct session *s, const struct result *r, struct err *err)
{
	const struct verdict *v = &s->verdict;
	struct finding f = {.chain = s->hunt.chain, .config = s->hunt.config, .kind = v->kind, .how = "final",
		.delta = v->tuned_seconds - v->default_seconds, .default_seconds = v->default_seconds,
		.se = (v->high - v->low) / 4 * v->default_seconds};
	struct buf summary = {0};
	int rc = 0;

	if (!s->archive.run)
		return 0;
	output_summary(r, s->dir.data, true, &summary);
	if (v->measured && v->outcome == OUTCOME_OK)
		rc = run_found(s->archive.run, &f, err);
	if (rc == 0)
		rc = run_end(s->archive.run, hunt_could_go_on(&s->hunt) ? RUN_STOPPED : RUN_FINISHED, summary.data, err);
	buf_release(&summary);
	return rc;
}

/* Writes all files, then removes the state, then ends the run: after a kill at any point the search can go on. */
static int leave(struct session *s, const struct result *r, struct err *err)
{
	struct buf out = {0};
	int rc = output_write(s->dir.data, r, s->device, err);

	if (rc == 0 && !hunt_could_go_on(&s->hunt))
		rc = output_drop_state(s->dir.data, err);
	if (rc == 0)
		rc = end_run(s, r, err);
	if (rc == 0) {
		output_summary(r, s->dir.data, s->set->json, &out);
		fputs(out.data, stdout);
	}
	buf_release(&out);
	return rc;
}

static int conclude(struct session *s, struct err *err)
{
	const struct settings *set = s->set;
	struct device_info info = {0};
	struct result r = {&s->hunt, &s->verdict, s->device ? &info : NULL, s->lab.subject.name,
		strategy_name[s->hunt.o.strategy], &s->advisor, s->before ? s->before->dir.data : NULL};
	int rc;

	if (s->device) { /* give the worker back: the verdict wants a fresh one on the same core */
		info = *device_info(s->device);
		lab_drop_costs(&s->lab);
		s->device_options.core = info.core + 1;
		device_close(s->device);
		s->device = NULL;
	}
	rc = verdict_reach(&s->verdict, &s->lab, s->hunt.config, &(struct verdict_options){r.device ? &s->device_options : NULL,
		set->verdict_seconds == OPT_AUTO ? 0 : set->verdict_seconds, hunt_seconds(&s->hunt)}, err);
	if (rc == 0 && r.device && s->verdict.tuned && !(s->device = device_open(&s->device_options, err)))
		rc = -1;
	return rc == 0 ? leave(s, &r, err) : -1;
}

/* A kind that decides how a program is arranged in memory: another search, whose answer is in bytes. */
static int run_arrange(struct session *s, struct err *err)
{
	const struct settings *set = s->set;
	struct arrange_settings as = {.dir = s->dir.data, .seconds = set->seconds > 0 ? set->seconds : 30,
		.verdict_seconds = set->verdict_seconds == OPT_AUTO ? 0 : set->verdict_seconds,
		.slower = set->slower / 100, .seed = (uint64_t)set->seed, .json = set->json, .quiet = set->quiet};
	struct arrange a = {.set = &as, .lab = &s->lab, .device = s->device, .device_options = &s->device_options};
	struct buf out = {0};
	int rc;

	s->device = NULL; /* it is the search's now */
	rc = arrange_search(&a, err);
	if (rc == 0) {
		arrange_summary(&a, &out);
		fputs(out.data, stdout);
	}
	buf_release(&out);
	arrange_release(&a);
	return rc;
}

/* Opens, and searches until the budget is used up; 1: the kind has given its answer already. */
static int search_on(struct session *s, struct err *err)
{
	const struct settings *set = s->set;
	struct hunt_options ho = {.strategy = set->strategy, .propose = set->propose,
		.budget = (uint64_t)set->budget, .seed = (uint64_t)set->seed, .seconds = set->seconds,
		.alpha = set->alpha, .explore = set->explore, .hops = (int32_t)set->hops, .tied = set->tied,
		.adapt = set->adapt, .drift_checks = (uint32_t)set->drift_checks,
		.part_known = set->kernel_us != OPT_AUTO};
	struct rival_options ro = {.alpha = set->strategy == STRATEGY_TASO ? RIVAL_ALPHA : 0, .budget = (uint64_t)set->budget};
	bool rival = set->strategy >= STRATEGY_TASO, promises;
	struct rival_answer answer;
	struct scorer scorer;

	if (open_session(s, err) < 0)
		return -1;
	begin_talk(s);
	if (s->device && arranges(s))
		return run_arrange(s, err) < 0 ? -1 : 1;
	if (rival && !s->given)
		s->given = mem_alloc(s->lab.space->n_sites + 1);
	if (rival && rival_search(&s->lab, s->device, &ro, s->given, &answer, err) < 0)
		return -1;
	ho.start = set->from || rival ? HUNT_GIVEN : s->start;
	ho.given = s->given;
	if (rival)
		ho.budget = 0; /* it has chosen */
	promises = !s->advisor.infer && s->lab.space->ops->promise;
	if (ho.strategy == STRATEGY_GUIDED && !s->advisor.infer && !promises)
		ho.strategy = STRATEGY_RANDOM;
	scorer = promises ? scorer_of_space(s->lab.space) : scorer_of_model(&s->scoring);
	identify(s);
	if (hunt_begin(&s->hunt, &ho, &s->lab, s->advisor.infer || promises ? &scorer : NULL, err) < 0)
		return -1;
	return begin_or_resume(s, err) < 0 || hunt_on(s, err) < 0 ? -1 : 0;
}

static void close_session(struct session *s);

/* What a kind decided, as the program that the next one begins with; the device is given back. */
static int hand_over(struct session *s, struct buf *program, struct err *err)
{
	struct device_info info = s->device ? *device_info(s->device) : (struct device_info){0};
	struct result r = {&s->hunt, &s->verdict, s->device ? &info : NULL, s->lab.subject.name,
		strategy_name[s->hunt.o.strategy], &s->advisor, s->before ? s->before->dir.data : NULL};
	struct buf module = {0};
	int rc = s->lab.space->ops->apply(s->lab.space, s->hunt.config, &module, err);

	snprintf(s->verdict.sentence, sizeof s->verdict.sentence,
		"These decisions are judged together with those that were made on the program that came of them.");
	buf_addf(program, "%s/derived.pb", s->dir.data);
	if (rc == 0)
		rc = io_write_file(program->data, module.data, module.len, err);
	if (rc == 0)
		rc = output_write_decisions(s->dir.data, &r, err);
	buf_release(&module);
	lab_drop_costs(&s->lab);
	device_close(s->device);
	s->device = NULL;
	return rc;
}

/* One kind after the other, each on the program that the one before left: "rewrite,fusion". `first` are the kinds but the last. */
static int run_after(struct session *last, const char *first, const struct session *before, struct err *err)
{
	struct settings own = *last->set, rest = *last->set;
	struct session s = {.set = &own, .before = before};
	struct buf kind = {0}, dir = {0}, program = {0};
	const char *comma = strchr(first, ',');
	int rc;

	buf_add(&kind, first, comma ? (size_t)(comma - first) : strlen(first));
	if (last->set->out)
		buf_adds(&dir, last->set->out);
	else
		default_dir(last->set->graph, &dir);
	rest.out = last->set->out ? last->set->out : dir.data;
	rc = io_make_dir(dir.data, err);
	if (comma) {
		struct buf inner = {0};
		own.space = kind.data;
		buf_addf(&inner, "%s/%.*s", dir.data, (int)strcspn(kind.data, "/:"), kind.data);
		own.out = inner.data;
		own.seconds /= 2; /* what follows has the other half */
		rc = rc == 0 ? search_on(&s, err) : rc;
		if (rc == 1)
			rc = err_set(err, "what %s decides is no program that another kind could go on with", kind.data);
		rc = rc == 0 ? hand_over(&s, &program, err) : rc;
		rest.graph = program.data;
		rest.from = NULL;
		rest.start = "default";
		rest.seconds -= own.seconds;
		last->set = &rest;
		rc = rc == 0 ? run_after(last, comma + 1, &s, err) : rc;
		close_session(&s);
		buf_release(&inner);
	} else {
		rest.space = kind.data;
		last->set = &rest;
		last->before = before;
		rc = rc == 0 ? search_on(last, err) : rc;
		rc = rc == 0 ? conclude(last, err) : rc;
		rc = rc == 1 ? 0 : rc;
		close_session(last);
	}
	buf_release(&kind);
	buf_release(&dir);
	buf_release(&program);
	return rc;
}

static int run(struct session *s, struct err *err)
{
	if (strchr(s->set->space, ','))
		return run_after(s, s->set->space, NULL, err);
	int rc = search_on(s, err);
	return rc == 0 ? conclude(s, err) : rc < 0 ? -1 : 0;
}

static int run_puzzle(const struct settings *set, struct err *err)
{
	struct puzzle_settings p = {.path = set->graph, .out = set->out, .seconds = set->seconds, .seed = set->seed,
		.jobs = set->jobs, .steps = set->steps, .json = set->json, .quiet = set->quiet,
		.strategy = set->placing, .goal = set->goal};

	if (p.seconds <= 0 && p.steps == 0)
		p.seconds = 60;
	return puzzle_solve(&p, err);
}

static void close_session(struct session *s)
{
	hunt_release(&s->hunt);
	advisor_release(&s->advisor);
	lab_release(&s->lab);
	run_free(s->archive.run);
	store_close(s->archive.db);
	device_close(s->device);
	buf_release(&s->dir);
	buf_release(&s->identity);
	mem_free(s->given);
	*s = (struct session){0};
}

int main(int argc, char **argv)
{
	struct settings set = {LAB_DEFAULTS, .budget = 2000, .start = "default", .hops = HUNT_AUTO,
		.alpha = HUNT_AUTO, .kernel_us = OPT_AUTO, .explore = 10, .slower = 2, .tied = true, .drift_checks = 4, .verdict_seconds = OPT_AUTO, .adapt = true,
		.by = INFER_GAIN};
	const struct opt table[] = {
		OPT_SECTION("What to tune"),
		OPT_STR('g', "graph", &set.graph, "FILE", "program to tune (HLO as proto or text, StableHLO, dump folder)"),
		LAB_OPT_SPACE(set),
		OPT_STR(0, "skip-rule", &set.skip, "NAME,NAME", "of a kind that has rules, those that are not to be used"),
		OPT_SECTION("Where"),
		OPT_STR('d', "db", &set.db, "FILE", "keep every measurement in this store, and use what it has"),
		LAB_OPTS_WHERE(set),
		OPT_SECTION("How long"),
		OPT_INT('b', "budget", &set.budget, 0, INT64_C(1) << 40, "evaluations at most"),
		OPT_NUM(0, "seconds", &set.seconds, 0, 1e9,
			"time the search may take, without opening and verdict; 0: no limit"),
		OPT_NUM_AUTO(0, "verdict-seconds", &set.verdict_seconds, 0.1, 1e6,
			"time the final measurement spends running the program; auto: 20, or, where one run takes seconds, as long as the search "
			"took at most"),
		OPT_NUM(0, "slower", &set.slower, 0, 1e6,
			"where bytes are what is to be saved: percent of time that the tuned program may take more"),
		OPT_SECTION("How"),
		OPT_ENUM(0, "strategy", &set.strategy, "guided|random|sweep|taso|greedy",
			"how candidates are chosen; the last two as others do it, by the sum of operators that are measured once each"),
		OPT_STR('m', "model", &set.model, "FILE", "predictions to be guided by; default: your own from learn, or the one shipped"),
		OPT_STR(0, "start", &set.start, "NAME", "where the search starts: default, random, or by a rule of the space, as greedy"),
		OPT_STR(0, "from", &set.from, "DIR",
			"start from what an earlier search left there; with --budget 0 it is only measured once more"),
		OPT_ENUM(0, "propose", &set.propose, "signed|magnitude",
			"the flip that promises most, or the paper's mutation of a neighbourhood"),
		OPT_ENUM(0, "by", &set.by, "magnitude|improve|gain",
			"which prediction orders the sites: how much a change matters, whether it improves, or both"),
		OPT_NUM_AUTO(0, "alpha", &set.alpha, 0, 100,
			"percent of sites, best first, to pick from; auto: by the budget; 0: a sweep in random order"),
		OPT_INT_AUTO(0, "hops", &set.hops, 0, 16,
			"radius of a mutated neighbourhood; it grows while nothing is found; auto: it grows faster on a small budget"),
		OPT_NUM(0, "explore", &set.explore, 0, 100, "percent of picks that are uniformly random"),
		OPT_FLAG(0, "adapt", &set.adapt, "what was measured replaces what was predicted, and corrects what is predicted of flips like it"),
		OPT_NUM_AUTO(0, "kernel-us", &set.kernel_us, 0, 1000,
			"microseconds a kernel of a large program costs beyond its region; auto: what is known of the device, corrected by "
			"whole-program checks"),
		OPT_FLAG(0, "tied", &set.tied, "decide sites whose surroundings are alike as one"),
		OPT_INT(0, "drift-checks", &set.drift_checks, 0, 1000, "whole-program checks during the search at most"),
		LAB_OPTS_HOW(set),
		OPT_LIST(0, "limit", &set.limits, "QUANTITY:BOUND", "what the tuned program must keep to: seconds:+2% (of the default), "
			"bytes:+0%, bytes:16GiB; may be repeated"),
		OPT_SECTION("A public problem instead of a program (NAME.json or NAME.json.gz: iopddl, dnn-partitioning)"),
		OPT_ENUM(0, "placing", &set.placing, "anneal|one|contiguous|heft|random|local", "how operations are placed on devices"),
		OPT_ENUM(0, "goal", &set.goal, "load|latency", "of placing: the busiest device, or one sample's time"),
		OPT_INT(0, "jobs", &set.jobs, 0, 256, "threads; 0: as many as there are cores"),
		OPT_INT(0, "steps", &set.steps, 0, INT64_C(1) << 40, "of each thread, and no limit of time: always the same answer; "
			"0: --seconds, or a minute"),
		OPT_SECTION("Output"),
		OPT_STR('o', "out", &set.out, "DIR", "folder for the result, or file for a problem's answer; default: beside the graph, NAME.tuned"),
		OPT_FLAG(0, "resume", &set.resume, "go on with the search of these settings that was stopped or killed"),
		LAB_OPTS_TALK(set),
		OPT_END};
	const struct opt_program prog = {"search", "[OPTIONS] --graph FILE",
		"Looks for fusion decisions that make a program faster than the compiler's own, guided by a "
		"model where there is one, keeps what is measurably better, and proves the result on a fresh "
		"worker against the compiler's default. What comes out is never slower than the default; examples/run "
		"shows how to use it. Told to stop, it still gives its answer, and can go on with --resume.", table};
	struct session s = {.set = &set};
	char kind[SPACE_KIND_ROOM];
	struct err err = {0};
	int n_words = 0, rc;

	err_program("search");
	stop_on_signals(STOP_AT_SECOND);
	rc = opt_parse(&prog, argc, argv, &n_words, &err);
	if (rc == 0 && !set.graph && n_words == 1)
		set.graph = argv[0];
	else if (rc == 0 && n_words)
		rc = err_set(&err, "\"%s\" is no option; the program is named with --graph", argv[0]);
	if (rc == 0 && !set.graph)
		rc = err_set(&err, "no program to tune: name one with --graph FILE");
	if (rc == 0 && set.from && strcmp(set.start, "default") != 0)
		rc = err_set(&err, "--from and --start both say where to begin");
	talk_on(!set.quiet);
	if (rc == 0 && set.skip && (rc = space_kind_without(set.space, set.skip, kind, &err)) == 0)
		set.space = kind;
	if (rc == 0) {
		rc = puzzle_is(set.graph) ? run_puzzle(&set, &err) : run(&s, &err);
		close_session(&s);
	}
	opt_list_release(&set.limits);
	return rc < 0 ? err_exit(&err) : 0;
}
