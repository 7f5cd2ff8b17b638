/*
 * check_shelf.c - the place of a user's models: which model is found there, and that it always holds a whole one.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/io.h"
#include "learn/feature.h"
#include "learn/shelf.h"
#include "tests/test.h"

static char dir[] = "/tmp/vantage-shelf-XXXXXX";
static const struct shelf at = {.backend = "sim", .kind = COST_MODELLED, .space = "fusion/binary"};

/* Makes a model that is recognised by its number of steps. */
static struct model *model_of(uint64_t steps)
{
	struct model *m = MEM_NEW(1, struct model);
	struct net_size size = {.width = 8, .head = 8, .layers = 2, .opcodes = OP_COUNT + 1, .dtypes = FEATURE_DTYPES,
		.node_features = NODE_FEATURES, .flip_features = FLIP_FEATURES};
	struct rng r;

	m->facts = (struct model_facts){.backend = mem_strdup("sim"), .space = mem_strdup("fusion"),
		.kind = COST_MODELLED, .steps = steps};
	rng_seed(&r, steps);
	net_init(&m->net, &size);
	net_randomise(&m->net, &r);
	return m;
}

static uint64_t steps_at(const char *path)
{
	struct err err = {0};
	struct model *m = model_read(path, &err);
	uint64_t steps = m ? m->facts.steps : 0;

	if (!m)
		printf("%s\n", err.text);
	model_free(m);
	return steps;
}

static void home_is(const char *data, const char *home)
{
	data ? setenv("XDG_DATA_HOME", data, 1) : unsetenv("XDG_DATA_HOME");
	home ? setenv("HOME", home, 1) : unsetenv("HOME");
}

