/*
 * fake_plugin.h - the scripts that the fake plugin obeys, and what it prints and dumps like a compiler.
 *
 * A program is any bytes with "fake:" in them, followed by name=value;name=value up to the first
 * byte that is none of letters, digits and "=;.-":
 *
 *	compile=refuse oom abort segv exit hang    what compiling does
 *	compile=kill killed    ends by SIGKILL; killed: as by a kernel that is out of memory, counted in VANTAGE_VMSTAT
 *	run=refuse oom abort hang nan mask         what running does
 *	us=100      microseconds that a run takes  noise=3    percent by which runs differ
 *	load=5      percent by which loads differ  out=2      factor of the outputs
 *	leak=64     MiB lost by each compilation   print=9000 bytes printed on stderr by compiling
 *	temporary=48 MiB that each run takes, and gives back
 *	reload=no   what it serialised cannot be loaded
 *	serial=no   it cannot serialise            after=1    how many good runs come before a crash
 *	large=2     factor of the outputs if an input exceeds 100
 *	small=2     ... if all inputs are below 0.01          zero=2  ... if all inputs are zero
 *	chaos=1     share by which the outputs change if an input changes at all
 *	type=int    the outputs are integers      busy=1     it computes while it runs, and does not sleep
 *	arranged=1  it dumps itself also as the program that is arranged in memory, before it is compiled any further
 *	needs=word  it is refused unless the options of its compilation have the word in them
 *	args=8 temp=9 peak=8    bytes of memory that it tells of its arguments, of temporary values, and at most
 *
 * What was loaded from bytes and is serialised again can be loaded, but not run, as with XLA:CPU and some programs.
 * A program has one output, f32[4]. Like XLA, the plugin dumps the program around fusion if it is asked to, and says
 * which passes it runs (TF_CPP_VMODULE); then it compiles any program.
 *
 * The environment variable FAKE_PLUGIN, in the same notation, changes what does not depend on a program:
 *
 *	minor=10    an old API                     major=1    another API
 *	client=refuse abort hang                   what making a client does
 *	platform=cuda kind=big-one number=3        it is an accelerator; by default it is the machine itself
 *	memory=4096 MiB that it says it has        inputs=8   MiB of inputs it has room for
 *	alias=1     it uses the memory of an input itself, if it may, and needs no room for it; a run then fails if the
 *		    memory was changed or taken away
 *	any=1       programs without a script are compiled too, and do nothing in 10 us
 *	crash=20    percent of such programs that abort the compiler: always the same ones, and no whole program (whole
 *		    programs have "jit_" in them)
 *	hang=20     percent of such programs whose compilation never ends, likewise
 *	whole=1000  microseconds that a run of a whole one takes
 *	slow=200    milliseconds for which compiling such a program sleeps
 *	spread=40   percent by which the times of such programs differ; the same program always takes the same
 *	crew=1      it compiles with threads, as many as it may use cores at its first compilation; a program with the
 *		    script "crew=tell" is refused with how many there are, and how many cores these and the caller use
 *	nth=5       the fifth program that a worker compiles aborts
 *	wide=50     percent of their time that programs take if they are compiled for wider vectors
 *	pieces=50   ... if their temporary memory, of temp=BYTES, is asked for in pieces
 *	welded=50   ... in which small kernels are welded
 *	applied=2   factor of the outputs of programs that are compiled with only the passes after fusion, if they have
 *		    fusions
 *	blown=99    KiB, 16 to 2,047, by which the program is larger after fusion, of a field that nobody reads
 *	passes=none twice another   what a probe of the passes finds: no passes, fusion twice, or a program that becomes
 *		    another one if it is compiled with some passes only
 */
#ifndef TESTS_FAKE_PLUGIN_H
#define TESTS_FAKE_PLUGIN_H

