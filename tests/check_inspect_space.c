/*
 * check_inspect_space.c - what `inspect` prints about a space, on toys and on a small program under the performance
 * model.
 */
#include "inspect/space.h"
#include "ready/subject.h"
#include "tests/test.h"

static struct device *sim;

static const char *inspect(struct inspect_space o, struct buf *out)
{
	static struct err err;
	err.text[0] = 0;
	buf_reset(out);
	buf_adds(out, "");
	return inspect_space(&o, out, &err) == 0 ? out->data : err.text;
}

static void toys_are_described(void)
{
	struct buf b = {0};
	const char *t = inspect((struct inspect_space){.path = "toy:50:4:2"}, &b);
	CHECK(strstr(t, "toy:2:4, 50 sites") && strstr(t, "50 with 4") && strstr(t, "plain by default"));
	t = inspect((struct inspect_space){.path = "toy:50:4:2", .json = true}, &b);
	CHECK(t[0] == '{' && strstr(t, "\"sites\": 50") && strstr(t, "\"4\": 50"));
	t = inspect((struct inspect_space){.path = "toy:50:4:2", .nodes = "^(tanh|add)"}, &b);
	CHECK(strstr(t, "site      add.36") && !strstr(t, "site      abs."));
	t = inspect((struct inspect_space){.path = "toy:50:4:2", .nodes = "("}, &b);
	CHECK(strstr(t, "("));
	buf_release(&b);
}

static void fusion_is_described(void)
{
	struct buf b = {0};
	struct inspect_space o = {.path = "examples/graphs/tiny/chain.pb.zst", .device = sim};
	const char *t = inspect(o, &b);
	if (!CHECK(strstr(t, "groups, ") && strstr(t, "choices   ") && strstr(t, "decoded")))
		printf("%s\n", t);
	o.path = "examples/graphs/tiny/nothing.pb.zst";
	t = inspect(o, &b);
	if (!CHECK(strstr(t, "nothing to decide")))
		printf("%s\n", t);
	buf_release(&b);
}

/* Under the performance model the regions and the whole programs agree, so both figures are the same. */
static void flips_are_measured_both_ways(void)
{
	struct buf b = {0};
	struct subject s = {0};
	struct inspect_space o = {.path = "examples/graphs/tiny/chain.pb.zst", .device = sim};
	double region, whole, se;
	unsigned choice;
	const char *t, *line;
	if (!CHECK(subject_open(&s, o.path, NULL, sim, NULL) == 0 && s.space->n_sites > 0))
		return;
	o.flip = s.graph.node[s.space->site[0].node].proto->name;
	t = inspect(o, &b);
	line = strstr(t, "choice ");
	if (CHECK(line) && CHECK_INT(sscanf(line, "choice %u region %lf +- %lf", &choice, &region, &se), 3) &&
		CHECK(line = strstr(line, "whole")) && CHECK_INT(sscanf(line, "whole %lf", &whole), 1)) {
		CHECK_NEAR(region, whole, 0.002);
		CHECK(choice != s.space->site[0].dflt && region != 0);
	} else {
		printf("%s\n", t);
	}
	o.json = true;
	t = inspect(o, &b);
	CHECK(strstr(t, "\"choices_measured\": ["));
	subject_release(&s);
	buf_release(&b);
}

static void refusals_are_sentences(void)
{
	struct buf b = {0};
	CHECK(strstr(inspect((struct inspect_space){.path = "absent.pb"}, &b), "absent.pb"));
	CHECK(strstr(inspect((struct inspect_space){.path = "toy:5", .flip = "nobody"}, &b), "nobody"));
	CHECK(strstr(inspect((struct inspect_space){.path = "toy:5", .flip = "parameter.1"}, &b), "nothing to decide"));
	CHECK(strstr(inspect((struct inspect_space){.path = "toy:5", .kind = "x"}, &b), "toy:5"));
	struct subject s = {0};
	if (CHECK(subject_open(&s, "examples/graphs/tiny/chain.pb.zst", NULL, NULL, NULL) == 0))
		CHECK(strstr(inspect((struct inspect_space){.path = "examples/graphs/tiny/chain.pb.zst",
			.flip = s.graph.node[s.space->site[0].node].proto->name}, &b), "without a device"));
	subject_release(&s);
	buf_release(&b);
}

int main(void)
{
	struct device_options o = {.backend = "sim"};
	sim = device_open(&o, NULL);
	RUN(toys_are_described);
	RUN(fusion_is_described);
	RUN(flips_are_measured_both_ways);
	RUN(refusals_are_sentences);
	device_close(sim);
	return test_done();
}
