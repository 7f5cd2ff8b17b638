/*
 * single.c - see single.h. After the first SIGINT or SIGTERM what the hunt has under way is given up, and the verdict
 * and the files still come; while the program is opened there is nothing to judge yet, and the search ends. The second
 * signal stops at once.
 */
#include "search/single.h"

#include <stdio.h>
#include <string.h>
#include "base/io.h"
#include "base/progress.h"
#include "base/stop.h"
#include "base/talk.h"
#include "device/stage.h"
#include "graph/work.h"
#include "search/ahead.h"
#include "search/arrange.h"
#include "search/chosen.h"
#include "search/lead.h"
#include "search/mend.h"
#include "search/parts.h"

/* The state is written into the folder so often; without a store, also whenever something was kept. */
#define SAVE_SECONDS 5
#define FASTEST_CORE 1e11 /* operations a second, which no core exceeds by much */
#define LONG_RUN 10.0	  /* seconds of a run that are worth a word beforehand */

static bool arranges(const struct session *s)
{
	const struct stage *stage = s->device ? stage_find(s->lab.space->kind, device_info(s->device)->family) : NULL;
	bool asked = stage ? stage->arranged : !s->device; /* without a device the model answers */

	return asked && s->lab.space->ops->kind->arranging && s->lab.quantity == QUANTITY_BYTES;
}

/* Warns of a program whose single run takes long, before it is run for the first time. */
static void talk_run(const struct session *s)
{
	const struct device_info *i = s->device ? device_info(s->device) : NULL;
	double least = i && i->cores ? graph_operations(&s->lab.subject.graph) / (FASTEST_CORE * i->cores) : 0;
	char time[32];

	if (least >= LONG_RUN && i->can_run && i->kind == COST_MEASURED && s->lab.quantity == QUANTITY_SECONDS)
		talk("one run is %.3g operations, %s at the very least on %u core%s: the default is run at least once, "
		     "and the verdict runs it at least once more", least * FASTEST_CORE * i->cores,
			talk_seconds(least, time, sizeof time), i->cores, i->cores > 1 ? "s" : "");
}

static void begin_talk(const struct session *s)
{
	const struct settings *set = s->set;
	bool guided = set->strategy == STRATEGY_GUIDED;
	uint32_t idle = space_idle_sites(s->lab.space, s->lab.quantity);
	struct buf line = {0};
	char time[32];

	if (set->quiet)
		return;
	fprintf(stderr, "search: %s: %u site%s in %u class%s; %s\n", s->lab.subject.name, s->lab.space->n_sites,
		s->lab.space->n_sites == 1 ? "" : "s", s->lab.space->n_ties, s->lab.space->n_ties == 1 ? "" : "es",
		s->lab.subject.decoded);
	if (idle)
		talk("%u of the sites are in parts that do not run with these inputs: in branches not taken, and loops "
		     "without a turn; they stay as the compiler decides", idle);
	if (s->advisor.notes.len)
		fprintf(stderr, "search: %s", s->advisor.notes.data);
	if (s->advisor.infer) {
		advisor_text(&s->advisor, &line);
		fprintf(stderr, "search: model %s\n", line.data);
	} else if (arranges(s) && !s->device) {
		talk("there is no compiler to ask: arrangements are looked for by the model alone");
	} else if (arranges(s)) {
		talk("the compiler is asked for its own ways first; "
		     "then arrangements are looked for, and the best is shown to it");
	} else if (set->strategy == STRATEGY_SELF) {
		talk("looking for the best answer in the way of the kind itself");
	} else if (guided && s->lab.space->ops->promise) {
		talk("no model for these decisions; guided by what the rules promise, then by what is measured");
	} else if (guided) {
		talk("no model for this device; searching at random (train one with learn)");
	}
	if (s->lab.subject.extract_seconds >= SPARE_DEAR)
		talk(s->lab.subject.known ? "opened from what was kept of it, which took %s then"
			: s->lab.parts_only ? "compiling took %s; the program is not run, its parts are"
			: "compiling took %s; now the default is measured",
			talk_seconds(s->lab.subject.extract_seconds, time, sizeof time));
	if (!s->lab.subject.known)
		talk_run(s);
	buf_release(&line);
}

