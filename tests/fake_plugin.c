/*
 * fake_plugin.c - a PJRT plugin that does what the program's name says.
 *
 * Built as a shared library that exports GetPjrtApi, so the worker cannot tell it from a compiler.
 *A program is any bytes with "fake:" in them, followed by name=value;name=value up to the first
 *byte that is none of letters, digits and "=;.-":
 *
 *	compile=refuse oom abort segv exit hang    what compiling does
 *	compile=kill killed    ends by SIGKILL; by that of a kernel that has no memory left, and counts it in VANTAGE_VMSTAT
 *	run=refuse oom abort hang nan              what running does
 *	us=100      microseconds a run takes       noise=3    percent each run differs by
 *	load=5      percent each load differs by   out=2      factor of the outputs
 *	leak=64     MiB lost by each compile       print=9000 bytes printed on stderr by compiling
 *	reload=no   what it serialised cannot be loaded
 *	serial=no   it cannot serialise            after=1 makes a crash come after so many good
 *runs
 *	large=2     factor of the outputs where an input exceeds 100
 *	small=2     ... where all are below 0.01   zero=2  ... where all are zero
 *	chaos=1     the outputs change by as much where an input changes at all
 *	type=int    the outputs are integers
 *
 * It has one output, f32[4], and dumps the program around fusion if asked to like XLA. The
 * environment variable FAKE_PLUGIN in the same notation changes what comes before any program:
 * minor=10 (an old API), major=1, client=refuse abort hang; platform=cuda, kind=big-one, number=3,
 * memory=4096 (MiB; it does not say unless told) make it an accelerator, for it is the machine itself
 * by default; inputs=8 (MiB of inputs it has room for); any=1 (programs without a script are
 * compiled too, and do nothing in 10 us), crash=20 (percent of such programs, always the same ones,
 * that abort the compiler; never those with "jit_" in them, as whole programs have), hang=20 (the same,
 * and they never come back), spread=40 (percent
 * that such programs' times differ by, always the same for the same program), nth=5 (whatever a
 * worker compiles as its fifth program aborts), applied=2 (factor of the outputs of what is compiled with the passes after
 * fusion only). Asked to say which passes it runs (TF_CPP_VMODULE) it says so like XLA, and compiles any program;
 * passes=none, twice (fusion is run twice), another (what is compiled with some passes only becomes another program)
 * are what a probe of them can meet.
 */
#include <math.h>
#include <pjrt_c_api.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	int unused;
};
struct PJRT_Buffer {
	long long bytes; /* of an input */
	double largest; /* of an input of floats, and a hash of it */
	uint64_t hash;
	bool whole; /* an output of integers */
	float v[4];
	int64_t dims[1];
};
struct PJRT_Executable {
	char *code;
	size_t n;
	int users;
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
static PJRT_Device the_device, *the_devices[1] = {&the_device};
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

/* The value of a name in the script, or NULL. */
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

static double number(const PJRT_Executable *e, const char *name, double dflt)
{
	const char *v = find(e->code, e->n, name);
	return v ? atof(v) : dflt;
}

static PJRT_Error *fail(PJRT_Error_Code code, const char *text)
{
	PJRT_Error *e = calloc(1, sizeof *e);
	e->code = code;
	snprintf(e->text, sizeof e->text, "%s", text);
	return e;
}

/* Does what a verb says; NULL for what it does not know. */
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
			"F0000 00:00:1795351495.074193   22963 fake.cc:60] Check failed: the fake was told to abort in %s\n"
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
	while (strcmp(verb, "hang") == 0)
		pause();
	return NULL;
}

static void error_destroy(PJRT_Error_Destroy_Args *a)
{
	free(a->error);
}
static void error_message(PJRT_Error_Message_Args *a)
{
	a->message = a->error->text;
	a->message_size = strlen(a->message);
}
static PJRT_Error *error_code(PJRT_Error_GetCode_Args *a)
{
	a->code = a->error->code;
	return NULL;
}
static PJRT_Error *initialise(PJRT_Plugin_Initialize_Args *a)
{
	(void)a;
	return NULL;
}
static PJRT_Error *event_destroy(PJRT_Event_Destroy_Args *a)
{
	(void)a;
	return NULL;
}
static PJRT_Error *event_await(PJRT_Event_Await_Args *a)
{
	(void)a;
	return NULL;
}
static PJRT_Error *client_create(PJRT_Client_Create_Args *a)
{
	const char *env = getenv("FAKE_PLUGIN");
	random_state ^= (uint64_t)getpid() * 0x9e3779b97f4a7c15u;
	a->client = &the_client;
	return env ? act(find(env, strlen(env), "client"), "starting") : NULL;
}
static PJRT_Error *client_destroy(PJRT_Client_Destroy_Args *a)
{
	(void)a;
	return NULL;
}
/* What the environment says of a name, or `dflt`. Stays as long as the process. */
static const char *told(const char *name, const char *dflt)
{
	const char *env = getenv("FAKE_PLUGIN"), *v = env ? find(env, strlen(env), name) : NULL;

	return v ? strdup(v) : dflt;
}