static void the_place(void)
{
	static const struct {
		const char *data, *home, *backend, *space, *want;
	} cases[] = {
		{"/d", "/h", "cpu", "fusion", "/d/vantage/models/cpu/measured/fusion.vm"},
		{"/d", "/h", "cpu", "fusion/binary", "/d/vantage/models/cpu/measured/fusion.vm"},
		{"/d", NULL, "formula", "toy:40:2", "/d/vantage/models/formula/measured/toy.vm"},
		{NULL, "/h", "cpu", "fusion", "/h/.local/share/vantage/models/cpu/measured/fusion.vm"},
		{"", "/h", "cpu", "fusion", "/h/.local/share/vantage/models/cpu/measured/fusion.vm"},
		{"relative/d", "/h", "cpu", "fusion", "/h/.local/share/vantage/models/cpu/measured/fusion.vm"},
		{"/d", "/h", "../x/plugin so", "fusion", "/d/vantage/models/-.-x-plugin-so/measured/fusion.vm"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct shelf x = {cases[i].backend, COST_MEASURED, cases[i].space, QUANTITY_SECONDS};
		struct buf path = {0};
		struct err err = {0};
		home_is(cases[i].data, cases[i].home);
		CHECK_INT(shelf_path(&x, &path, &err), 0);
		CHECK_STR(path.data, cases[i].want);
		buf_release(&path);
	}
}

/* Puts models 1 and 2, and then model 3, with each system call failing in turn: model 2 or 3 is there, and whole. */
static void failures_leave_a_whole_model(void)
{
	struct model *m[3] = {model_of(1), model_of(2), model_of(3)};
	struct buf path = {0}, before = {0}, notes = {0};
	struct err err = {0};
	long calls;

	home_is(dir, NULL);
	CHECK_INT(shelf_path(&at, &path, &err), 0);
	buf_addf(&before, "%s.before", path.data);
	CHECK_INT(shelf_prepare(path.data, &err), 0);
	CHECK_INT(shelf_put(path.data, m[0], &err), 0);
	CHECK(!io_exists(before.data));
	CHECK_INT(shelf_put(path.data, m[1], &err), 0);
	CHECK_INT(steps_at(path.data), 2);
	CHECK_INT(steps_at(before.data), 1);
	io_fail_at(-1, 0);
	CHECK_INT(shelf_put(path.data, m[1], &err), 0);
	calls = io_fail_at(-1, 0);
	CHECK(calls > 8);
	for (long n = 0; n < calls; n++) {
		struct err why = {0};
		int rc;
		io_fail_at(n, 28 /* no space */);
		rc = shelf_put(path.data, m[2], &why);
		io_fail_at(-1, 0);
		CHECK((rc < 0) == (*why.text != 0));
		CHECK(steps_at(path.data) == 2 || steps_at(path.data) == 3);
		CHECK(steps_at(before.data) > 0);
		CHECK_INT(shelf_put(path.data, m[1], &err), 0);
	}
	for (int i = 0; i < 3; i++)
		model_free(m[i]);
	buf_release(&path), buf_release(&before), buf_release(&notes);
}

/* A child puts models 4 and 5 in turn, and says when it begins. It is killed after some of them, at any point. */
static void killed_anywhere_it_holds_a_whole_model(void)
{
	struct buf path = {0}, before = {0};
	struct err err = {0};

	home_is(dir, NULL);
	shelf_path(&at, &path, &err);
	buf_addf(&before, "%s.before", path.data);
	for (int round = 0; round < 30; round++) {
		int say[2], status, lock;
		char c;
		pid_t pid;
		CHECK(pipe(say) == 0);
		if ((pid = fork()) == 0) {
			for (uint64_t k = 4;; k = 9 - k) {
				struct model *m = model_of(k);
				lock = shelf_lock(path.data, &err);
				if (lock < 0 || write(say[1], "x", 1) != 1 || shelf_put(path.data, m, &err) < 0)
					_exit(1);
				shelf_unlock(lock);
				model_free(m);
			}
		}
		for (int k = 0; k <= round % 4; k++)
			CHECK_INT(read(say[0], &c, 1), 1);
		for (volatile int spin = 0; spin < round * 2000; spin++) /* somewhere else in the put each time */
			continue;
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		CHECK(WIFSIGNALED(status));
		close(say[0]), close(say[1]);
		CHECK(steps_at(path.data) > 0 && steps_at(before.data) > 0);
		lock = shelf_lock(path.data, &err); /* went with the child */
		CHECK(lock >= 0);
		shelf_unlock(lock);
	}
	setenv("PLACE", path.data, 1);
	/* what they left went with the next lock */
	CHECK_INT(system("! ls -A \"$(dirname \"$PLACE\")\" | grep -q tmp"), 0);
	buf_release(&path), buf_release(&before);
}

static void what_is_found(void)
{
	static const struct shelf other = {.backend = "sim", .kind = COST_MODELLED, .space = "toy"};
	struct buf path = {0}, found = {0}, notes = {0}, text = {0};
	struct err err = {0};
	struct model *a = model_of(6), *b = model_of(7), *m;
	char hex[65];

	home_is(dir, NULL);
	shelf_path(&at, &path, &err);
	CHECK(shelf_put(path.data, a, &err) == 0 && shelf_put(path.data, b, &err) == 0);
	m = shelf_find(&at, &found, &notes);
	if (!CHECK(m && m->facts.steps == 7) || !CHECK_STR(found.data, path.data) || !CHECK_INT(notes.len, 0))
		return;
	model_free(m);
	CHECK(!shelf_find(&other, &found, &notes));
	shelf_list(&text, false);
	CHECK(strstr(text.data, path.data) && strstr(text.data, ".before\n") && strstr(text.data, "older file"));
	/* By its sum also the one before; one that fits nobody is passed over with a word. */
	buf_adds(&path, ".before");
	m = model_read(path.data, &err);
	digest_hex(&m->sum, hex);
	model_free(m);
	m = shelf_find_sum(&at, hex, &found);
	CHECK(m && m->facts.steps == 6);
	model_free(m);
	path.data[path.len - strlen(".before")] = 0;
	CHECK_INT(io_write_file(path.data, "nonsense", 8, &err), 0);
	CHECK(!shelf_find(&at, &found, &notes));
	CHECK(strstr(notes.data, "passed over") != NULL);
	CHECK_INT(shelf_put(path.data, b, &err), 0); /* also what cannot be read is moved aside */
	model_free(a), model_free(b);
	buf_release(&path), buf_release(&found), buf_release(&notes), buf_release(&text);
}

int main(void)
{
	struct err err = {0};

	if (!mkdtemp(dir))
		return 1;
	RUN(the_place);
	RUN(failures_leave_a_whole_model);
	RUN(killed_anywhere_it_holds_a_whole_model);
	RUN(what_is_found);
	io_remove_tree(dir, &err);
	return test_done();
}