static void show(struct session *s, struct progress *p)
{
	const struct hunt *h = &s->hunt;
	char detail[160];

	if (h->lab->parts_only || hunt_vague(h))
		snprintf(detail, sizeof detail, "%+.3g +- %.2g %s by the parts alone, %llu kept",
			quantity_in_unit(h->quantity, h->running.value), quantity_in_unit(h->quantity, h->running.se),
			quantity_unit(h->quantity), (unsigned long long)h->kept);
	else
		snprintf(detail, sizeof detail, "best %+.2f%% +- %.2f, %llu kept, cached %.0f%%", -100 * hunt_gain(h),
			100 * hunt_gain_se(h), (unsigned long long)h->kept,
			h->evaluations ? 100.0 * (double)h->cached / (double)h->evaluations : 0.0);
	progress_update(p, h->evaluations, detail);
}

static int try_next(struct session *s, struct err *err)
{
	int rc;

	talk_wait("pricing a candidate", 0, now_seconds());
	rc = hunt_next(&s->hunt, err);
	talk_waited();
	return rc;
}

static int hunt_on(struct session *s, struct err *err)
{
	struct progress p = {0};
	struct state_of of = session_state(s);
	double saved = now_seconds();
	uint64_t kept = s->hunt.kept;
	int rc;

	progress_start(&p, "search", s->hunt.o.budget, s->set->quiet ? PROGRESS_QUIET : PROGRESS_AUTO);
	while ((rc = try_next(s, err)) == 1) {
		show(s, &p);
		if ((s->hunt.kept == kept || s->archive.run) && now_seconds() < saved + SAVE_SECONDS)
			continue;
		kept = s->hunt.kept;
		saved = now_seconds();
		if ((rc = output_save_state(s->dir.data, &s->hunt, &of, err)) < 0)
			break;
	}
	progress_end(&p);
	if (rc == 0) /* the verdict takes long, and may be killed too */
		rc = output_save_state(s->dir.data, &s->hunt, &of, err);
	return rc;
}

int single_end_run(struct session *s, const struct result *r, struct err *err)
{
	const struct verdict *v = &s->verdict;
	struct finding f = {.chain = s->hunt.chain, .config = s->hunt.config, .kind = v->kind, .how = "final",
		.delta = v->tuned_seconds - v->default_seconds, .default_seconds = v->default_seconds,
		.se = (v->high - v->low) / 4 * v->default_seconds};
	struct buf summary = {0};
	enum run_state state = hunt_could_go_on(&s->hunt) ? RUN_STOPPED : RUN_FINISHED;
	int rc = 0;

	if (!s->archive.run)
		return 0;
	output_summary(r, s->dir.data, true, &summary);
	if (v->measured && v->outcome == OUTCOME_OK)
		rc = run_found(s->archive.run, &f, err);
	if (rc == 0)
		rc = run_end(s->archive.run, state, summary.data, err);
	buf_release(&summary);
	return rc;
}

/*
 * Writes all files, then removes the state, then ends the run: after a kill at any point the search can go on. What was
 * found is said also if a file cannot be written.
 */
static int leave(struct session *s, const struct result *r, struct err *err)
{
	struct buf out = {0};
	int rc = output_write(s->dir.data, r, s->device, err);

	if (rc == 0 && !hunt_could_go_on(&s->hunt))
		rc = output_drop_state(s->dir.data, err);
	if (rc == 0)
		rc = single_end_run(s, r, err);
	output_summary(r, s->dir.data, s->set->json, &out);
	if (io_print(&out, rc == 0 ? err : NULL) < 0)
		rc = -1;
	buf_release(&out);
	return rc;
}

struct result single_result(struct session *s)
{
	return (struct result){.hunt = &s->hunt, .verdict = &s->verdict, .device = *s->info.backend ? &s->info : NULL,
		.graph = s->lab.subject.name, .strategy = search_strategy_name(s->hunt.o.strategy),
		.advisor = &s->advisor, .before = s->before ? s->before->dir.data : NULL,
		.first = s->first ? &s->first->hunt : NULL,
		.by_hand = &s->by_hand, .screen = &s->screen, .rival = &s->rival, .worth = &s->worth, .trim = &s->trim,
		.form = &s->form,
		.opening = s->opening};
}