#include <math.h>
#include <pjrt_c_api.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct PJRT_Error {
	PJRT_Error_Code code;
	char text[128];
};
struct PJRT_Client {
	int unused;
};
struct PJRT_Device {
	int unused;
};
struct PJRT_DeviceDescription {
	int unused;
};
struct PJRT_Event {
	PJRT_Event_OnReadyCallback callback; /* to be called when the buffer goes */
	void *ctx;
};
struct PJRT_Buffer {
	long long bytes; /* of an input that has room of its own */
	const float *lent; /* the memory of one that was lent, and so many elements; NULL: none */
	size_t elements;
	PJRT_Event *done; /* ... and who is told when it is not needed any more */
	double largest; /* of an input of floats, and a hash of it */
	uint64_t hash;
	bool whole; /* an output of integers */
	float v[4];
	int64_t dims[1];
};
struct PJRT_Executable {
	char *code;
	size_t n;
	const char *script; /* in the code; found once, as each run asks it for many things */
	size_t script_len;
	int users;
	double us;     /* that a run takes */
	bool loaded;   /* from bytes, and not compiled */
	double factor; /* of the outputs, by how it was compiled */
};
struct PJRT_LoadedExecutable {
	PJRT_Executable *exe;
	double factor;
	long runs;
};
struct PJRT_SerializedExecutable {
	int unused;
};

static PJRT_Client the_client;
#define MOST_DEVICES 4
static PJRT_Device the_device, *the_devices[MOST_DEVICES] = {&the_device, &the_device, &the_device, &the_device};
static size_t n_devices = 1; /* as the client was started for */
static PJRT_Event the_event;
static uint64_t random_state = 88172645463325252u;

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Roughly normal, standard deviation 1. */
static double noise(void)
{
	double sum = 0;
	for (int i = 0; i < 12; i++) {
		random_state ^= random_state << 13;
		random_state ^= random_state >> 7;
		random_state ^= random_state << 17;
		sum += (double)(random_state >> 11) * 0x1p-53;
	}
	return sum - 6;
}

/* Returns the value of a name in the script, or NULL. */
static const char *find(const char *script, size_t n, const char *name)
{
	static char value[64];
	size_t len = strlen(name);
	for (size_t i = 0; i + len < n; i++) {
		if (memcmp(script + i, name, len) != 0 || script[i + len] != '=' ||
			(i && script[i - 1] != ':' && script[i - 1] != ';'))
			continue;
		size_t k = 0;
		for (size_t j = i + len + 1; j < n && k < sizeof value - 1; j++) {
			char c = script[j];
			if (!(c == '.' || c == '-' || (c >= '0' && c <= '9') ||
				    (c >= 'a' && c <= 'z')))
				break;
			value[k++] = c;
		}
		value[k] = 0;
		return value;
	}
	return NULL;
}

/* The part of a program that is its script; "" if it has none. */
static const char *script_of(const char *code, size_t n, size_t *len)
{
	const char *script = memmem(code, n, "fake:", 5), *end = script ? script + 5 : NULL;

	while (end && end < code + n && *end && strchr("=;.-0123456789abcdefghijklmnopqrstuvwxyz", *end))
		end++;
	*len = script ? (size_t)(end - script) : 0;
	return script ? script : "";
}

static const char *told_by(const PJRT_Executable *e, const char *name)
{
	return find(e->script, e->script_len, name);
}

static double number(const PJRT_Executable *e, const char *name, double dflt)
{
	const char *v = told_by(e, name);
	return v ? atof(v) : dflt;
}

static PJRT_Error *fail(PJRT_Error_Code code, const char *text)
{
	PJRT_Error *e = calloc(1, sizeof *e);
	e->code = code;
	snprintf(e->text, sizeof e->text, "%s", text);
	return e;
}

/* What the environment says of a name, or `dflt`. Stays as long as the process. */
static const char *told(const char *name, const char *dflt)
{
	const char *env = getenv("FAKE_PLUGIN"), *v = env ? find(env, strlen(env), name) : NULL;
	return v ? strdup(v) : dflt;
}

/* Takes so much memory, and writes to each page. */
static void *take(size_t bytes)
{
	volatile char *taken = bytes ? malloc(bytes) : NULL;
	if (bytes && !taken) {
		fprintf(stderr, "std::bad_alloc\n");
		abort();
	}
	for (size_t i = 0; i < bytes; i += 4096)
		taken[i] = 1;
	return (void *)taken;
}

