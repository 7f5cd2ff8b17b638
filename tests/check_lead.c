/*
 * check_lead.c - which kinds of decision a search takes if the user names none, and how much of it the first may use.
 */
#include <stdlib.h>
#include <unistd.h>
#include "base/io.h"
#include "device/backend.h"
#include "search/lead.h"
#include "tests/test.h"

/* A depthwise layer. */
static const char program[] =
	"HloModule m\n\nENTRY e {\n"
	"  x = f32[1,60,60,32] parameter(0)\n  k = f32[3,3,1,32] parameter(1)\n"
	"  ROOT y = f32[1,60,60,32] convolution(x, k), window={size=3x3 pad=1_1x1_1}, "
	"dim_labels=b01f_01io->b01f, feature_group_count=32\n}\n";
static const char nothing[] = "HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] sine(x)\n}\n";

static void a_share_of_the_program_must_be_promised(void)
{
	static const struct {
		const char *text;
		double seconds;
		bool leads;
	} table[] = {{program, 1e-6, true}, {program, 1e6, false}, {nothing, 1e-9, false}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct graph g;
		struct err err = {0};
		if (!CHECK_INT(graph_parse(&g, table[i].text, strlen(table[i].text), "m", &err), 0))
			return;
		CHECK_INT(lead_promises(&g, table[i].seconds), table[i].leads);
		graph_release(&g);
	}
}

static char path[] = "/tmp/vantage-lead-XXXXXX";

static struct settings asked(void)
{
	return (struct settings){.graph = path, .space = LEAD_AUTO, .device = backend_first(), .start = SETTINGS_BETTER,
		.strategy = STRATEGY_GUIDED};
}

/* Returns the kinds that are decided, a comma between them. */
static const char *settled(struct settings set)
{
	static struct settings last;

	lead_settle(&set);
	last = set;
	return last.kinds_chosen ? last.kind : last.space;
}

static void only_programs_that_are_timed_from_the_default_are_led(void)
{
	const char *both = "rewrite,fusion", *one = "fusion", *limit = "bytes:+0%";
	struct settings s = asked();
	struct err err = {0};
	int fd = mkstemp(path);

	if (!CHECK(fd >= 0 && io_write_file(path, program, strlen(program), &err) == 0))
		return;
	close(fd);
	CHECK_STR(settled(s), both);
	s.objective = "seconds";
	CHECK_STR(settled(s), both);
	s.objective = "bytes";
	CHECK_STR(settled(s), one);
	s = asked();
	s.device = "sim";
	CHECK_STR(settled(s), one);
	s = asked();
	s.from = "/nowhere";
	CHECK_STR(settled(s), one);
	s = asked();
	s.start = "random";
	CHECK_STR(settled(s), one);
	s = asked();
	s.strategy = STRATEGY_SWEEP;
	CHECK_STR(settled(s), one);
	s = asked();
	s.unverified = true;
	CHECK_STR(settled(s), one);
	s = asked();
	s.limits = (struct opt_list){.item = &limit, .n = 1};
	CHECK_STR(settled(s), one);
	s = asked();
	s.graph = "/nowhere/program.pb";
	CHECK_STR(settled(s), one);
	s = asked();
	s.space = "order"; /* the user's word */
	CHECK_STR(settled(s), "order");
	CHECK(io_write_file(path, nothing, strlen(nothing), &err) == 0);
	CHECK_STR(settled(asked()), one);
	remove(path);
}

static void what_is_not_used_is_the_next_ones(void)
{
	struct settings s = asked();
	struct hunt h = {.started = 0, .ended = 10, .evaluations = 30};
	struct hunt_options o = {0};

	s.seconds = 100;
	s.budget = 200;
	lead_allow(&o, &s);
	CHECK(o.seconds == 50 && o.budget == 100 && o.patience > 0);
	lead_spend(&h, &s);
	CHECK(s.seconds == 90 && s.budget == 170);
	h.known = 28; /* all but two of them had been tried before */
	lead_spend(&h, &s);
	CHECK(s.budget == 168);
	h.known = 0;
	h.ended = 80; /* a last check took longer than it should */
	lead_spend(&h, &s);
	CHECK(s.seconds == 40);
	h.evaluations = 1000;
	lead_spend(&h, &s);
	CHECK(s.budget == 0);
}

/* A hunt of three sites, whose checks of the whole program take so long. */
static void hunt_checked_in(struct hunt *h, struct space *s, struct lab *lab, double seconds)
{
	static const struct space_ops none;

	*s = (struct space){.n_sites = 3, .ops = &none};
	*lab = (struct lab){.space = s};
	*h = (struct hunt){.lab = lab, .s = s, .n_check = 1, .checking = seconds, .o.budget = 100};
}

static void seconds_are_bound_where_kinds_were_not_named(void)
{
	struct settings s = asked();
	struct space space;
	struct hunt h;
	struct lab lab;

	hunt_checked_in(&h, &space, &lab, 1);
	lead_bound(&h, &s, 100);
	CHECK(h.o.seconds == 0);
	s.kinds_chosen = true;
	lead_bound(&h, &s, 1);
	CHECK(h.o.seconds == 120);
	h.o.seconds = 0;
	lead_bound(&h, &s, 100);
	CHECK(h.o.seconds == 1000);
	h.checking = 2900; /* a check may take longer */
	lead_bound(&h, &s, 1);
	CHECK(h.o.seconds == 1000); /* the user's, as far as it knows */
	CHECK_INT(h.o.budget, 100);
}

static void nothing_is_tried_that_cannot_be_checked(void)
{
	struct settings s = asked();
	struct space space;
	struct hunt h;
	struct subject later = {0};
	struct lab lab;

	s.kinds_chosen = true;
	hunt_checked_in(&h, &space, &lab, 59);
	h.o.seconds = 20;
	lead_bound(&h, &s, 100);
	CHECK_INT(h.o.budget, 100);
	h.o.seconds = 20;
	h.checking = 61;
	lead_bound(&h, &s, 100);
	CHECK_INT(h.o.budget, 0);
	hunt_checked_in(&h, &space, &lab, 61);
	h.o.seconds = 20;
	s.seconds = 40;
	later.extract_seconds = 30; /* it is compiled and loaded */
	CHECK_INT(lead_turns(&s, &later), LEAD_BOTH);
	later.extract_seconds = 31;
	CHECK_INT(lead_turns(&s, &later), LEAD_FIRST);
	buf_adds(&later.bytes, "ab");
	buf_adds(&later.opened.after, "ababab");
	CHECK_INT(lead_turns(&s, &later), LEAD_FIRST);
	buf_adds(&later.opened.after, "a"); /* what the compiler blows up is better decided by its own kind */
	CHECK_INT(lead_turns(&s, &later), LEAD_LATER);
	s.kinds_chosen = false; /* who names a kind has all of it */
	CHECK_INT(lead_turns(&s, &later), LEAD_BOTH);
	subject_release(&later);
	lead_bound(&h, &s, 100);
	CHECK_INT(h.o.budget, 100);
}

int main(void)
{
	RUN(a_share_of_the_program_must_be_promised);
	RUN(only_programs_that_are_timed_from_the_default_are_led);
	RUN(what_is_not_used_is_the_next_ones);
	RUN(seconds_are_bound_where_kinds_were_not_named);
	RUN(nothing_is_tried_that_cannot_be_checked);
	return test_done();
}