/* Seconds that the user gave the verdict; 0: the search decides. */
static double verdict_seconds(const struct settings *set)
{
	return set->verdict_seconds == OPT_AUTO ? 0 : set->verdict_seconds;
}

/* Decides the form of the answer, and tells the devices of the verdict. */
static int choose_form(struct session *s, struct err *err)
{
	struct form_options o = {.codegen = s->set->codegen, .weld = s->set->weld,
		.from = s->set->from && s->set->budget == 0 ? s->set->from : NULL};
	struct buf said = {0};
	int rc = form_choose(&s->form, &s->hunt, &o, err);

	s->device_options.codegen = s->form.recode.taken;
	form_text(&s->form, &said);
	if (rc == 0 && said.len)
		talk("%s", said.data);
	buf_release(&said);
	return rc;
}

/* Did the answer fail to run, or compute other numbers? Its form may be why. */
static bool fails_in_form(const struct verdict *v)
{
	return v->outcome != OUTCOME_OK || (v->numbers.outcome != OUTCOME_OK && !v->numbers.silent);
}

int single_conclude(struct session *s, struct err *err)
{
	struct result r = single_result(s);
	struct verdict_options vo = {.device = r.device ? &s->device_options : NULL, .seconds = verdict_seconds(s->set),
		.searched = 0};
	double found, begun;
	int rc;

	if (trim_answer(&s->trim, &s->hunt, err) < 0)
		return -1;
	found = s->hunt.default_seconds + s->hunt.running.value;
	if (s->device && by_hand_add_found(&s->by_hand, &s->lab, s->device, s->hunt.config, found, err) < 0)
		return -1;
	if (worth_find(&s->worth, &s->hunt, s->lab.cost, err) < 0 || choose_form(s, err) < 0)
		return -1;
	session_give_back(s);
	if (s->lab.parts_only) {
		verdict_forgo(&s->verdict, &s->lab, s->hunt.config, &s->hunt.running);
		return leave(s, &r, err);
	}
	vo.searched = hunt_seconds(&s->hunt);
	begun = now_seconds();
	rc = verdict_reach(&s->verdict, &s->lab, s->hunt.config, &vo, err);
	while (rc == 0 && fails_in_form(&s->verdict) && form_undo(&s->form, &s->lab)) {
		s->device_options.codegen = s->form.recode.taken;
		rc = verdict_reach(&s->verdict, &s->lab, s->hunt.config, &vo, err);
	}
	if (rc == 0)
		rc = mend_answer(&s->verdict, &s->hunt, &vo, err);
	if (rc == 0 && r.device)
		rc = parts_check(&s->verdict, &s->lab, s->hunt.config, &s->device_options, err);
	r.judging = now_seconds() - begun;
	if (rc == 0 && r.device && s->verdict.tuned && !(s->device = device_open(&s->device_options, err)))
		rc = -1;
	return rc == 0 ? leave(s, &r, err) : -1;
}

/* Runs the search of a kind that decides how a program is arranged in memory, whose answer is in bytes. */
static int run_arrange(struct session *s, struct err *err)
{
	const struct settings *set = s->set;
	const char *strategy = set->strategy == STRATEGY_GUIDED ? NULL : search_strategy_name(set->strategy);
	struct arrange_settings as = {.dir = s->dir.data, .seconds = set->seconds > 0 ? set->seconds : 60,
		.verdict_seconds = verdict_seconds(set), .strategy = strategy, .budget = (uint64_t)set->steps,
		.seed = (uint64_t)set->seed, .unverified = set->unverified, .json = set->json, .quiet = set->quiet,
		.room = s->aims && s->aims->fast ? &s->aims->room : NULL};
	struct arrange a = {.set = &as, .lab = &s->lab, .device = s->device, .device_options = &s->device_options};
	struct buf out = {0};
	int rc;

	if (set->resume)
		talk("nothing to resume: decisions of the kind %s are looked for anew each time",
			s->lab.space->ops->kind->name);
	s->device = NULL; /* arrange_search closes it */
	rc = arrange_search(&a, err);
	s->beyond = rc == 0 && a.beyond;
	if (s->beyond) {
		talk("%s", a.sentence);
	} else if (rc == 0) {
		rc = arrange_write(&a, err);
		arrange_summary(&a, &out);
		if (io_print(&out, rc == 0 ? err : NULL) < 0)
			rc = -1;
	}
	buf_release(&out);
	arrange_release(&a);
	return rc;
}