/* The factor that the environment gives by this name, if the bytes have that word; else 1. */
static double percent(const void *p, size_t n, const char *word, const char *name)
{
	return memmem(p, n, word, strlen(word)) ? atof(told(name, "100")) / 100 : 1;
}

/* Does what a verb says. Returns NULL if there is no error, and for verbs that it does not know. */
static PJRT_Error *act(const char *verb, const char *doing)
{
	if (!verb)
		return NULL;
	if (strcmp(verb, "refuse") == 0)
		return fail(PJRT_Error_Code_INVALID_ARGUMENT, "the fake was told to refuse");
	if (strcmp(verb, "oom") == 0)
		return fail(
			PJRT_Error_Code_RESOURCE_EXHAUSTED, "the fake was told to have no memory");
	if (strcmp(verb, "abort") == 0) {
		fprintf(stderr,
			"WARNING: All log messages before absl::InitializeLog() is called are written to STDERR\n"
			"I0000 00:00:1795351495.072903   22963 fake.cc:59] all is well\n"
			"F0000 00:00:1795351495.074193   22963 fake.cc:60] "
			"Check failed: the fake was told to abort in %s\n"
			"*** Check failure stack trace: ***\n    @     0x7f2b1c0a3b5d  (unknown)\n",
			doing);
		abort();
	}
	if (strcmp(verb, "killed") == 0) {
		FILE *f = fopen(getenv("VANTAGE_VMSTAT"), "w");
		fputs("pgfault 123\noom_kill 4\n", f);
		fclose(f);
	}
	if (strncmp(verb, "kill", 4) == 0)
		raise(SIGKILL);
	if (strcmp(verb, "segv") == 0)
		raise(11);
	if (strcmp(verb, "exit") == 0)
		_exit(7);
	if (strcmp(verb, "hang") == 0 && getenv("VANTAGE_HANGS")) {
		fprintf(stderr, "%s\n", getenv("VANTAGE_HANGS"));
		fflush(stderr);
	}
	while (strcmp(verb, "hang") == 0)
		pause();
	return NULL;
}

/* Writes the tag of a field, in one byte or two, and how many bytes it has. */
static void put_field(FILE *f, const char *tag, size_t n)
{
	fputs(tag, f);
	for (; n > 127; n >>= 7)
		fputc((int)(n & 127) | 128, f);
	fputc((int)n, f);
}

/*
 * Writes one dumped HloProto, whose field 1 is the program, with `more` bytes in a field of its own; an empty file if
 * nobody may take it.
 */
static void dump_one(const char *folder, int n, const char *name, const PJRT_Executable *e, size_t more)
{
	char path[512];
	snprintf(path, sizeof path, "%.*s/module_0000.fake.%s.hlo.pb", n, folder, name);
	FILE *f = fopen(path, "w");
	if (!f)
		return;
	if (!e) {
		fclose(f);
		return;
	}
	put_field(f, "\x0a", e->n + (more ? more + 5 : 0));
	fwrite(e->code, 1, e->n, f);
	if (more) {
		put_field(f, "\xfa\x7f", more);
		for (size_t i = 0; i < more; i++)
			fputc(' ', f);
	}
	fclose(f);
}

/* Is somebody asking for the passes, and, if `how` is not NULL, are they to be as `how` says? */
static bool asked_for_passes(const char *how)
{
	const char *log = getenv("TF_CPP_VMODULE"), *env = getenv("FAKE_PLUGIN"), *v = env ? find(env, strlen(env),
		"passes") : NULL;
	const char *level = getenv("TF_CPP_MIN_LOG_LEVEL"); /* 0: everything is said */

	return (!level || atoi(level) == 0) && log && strstr(log, "hlo_pass_pipeline=1") &&
		(!how || (v && strcmp(v, how) == 0));
}

