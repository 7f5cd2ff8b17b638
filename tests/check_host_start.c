/*
 * check_host_start.c - starting a worker: with files that are no plugin, plugins that cannot start, workers that break
 * the protocol, and callers that ignore SIGCHLD. Started with BAD_WORKER set, this program is such a worker itself.
 */
#include <signal.h>
#include <unistd.h>
#include <sys/socket.h>
#include "device/backend.h"
#include "device/wire.h"
#include "tests/device_fixture.h"

/* A deadline bounds answers. However short it is, the worker gets the time to start. */
static void starting_has_its_own_time(void)
{
	struct err err = {{0}};
	struct device_options o = {.backend = fixture_plugin, .deadline = 1e-6, .wait = true};
	struct device *d = device_open(&o, &err);
	struct compiled c;

	if (!d)
		printf("FAIL: %s: %s\n", test_name, err.text);
	CHECK(d != NULL);
	CHECK(!d || fixture_compile(d, "us=20", &c) == OUTCOME_TIMEOUT);
	device_close(d);
}

static void bad_plugins(void)
{
	static const struct {
		const char *plugin, *fake, *says;
	} cases[] = {
		{"fortran", NULL, "Known are cpu"},
		{"cpuu", NULL, "did you mean --device cpu?"},
		{"gpu", NULL, "did you mean --device cuda?"},
		{"/nowhere/at/all.so", NULL, "there is no plugin at /nowhere/at/all.so"},
		{NULL, "fake:minor=10", "has PJRT API 0.10"},
		{NULL, "fake:major=1", "has PJRT API 1."},
		{NULL, "fake:client=refuse", "does not start"},
		{NULL, "fake:client=abort", "died of signal 6"},
		{NULL, "fake:client=hang", "no answer within 0.2 s"},
		{"/bin/true", NULL, "to be told"},
		{"garbage.so", NULL, "damaged or for another machine"},
	};
	char garbage[100];
	snprintf(garbage, sizeof garbage, "%s/garbage.so", fixture_folder);
	io_write_file(garbage, "\177ELF\1\1\1 not for this machine", 28, NULL);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct err err = {{0}};
		const char *plugin = cases[i].plugin ? cases[i].plugin : fixture_plugin;
		const char *says = cases[i].says;
		if (strcmp(plugin, "garbage.so") == 0)
			plugin = garbage;
		if (strcmp(plugin, "/bin/true") ==
			0) /* loads nowhere: its sentence is the loader's */
			says = "make deps";
		struct device_options o = {.backend = plugin, .wait = true};
		if (cases[i].fake)
			setenv("FAKE_PLUGIN", cases[i].fake, 1);
		if (strstr(says, "within"))
			setenv("VANTAGE_WORKER_START", "0.2", 1);
		struct device *d = device_open(&o, &err);
		unsetenv("FAKE_PLUGIN");
		unsetenv("VANTAGE_WORKER_START");
		if (d || !strstr(err.text, says)) {
			printf("FAIL: %s: %s %s: \"%s\"\n", test_name, plugin,
				cases[i].fake ? cases[i].fake : "", err.text);
			test_failed++;
		}
		device_close(d);
	}
	remove(garbage);
	CHECK(fixture_no_children());
	CHECK_INT(fixture_leftovers(), 0);
}

static void missing_plugins_and_workers(void)
{
	struct err err = {{0}};
	struct buf fetched = {0};
	struct device_options cuda = {.backend = "cuda", .wait = true},
			      fake = {.backend = fixture_plugin, .wait = true};
	setenv("VANTAGE_PLUGIN_DIR", "/nowhere", 1);
	if (backend_plugin(backend_find("cuda", NULL), "cuda", &fetched, NULL) < 0) { /* else it would start */
		CHECK(device_open(&cuda, &err) == NULL);
		CHECK(strstr(err.text, "/nowhere") && strstr(err.text, "make deps"));
	}
	buf_release(&fetched);
	unsetenv("VANTAGE_PLUGIN_DIR");
	setenv("VANTAGE_WORKER", "/nowhere/worker", 1);
	CHECK(device_open(&fake, &err) == NULL &&
		strstr(err.text, "VANTAGE_WORKER names /nowhere/worker"));
	unsetenv("VANTAGE_WORKER");
}