static PJRT_Error *platform_name(PJRT_Client_PlatformName_Args *a)
{
	a->platform_name = told("platform", "cpu");
	a->platform_name_size = strlen(a->platform_name);
	return NULL;
}
static PJRT_DeviceDescription the_description;
static PJRT_Error *get_description(PJRT_Device_GetDescription_Args *a)
{
	a->device_description = &the_description;
	return NULL;
}
static PJRT_Error *device_kind(PJRT_DeviceDescription_Kind_Args *a)
{
	a->device_kind = told("kind", "cpu");
	a->device_kind_size = strlen(a->device_kind);
	return NULL;
}
static PJRT_Error *device_id(PJRT_DeviceDescription_Id_Args *a)
{
	a->id = atoi(told("number", "0"));
	return NULL;
}
static PJRT_Error *hardware_id(PJRT_Device_LocalHardwareId_Args *a)
{
	a->local_hardware_id = atoi(told("number", "-1"));
	return NULL;
}
static PJRT_Error *device_memory(PJRT_Device_MemoryStats_Args *a)
{
	const char *v = told("memory", NULL);

	if (!v)
		return fail(PJRT_Error_Code_UNIMPLEMENTED, "the fake does not say how much memory it has");
	a->bytes_limit = atoll(v) << 20;
	a->bytes_limit_is_set = true;
	return NULL;
}
static PJRT_Error *platform_version(PJRT_Client_PlatformVersion_Args *a)
{
	a->platform_version = "fake 1";
	a->platform_version_size = 6;
	return NULL;
}
static PJRT_Error *devices(PJRT_Client_AddressableDevices_Args *a)
{
	a->addressable_devices = the_devices;
	a->num_addressable_devices = 1;
	return NULL;
}

/* One dumped HloProto: field 1 is the program; empty for files nobody may take. */
static void dump_one(const char *folder, int n, const char *name, const PJRT_Executable *e)
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
	fputc(0x0a, f);
	for (size_t left = e->n;; left >>= 7) {
		fputc((int)(left & 127) | (left > 127 ? 128 : 0), f);
		if (left <= 127)
			break;
	}
	fwrite(e->code, 1, e->n, f);
	fclose(f);
}

/* Is somebody asking for the passes? With `how` NULL, or are they to be as `how` says. */
static bool asked_for_passes(const char *how)
{
	const char *log = getenv("TF_CPP_VMODULE"), *env = getenv("FAKE_PLUGIN"), *v = env ? find(env, strlen(env), "passes") : NULL;
	const char *level = getenv("TF_CPP_MIN_LOG_LEVEL"); /* 0: everything is said */

	return (!level || atoi(level) == 0) && log && strstr(log, "hlo_pass_pipeline=1") && (!how || (v && strcmp(v, how) == 0));
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
	dump_one(at + 15, at[14], "before_optimizations", e);
	dump_one(at + 15, at[14], "0000.passes.after_early.before_fusion", e);
	dump_one(at + 15, at[14], "0001.passes.after_fusion.before_late", e);
	dump_one(at + 15, at[14], "0002.passes.after_late.before_later", NULL);
	dump_one(at + 15, at[14], "cpu_after_optimizations", NULL);
}

static uint64_t hash_of(const char *code, size_t n)
{
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (uint8_t)code[i]) * 1099511628211u;
	return h >> 32;
}

/* Between 1 and 1 + spread for a program without a script. */
static double slower(const char *code, size_t n)
{
	const char *env = getenv("FAKE_PLUGIN"), *v = env ? find(env, strlen(env), "spread") : NULL;

	if (!v || memmem(code, n, "fake:", 5))
		return 1;
	return 1 + atof(v) / 100 * (double)(hash_of(code, n) % 1000) / 1000;
}