static void say_passes(void)
{
	const char *head = "I0000 00:00:1.2 3 hlo_pass_pipeline.cc:4]";

	if (!asked_for_passes(NULL) || asked_for_passes("none"))
		return;
	fprintf(stderr, "%s Running HLO pass pipeline on module fake: passes\n%s   HLO pass early\n", head, head);
	for (int i = 0; i < (asked_for_passes("twice") ? 2 : 1); i++)
		fprintf(stderr, "%s   HLO pass fusion\n", head);
	fprintf(stderr, "%s   HLO pass late\n%s   HLO pass early\n%s   HLO pass later\n", head, head, head);
}

/* The options are a protobuf; the folder follows its name after two pairs of tag and length. */
static void dump(const char *options, size_t n, const PJRT_Executable *e)
{
	const char *at = memmem(options, n, "xla_dump_to", 11);
	if (!at)
		return;
	size_t more = (size_t)atoi(told("blown", "0")) << 10; /* 0, or 16 KiB and more: three bytes of length */
	char folder[512];
	snprintf(folder, sizeof folder, "%.*s", at[14], at + 15);
	mkdir(folder, 0700); /* as XLA does, if it is not there */
	dump_one(at + 15, at[14], "before_optimizations", e, 0);
	dump_one(at + 15, at[14], "0000.passes.after_early.before_fusion", e, 0);
	dump_one(at + 15, at[14], "0001.passes.after_fusion.before_late", e, more);
	dump_one(at + 15, at[14], "0002.passes.after_late.before_later", NULL, 0);
	dump_one(at + 15, at[14], "cpu_after_optimizations", told_by(e, "arranged") ? e : NULL, 0);
}

#define HASH_PRIME 1099511628211u

static uint64_t hash_of(const char *code, size_t n)
{
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (uint8_t)code[i]) * HASH_PRIME;
	return h >> 32;
}

static pthread_t crew[64];
static int n_crew;

static void *wait_for_work(void *ctx)
{
	for (;;)
		pause();
	return ctx;
}

static int cores_of(pthread_t thread)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	pthread_getaffinity_np(thread, sizeof set, &set);
	return CPU_COUNT(&set);
}

/* Makes the threads that compile, once. NULL, or what a program wants to know of them. */
static PJRT_Error *raise_crew(const char *code, size_t n)
{
	const char *env = getenv("FAKE_PLUGIN"), *asked = find(code, n, "crew");
	char text[64];

	if (!env || !find(env, strlen(env), "crew"))
		return NULL;
	for (int cores = n_crew ? 0 : cores_of(pthread_self()); n_crew < cores && n_crew < 64; n_crew++)
		pthread_create(&crew[n_crew], NULL, wait_for_work, NULL);
	snprintf(text, sizeof text, "%d threads on %d cores, asked on %d", n_crew, cores_of(crew[0]),
		cores_of(pthread_self()));
	return asked ? fail(PJRT_Error_Code_INVALID_ARGUMENT, text) : NULL;
}

/* Returns a factor between 1 and 1 + spread, the same for the same program. */
static double slower(const char *code, size_t n)
{
	const char *env = getenv("FAKE_PLUGIN"), *v = env ? find(env, strlen(env), "spread") : NULL;

	if (!v || memmem(code, n, "fake:", 5))
		return 1;
	return 1 + atof(v) / 100 * (double)(hash_of(code, n) % 1000) / 1000;
}

/* Notes the largest of an input's floats, and a hash of them. */
static void look_at(PJRT_Buffer *b, const float *data)
{
	b->largest = 0;
	b->hash = 0;
	for (size_t i = 0; i < b->elements; i++) {
		uint32_t bits;
		memcpy(&bits, data + i, 4);
		b->largest = fmax(b->largest, fabs((double)data[i]));
		b->hash = (b->hash ^ bits) * HASH_PRIME;
	}
	b->hash >>= 32;
}

/* Is the memory that was lent still as it was? */
static bool kept(const PJRT_Buffer *b)
{
	PJRT_Buffer now = *b;

	if (b->lent)
		look_at(&now, b->lent);
	return now.hash == b->hash;
}

#endif