int single_search(struct session *s, struct err *err)
{
	const struct settings *set = s->set;
	struct hunt_options ho = {.strategy = set->strategy, .propose = set->propose,
		.budget = (uint64_t)set->budget, .seed = (uint64_t)set->seed, .seconds = set->seconds,
		.alpha = set->alpha, .explore = set->explore, .hops = (int32_t)set->hops, .tied = set->tied,
		.adapt = set->adapt, .drift_checks = (uint32_t)set->drift_checks,
		.part_known = set->kernel_us != OPT_AUTO};
	bool chosen, promises;
	struct scorer scorer;
	int rc;

	if (s->next)
		lead_allow(&ho, set);
	s->began = now_seconds();
	rc = ahead_open(s, err);
	if (rc > LEAD_BOTH)
		return rc == LEAD_FIRST ? SINGLE_ALONE : SINGLE_LATER;
	if (rc < 0 || session_open(s, err) < 0 || (stop_asked() && !s->before))
		return session_not_opened(s, err) < 0 ? -1 : SINGLE_STOPPED;
	ahead_take(s);
	session_heed_stop(s, false);
	if (lead_belatedly(set, &s->lab.subject.graph))
		return SINGLE_LED;
	begin_talk(s);
	if (s->next && s->lab.space->ops->prepares)
		return err_set(err, "what comes of %s takes other parameters, so no other kind can go on with it: "
			"search it alone, then its tuned.pb", set->space);
	if (arranges(s))
		return run_arrange(s, err) < 0 ? -1 : SINGLE_ANSWERED;
	if (set->strategy >= STRATEGY_OWN)
		return err_set(err, "--strategy %s is for kinds that look for arrangements by themselves, on a "
			"compiler that says what these need", search_strategy_name(set->strategy));
	if (by_hand_price(&s->by_hand, &s->lab, s->device, err) < 0 || chosen_by_others(s, &chosen, err) < 0)
		return -1;
	ho.start = set->from || chosen ? HUNT_GIVEN : s->start;
	ho.given = s->given;
	if (chosen)
		ho.budget = 0; /* the hunt only measures */
	promises = !s->advisor.infer && s->lab.space->ops->promise;
	if (ho.strategy == STRATEGY_GUIDED && !s->advisor.infer && !promises)
		ho.strategy = STRATEGY_RANDOM;
	if (s->advisor.infer && set->tied)
		infer_tied(s->advisor.infer);
	scorer = promises ? scorer_of_space(s->lab.space) : scorer_of_model(&s->scoring);
	if (s->advisor.infer)
		scorer_believe(&s->scoring);
	ho.bundles = session_bundles(s);
	session_identify(s);
	session_heed_stop(s, !s->before && !s->by_hand.n && !chosen);
	if (hunt_begin(&s->hunt, &ho, &s->lab, s->advisor.infer || promises ? &scorer : NULL, err) < 0)
		return session_not_opened(s, err) < 0 ? -1 : SINGLE_STOPPED;
	session_heed_stop(s, true);
	s->opening = now_seconds() - s->began - s->screen.seconds;
	if (s->next)
		lead_bound(&s->hunt, set, s->opening);
	s->hunt.before += s->screen.seconds;
	s->hunt.evaluations += s->screen.n;
	s->hunt.measured += s->screen.n;
	return session_begin(s, err) < 0 || hunt_on(s, err) < 0 ? -1 : 0;
}