static PJRT_LoadedExecutable *load(PJRT_Executable *e)
{
	PJRT_LoadedExecutable *l = calloc(1, sizeof *l);
	l->exe = e;
	l->factor = (1 + noise() * number(e, "load", 0) / 100) * slower(e->code, e->n);
	e->users++;
	return l;
}
static void release(PJRT_Executable *e)
{
	if (--e->users)
		return;
	free(e->code);
	free(e);
}
static PJRT_Executable *keep(const char *code, size_t n)
{
	PJRT_Executable *e = calloc(1, sizeof *e);
	e->code = malloc(n + 1);
	memcpy(e->code, code, n);
	e->n = n;
	e->users = 1;
	e->factor = 1;
	return e;
}

/* A program without a script: NULL when it may be compiled. */
static PJRT_Error *judge(const char *code, size_t n)
{
	static int compiled;
	const char *env = getenv("FAKE_PLUGIN"), *v;

	if (asked_for_passes(NULL))
		return NULL;
	v = env ? find(env, strlen(env), "nth") : NULL;
	if (v && ++compiled == atoi(v))
		return act("abort", "compile");
	v = env ? find(env, strlen(env), "any") : NULL;
	if (!v)
		return fail(PJRT_Error_Code_INVALID_ARGUMENT,
			"the fake only compiles programs with a script");
	if (memmem(code, n, "jit_", 4))
		return NULL;
	v = find(env, strlen(env), "hang");
	if (v && hash_of(code, n) % 100 < (uint64_t)atoi(v))
		return act("hang", "compile");
	v = find(env, strlen(env), "crash");
	return v && hash_of(code, n) % 100 < (uint64_t)atoi(v) ? act("abort", "compile") : NULL;
}

static PJRT_Error *client_compile(PJRT_Client_Compile_Args *a)
{
	if (!memmem(a->program->code, a->program->code_size, "fake:", 5)) {
		PJRT_Error *error = judge(a->program->code, a->program->code_size);
		if (error)
			return error;
	}
	PJRT_Executable *e = keep(a->program->code, a->program->code_size);
	dump(a->compile_options, a->compile_options_size, e);
	say_passes();
	const char *env = getenv("FAKE_PLUGIN"), *applied = env ? find(env, strlen(env), "applied") : NULL;
	if (applied && memmem(a->compile_options, a->compile_options_size, "xla_enable_hlo_passes_only", 26))
		e->factor = atof(applied);
	if (asked_for_passes("another") && memmem(a->compile_options, a->compile_options_size, "xla_enable_hlo_passes_only", 26))
		e->n--;
	for (double left = number(e, "print", 0); left > 0; left -= 64)
		fprintf(stderr, "%063d\n", (int)left);
	size_t leak = (size_t)number(e, "leak", 0) << 20;
	char *lost = leak ? malloc(leak) : NULL;
	if (leak && !lost) {
		fprintf(stderr, "std::bad_alloc\n");
		abort();
	}
	for (size_t i = 0; i < leak; i += 4096)
		((volatile char *)lost)[i] = 1;
	PJRT_Error *error = act(find(e->code, e->n, "compile"), "compile");
	if (!error)
		a->executable = load(e);
	release(e);
	return error;
}
static PJRT_Error *loaded_destroy(PJRT_LoadedExecutable_Destroy_Args *a)
{
	release(a->executable->exe);
	free(a->executable);
	return NULL;
}
static PJRT_Error *get_executable(PJRT_LoadedExecutable_GetExecutable_Args *a)
{
	a->executable = a->loaded_executable->exe;
	a->executable->users++;
	return NULL;
}
static PJRT_Error *executable_destroy(PJRT_Executable_Destroy_Args *a)
{
	release(a->executable);
	return NULL;
}
static PJRT_Error *outputs(PJRT_Executable_NumOutputs_Args *a)
{
	a->num_outputs = 1;
	return NULL;
}
static PJRT_Error *code_size(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args *a)
{
	a->size_in_bytes = 4096;
	return NULL;
}
static PJRT_Error *cost_analysis(PJRT_Executable_GetCostAnalysis_Args *a)
{
	static PJRT_NamedValue v[1];
	v[0].name = "flops";
	v[0].name_size = 5;
	v[0].type = PJRT_NamedValue_kFloat;
	v[0].float_value = 8;
	a->properties = v;
	a->num_properties = 1;
	return NULL;
}
static PJRT_Error *memory_stats(PJRT_Executable_GetCompiledMemoryStats_Args *a)
{
	a->peak_memory_in_bytes = 12345;
	a->temp_size_in_bytes = (int64_t)(a->executable->n % 12000);
	return NULL;
}