/* A worker that sets up well and then breaks the protocol in the way its name says. */
static int bad_worker(const char *how)
{
	struct frame f = {0};
	struct buf out = {0};
	uint8_t h[WIRE_HEADER];
	if (strcmp(how, "silent") == 0)
		pause();
	if (wire_receive(WIRE_FD, &f, NULL) != 1)
		return 1;
	buf_u8(&out, 1);
	buf_str(&out, "bad");
	buf_str(&out, "1");
	accelerator_save(&(struct accelerator){.on_host = true}, &out);
	wire_send(WIRE_FD, WIRE_SETUP, f.id, &out, NULL);
	if (wire_receive(WIRE_FD, &f, NULL) != 1)
		return 1;
	buf_reset(&out);
	buf_u8(&out, 0);
	if (strcmp(how, "close") == 0)
		return 0;
	if (strcmp(how, "linger") == 0) { /* closes the socket, but stays */
		close(WIRE_FD);
		pause();
	}
	if (strcmp(how, "half header") == 0) {
		wire_header(h, WIRE_COMPILE, f.id, 50);
		(void)!write(WIRE_FD, h, 5);
		return 0;
	}
	if (strcmp(how, "half") == 0) {
		wire_header(h, WIRE_COMPILE, f.id, 50);
		(void)!write(WIRE_FD, h, sizeof h);
		(void)!write(WIRE_FD, h, 7);
		return 0;
	}
	if (strcmp(how, "wild") == 0) {
		memset(h, 0xff, sizeof h);
		(void)!write(WIRE_FD, h, sizeof h);
		pause();
	}
	if (strcmp(how, "huge") == 0) { /* the largest that is allowed, never sent */
		wire_header(h, WIRE_COMPILE, f.id, WIRE_LIMIT);
		(void)!write(WIRE_FD, h, sizeof h);
		pause();
	}
	if (strcmp(how, "other id") == 0)
		wire_send(WIRE_FD, WIRE_COMPILE, f.id + 1, &out, NULL);
	if (strcmp(how, "other type") == 0)
		wire_send(WIRE_FD, WIRE_DROP, f.id, &out, NULL);
	if (strcmp(how, "short body") == 0)
		wire_send(WIRE_FD, WIRE_COMPILE, f.id, &out, NULL);
	if (strcmp(how, "no body") == 0)
		wire_send(WIRE_FD, WIRE_COMPILE, f.id, NULL, NULL);
	if (strcmp(how, "long body") == 0) {
		for (int i = 0; i < 500; i++)
			buf_u8(&out, 0);
		wire_send(WIRE_FD, WIRE_COMPILE, f.id, &out, NULL);
	}
	pause();
	return 0;
}

static void workers_that_break_the_protocol(void)
{
	static const struct {
		const char *how;
		enum outcome want;
	} cases[] = {
		{"close", OUTCOME_CRASHED},
		{"linger", OUTCOME_CRASHED},
		{"half header", OUTCOME_CRASHED},
		{"half", OUTCOME_CRASHED},
		{"wild", OUTCOME_CRASHED},
		{"huge", OUTCOME_TIMEOUT},
		{"other id", OUTCOME_CRASHED},
		{"other type", OUTCOME_CRASHED},
		{"short body", OUTCOME_CRASHED},
		{"no body", OUTCOME_CRASHED},
		{"long body", OUTCOME_CRASHED},
		{"nothing", OUTCOME_TIMEOUT},
	};
	char self[512];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	self[n > 0 ? n : 0] = 0;
	setenv("VANTAGE_WORKER", self, 1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		setenv("BAD_WORKER", cases[i].how, 1);
		struct device *d = fixture_open();
		struct compiled c;
		fixture_deadline(d, cases[i].want == OUTCOME_TIMEOUT ? SHORT : PATIENT);
		enum outcome o = d ? fixture_compile(d, "us=1", &c) : OUTCOME_COUNT;
		if (o != cases[i].want) {
			printf("FAIL: %s: %s gave %d\n", test_name, cases[i].how, (int)o);
			test_failed++;
		}
		/* A good worker takes over. */
		unsetenv("BAD_WORKER");
		device_close(d);
	}
	setenv("BAD_WORKER", "silent", 1);
	setenv("VANTAGE_WORKER_START", "0.2", 1);
	struct err err = {{0}};
	struct device_options opt = {.backend = fixture_plugin, .wait = true};
	CHECK(device_open(&opt, &err) == NULL && strstr(err.text, "no answer"));
	unsetenv("VANTAGE_WORKER_START");
	unsetenv("BAD_WORKER");
	unsetenv("VANTAGE_WORKER");
	CHECK(fixture_no_children());
	CHECK_INT(fixture_leftovers(), 0);
}

static void callers_that_ignore_children(void)
{
	signal(SIGCHLD, SIG_IGN);
	struct device *d = fixture_open();
	struct compiled c;
	if (d) {
		CHECK_INT(fixture_compile(d, "compile=abort", &c), OUTCOME_CRASHED);
		fixture_deadline(d, SHORT);
		CHECK_INT(fixture_compile(d, "compile=hang", &c), OUTCOME_TIMEOUT);
		fixture_deadline(d, PATIENT);
		fixture_still_works(d, "SIGCHLD ignored");
	}
	device_close(d);
	signal(SIGCHLD, SIG_DFL);
}

int main(void)
{
	if (getenv("BAD_WORKER"))
		_exit(bad_worker(getenv("BAD_WORKER"))); /* at once, without a search for leaks */
	/* In workers a crash is meant to be one; the sanitizer would spend the deadline on explaining it. */
	setenv("ASAN_OPTIONS", "handle_segv=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0:handle_sigbus=0", 1);
	if (fixture_begin()) {
		RUN(bad_plugins);
		RUN(starting_has_its_own_time);
		RUN(missing_plugins_and_workers);
		RUN(workers_that_break_the_protocol);
		RUN(callers_that_ignore_children);
	} else {
		printf("skip: start: no fake plugin: it is built once the plugin's header is there (make deps)\n");
	}
	fixture_end();
	return test_done();
}