/* The program itself, as field 1 of a module with its configuration. */
static PJRT_Error *optimised(PJRT_Executable_OptimizedProgram_Args *a)
{
	size_t n = a->executable->n, head = 1;
	for (size_t left = n; left > 127; left >>= 7)
		head++;
	a->program->format = "hlo_with_config";
	a->program->format_size = strlen(a->program->format);
	if (a->program->code) {
		uint8_t *p = (uint8_t *)a->program->code;
		*p++ = 0x0a;
		for (size_t left = n;; left >>= 7) {
			*p++ = (uint8_t)((left & 127) | (left > 127 ? 128 : 0));
			if (left <= 127)
				break;
		}
		memcpy(p, a->executable->code, n);
	}
	a->program->code_size = n + 1 + head;
	return NULL;
}
static void serialised_delete(PJRT_SerializedExecutable *s)
{
	free(s);
}
static PJRT_Error *serialise(PJRT_Executable_Serialize_Args *a)
{
	const char *can = find(a->executable->code, a->executable->n, "serial");
	if (can && strcmp(can, "no") == 0)
		return fail(PJRT_Error_Code_UNIMPLEMENTED, "the fake was told not to serialise");
	a->serialized_bytes = a->executable->code;
	a->serialized_bytes_size = a->executable->n;
	a->serialized_executable = malloc(sizeof(PJRT_SerializedExecutable));
	a->serialized_executable_deleter = serialised_delete;
	return NULL;
}
static PJRT_Error *deserialise(PJRT_Executable_DeserializeAndLoad_Args *a)
{
	if (find(a->serialized_executable, a->serialized_executable_size, "reload"))
		return fail(PJRT_Error_Code_INVALID_ARGUMENT, "the fake was told not to load");
	PJRT_Executable *e = keep(a->serialized_executable, a->serialized_executable_size);
	a->loaded_executable = load(e);
	release(e);
	return NULL;
}
/* What the inputs do to the outputs. */
static double factor_of(const PJRT_Executable *e, PJRT_Buffer *const *input, size_t n)
{
	double largest = 0, factor = e->factor;
	uint64_t hash = 0;

	for (size_t i = 0; i < n; i++) {
		largest = fmax(largest, input[i]->largest);
		hash ^= input[i]->hash;
	}
	factor *= largest > 100 ? number(e, "large", 1) : largest == 0 ? number(e, "zero", 1)
		: largest < 0.01 ? number(e, "small", 1) : 1;
	return factor + number(e, "chaos", 0) * (double)(hash % 1000) / 1000;
}

static PJRT_Error *execute(PJRT_LoadedExecutable_Execute_Args *a)
{
	double start = seconds();
	PJRT_LoadedExecutable *l = a->executable;
	PJRT_Executable *e = l->exe;
	const char *verb = find(e->code, e->n, "run");
	char what[16] = "";
	snprintf(what, sizeof what, "%s", verb ? verb : "");
	if (l->runs++ >= (long)number(e, "after", 0)) {
		PJRT_Error *error = act(what, "run");
		if (error)
			return error;
	}
	double until = start + 1e-6 * number(e, "us", 10) * l->factor *
				       (1 + noise() * number(e, "noise", 0) / 100);
	PJRT_Buffer *b = calloc(1, sizeof *b);
	b->dims[0] = 4;
	for (int i = 0; i < 4; i++)
		b->v[i] = (float)((i + 1) * number(e, "out", 1) * factor_of(e, a->argument_lists[0], a->num_args));
	const char *type = find(e->code, e->n, "type");
	b->whole = type && strcmp(type, "int") == 0;
	if (strcmp(what, "nan") == 0)
		b->v[2] = NAN;
	a->output_lists[0][0] = b;
	if (a->device_complete_events)
		a->device_complete_events[0] = &the_event;
	while (seconds() < until)
		;
	return NULL;
}
static long long input_bytes; /* of the inputs there are */
static PJRT_Error *from_host(PJRT_Client_BufferFromHostBuffer_Args *a)
{
	const char *limit = told("inputs", NULL);
	long long bytes = 4;

	for (size_t i = 0; i < a->num_dims; i++)
		bytes *= a->dims[i];
	if (limit && input_bytes + bytes > atoll(limit) << 20)
		return fail(PJRT_Error_Code_RESOURCE_EXHAUSTED, "the fake has no room for another input");
	input_bytes += bytes;
	a->buffer = calloc(1, sizeof(PJRT_Buffer));
	a->buffer->bytes = bytes;
	size_t elements = 1;
	for (size_t i = 0; i < a->num_dims; i++)
		elements *= (size_t)a->dims[i];
	for (size_t i = 0; a->type == PJRT_Buffer_Type_F32 && i < elements; i++)
		a->buffer->largest = fmax(a->buffer->largest, fabs((double)((const float *)a->data)[i]));
	if (a->type == PJRT_Buffer_Type_F32)
		a->buffer->hash = hash_of(a->data, 4 * elements);
	a->done_with_host_buffer = &the_event;
	return NULL;
}
static PJRT_Error *buffer_destroy(PJRT_Buffer_Destroy_Args *a)
{
	input_bytes -= a->buffer->bytes;
	free(a->buffer);
	return NULL;
}
static PJRT_Error *element_type(PJRT_Buffer_ElementType_Args *a)
{
	a->type = a->buffer->whole ? PJRT_Buffer_Type_S32 : PJRT_Buffer_Type_F32;
	return NULL;
}
static PJRT_Error *dimensions(PJRT_Buffer_Dimensions_Args *a)
{
	a->dims = a->buffer->dims;
	a->num_dims = 1;
	return NULL;
}
static PJRT_Error *to_host(PJRT_Buffer_ToHostBuffer_Args *a)
{
	for (int i = 0; i < 4; i++) {
		int32_t whole = (int32_t)a->src->v[i];
		memcpy((char *)a->dst + 4 * i, a->src->whole ? (const void *)&whole : (const void *)&a->src->v[i], 4);
	}
	a->event = &the_event;
	return NULL;
}
static PJRT_Error *compile_only(PJRT_Compile_Args *a)
{
	(void)a;
	return fail(PJRT_Error_Code_UNIMPLEMENTED, "the fake compiles for its own device only");
}

const PJRT_Api *GetPjrtApi(void);
const PJRT_Api *GetPjrtApi(void)
{
	static PJRT_Api api;
	const char *env = getenv("FAKE_PLUGIN"),
		   *major = env ? find(env, strlen(env), "major") : NULL;
	api.struct_size = PJRT_Api_STRUCT_SIZE;
	api.pjrt_api_version.major_version = major ? atoi(major) : PJRT_API_MAJOR;
	const char *minor = env ? find(env, strlen(env), "minor") : NULL;
	api.pjrt_api_version.minor_version = minor ? atoi(minor) : PJRT_API_MINOR;
	api.PJRT_Error_Destroy = error_destroy;
	api.PJRT_Error_Message = error_message;
	api.PJRT_Error_GetCode = error_code;
	api.PJRT_Plugin_Initialize = initialise;
	api.PJRT_Event_Destroy = event_destroy;
	api.PJRT_Event_Await = event_await;
	api.PJRT_Client_Create = client_create;
	api.PJRT_Client_Destroy = client_destroy;
	api.PJRT_Client_PlatformName = platform_name;
	api.PJRT_Client_PlatformVersion = platform_version;
	api.PJRT_Client_AddressableDevices = devices;
	api.PJRT_Device_GetDescription = get_description;
	api.PJRT_Device_LocalHardwareId = hardware_id;
	api.PJRT_Device_MemoryStats = device_memory;
	api.PJRT_DeviceDescription_Kind = device_kind;
	api.PJRT_DeviceDescription_Id = device_id;
	api.PJRT_Client_Compile = client_compile;
	api.PJRT_LoadedExecutable_Destroy = loaded_destroy;
	api.PJRT_LoadedExecutable_GetExecutable = get_executable;
	api.PJRT_Executable_Destroy = executable_destroy;
	api.PJRT_Executable_NumOutputs = outputs;
	api.PJRT_Executable_SizeOfGeneratedCodeInBytes = code_size;
	api.PJRT_Executable_GetCostAnalysis = cost_analysis;
	api.PJRT_Executable_GetCompiledMemoryStats = memory_stats;
	api.PJRT_Executable_OptimizedProgram = optimised;
	api.PJRT_Executable_Serialize = serialise;
	api.PJRT_Executable_DeserializeAndLoad = deserialise;
	api.PJRT_LoadedExecutable_Execute = execute;
	api.PJRT_Client_BufferFromHostBuffer = from_host;
	api.PJRT_Buffer_Destroy = buffer_destroy;
	api.PJRT_Buffer_ElementType = element_type;
	api.PJRT_Buffer_Dimensions = dimensions;
	api.PJRT_Buffer_ToHostBuffer = to_host;
	api.PJRT_Compile = compile_only;
	return &api;
}
