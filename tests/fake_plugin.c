/*
 * fake_plugin.c - a PJRT plugin that does what the program says: compiling and running programs that are scripts
 * (fake_plugin.h), as the functions of PJRT's C API.
 *
 * It is built as a shared library that exports GetPjrtApi, so the worker cannot tell it from a compiler.
 */
#include "tests/fake_plugin.h"

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
static PJRT_Error *event_on_ready(PJRT_Event_OnReady_Args *a)
{
	a->event->callback = a->callback;
	a->event->ctx = a->user_arg;
	return NULL;
}
static PJRT_Error *event_await(PJRT_Event_Await_Args *a)
{
	(void)a;
	return NULL;
}
/* XLA:GPU's client takes most of the memory at once, unless it is told not to. */
static bool takes_memory(const PJRT_Client_Create_Args *a)
{
	for (size_t i = 0; i < a->num_options; i++)
		if (a->create_options[i].type == PJRT_NamedValue_kBool)
			return a->create_options[i].bool_value;
	return true;
}

static PJRT_Error *client_create(PJRT_Client_Create_Args *a)
{
	const char *env = getenv("FAKE_PLUGIN");
	random_state ^= (uint64_t)getpid() * 0x9e3779b97f4a7c15u;
	for (size_t i = 0; i < a->num_options; i++)
		if (a->create_options[i].type == PJRT_NamedValue_kInt64 && a->create_options[i].int64_value <=
			MOST_DEVICES)
			n_devices = (size_t)a->create_options[i].int64_value;
	a->client = &the_client;
	if (told("full", NULL) && takes_memory(a))
		return fail(PJRT_Error_Code_RESOURCE_EXHAUSTED, "the fake's memory is taken");
	return env ? act(find(env, strlen(env), "client"), "starting") : NULL;
}
static PJRT_Error *client_destroy(PJRT_Client_Destroy_Args *a)
{
	(void)a;
	return NULL;
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
	a->bytes_limit = v ? atoll(v) << 20 : 0;
	a->bytes_limit_is_set = v;
	return v ? NULL : fail(PJRT_Error_Code_UNIMPLEMENTED, "the fake does not say how much memory it has");
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
	a->num_addressable_devices = n_devices;
	return NULL;
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
	e->script = script_of(e->code, n, &e->script_len);
	e->us = number(e, "us", memmem(code, n, "jit_", 4) ? atof(told("whole", "10")) : 10);
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
	if ((v = find(env, strlen(env), "slow")))
		usleep((useconds_t)atoi(v) * 1000);
	if ((v = find(env, strlen(env), "hang")) && hash_of(code, n) % 100 < (uint64_t)atoi(v))
		return act("hang", "compile");
	v = find(env, strlen(env), "crash");
	return v && hash_of(code, n) % 100 < (uint64_t)atoi(v) ? act("abort", "compile") : NULL;
}

static PJRT_Error *client_compile(PJRT_Client_Compile_Args *a)
{
	PJRT_Error *error = raise_crew(a->program->code, a->program->code_size);
	if (error)
		return error;
	if (memmem(a->program->code, a->program->code_size, "stablehlo.negate", 16))
		return fail(PJRT_Error_Code_UNIMPLEMENTED, "the fake reads no MLIR");
	if (!memmem(a->program->code, a->program->code_size, "fake:", 5)) {
		error = judge(a->program->code, a->program->code_size);
		if (error)
			return error;
	}
	const char *spread = find(a->program->code, a->program->code_size, "spread");
	char asked[8];
	if (spread && !memmem(a->compile_options, a->compile_options_size, asked,
			      (size_t)snprintf(asked, sizeof asked, "\x20%c\x28%c", spread[0] - '0', spread[2] - '0')))
		return fail(PJRT_Error_Code_INVALID_ARGUMENT, "the fake was told of other replicas and partitions");
	const char *needs = find(a->program->code, a->program->code_size, "needs");
	if (needs && !memmem(a->compile_options, a->compile_options_size, needs, strlen(needs)))
		return fail(PJRT_Error_Code_INVALID_ARGUMENT, "the fake was not told what the program needs");
	PJRT_Executable *e = keep(a->program->code, a->program->code_size);
	dump(a->compile_options, a->compile_options_size, e);
	say_passes();
	bool some = memmem(a->compile_options, a->compile_options_size, "xla_enable_hlo_passes_only", 26);
	bool fused = some && memmem(a->program->code, a->program->code_size, "\x12\x06" "fusion", 8);
	e->factor = fused ? atof(told("applied", "1")) : 1;
	e->us *= percent(a->compile_options, a->compile_options_size, "vector_width", "wide") *
		 percent(a->compile_options, a->compile_options_size, "per_heap", "pieces") *
		 percent(a->program->code, a->program->code_size, "xla_cpu_small_call", "welded");
	e->n -= some && asked_for_passes("another");
	for (double left = number(e, "print", 0); left > 0; left -= 64)
		fprintf(stderr, "%063d\n", (int)left);
	take((size_t)number(e, "leak", 0) << 20); /* and never gives it back */
	error = act(told_by(e, "compile"), "compile");
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
	a->argument_size_in_bytes = (int64_t)number(a->executable, "args", 0);
	a->peak_memory_in_bytes = (int64_t)number(a->executable, "peak", 12345);
	a->temp_size_in_bytes = (int64_t)number(a->executable, "temp",
		told("temp", NULL) ? atof(told("temp", NULL)) : (double)(a->executable->n % 12000));
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
	static const char lost[] = "fake:run=refuse";
	const char *can = told_by(a->executable, "serial");
	if (can && strcmp(can, "no") == 0)
		return fail(PJRT_Error_Code_UNIMPLEMENTED, "the fake was told not to serialise");
	a->serialized_bytes = a->executable->loaded ? lost : a->executable->code;
	a->serialized_bytes_size = a->executable->loaded ? sizeof lost : a->executable->n;
	a->serialized_executable = malloc(sizeof(PJRT_SerializedExecutable));
	a->serialized_executable_deleter = serialised_delete;
	return NULL;
}
static PJRT_Error *deserialise(PJRT_Executable_DeserializeAndLoad_Args *a)
{
	if (find(a->serialized_executable, a->serialized_executable_size, "reload"))
		return fail(PJRT_Error_Code_INVALID_ARGUMENT, "the fake was told not to load");
	PJRT_Executable *e = keep(a->serialized_executable, a->serialized_executable_size);
	e->loaded = true;
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

/*
 * Waits for a moment. It sleeps until the last millisecond, so that a long run costs little processor time. After a
 * signal it no longer sleeps: whoever waits for a run of this machine to end counts the work, too (worker/guard.c).
 */
static void wait_until(double moment, bool busy)
{
	double left = busy ? 0 : moment - seconds() - 1e-3;

	if (left > 0)
		nanosleep(&(struct timespec){(time_t)left, (long)(1e9 * fmod(left, 1))}, NULL);
	while (seconds() < moment)
		;
}

static PJRT_Error *execute(PJRT_LoadedExecutable_Execute_Args *a)
{
	double start = seconds();
	PJRT_LoadedExecutable *l = a->executable;
	PJRT_Executable *e = l->exe;
	const char *verb = told_by(e, "run");
	char what[16] = "";
	snprintf(what, sizeof what, "%s", verb ? verb : "");
	if (l->runs++ >= (long)number(e, "after", 0)) {
		PJRT_Error *error = act(what, "run");
		if (error)
			return error;
	}
	double until = start + 1e-6 * e->us * l->factor * (1 + noise() * number(e, "noise", 0) / 100);
	if (a->num_devices != n_devices)
		return fail(PJRT_Error_Code_INVALID_ARGUMENT, "the fake runs a program on all its devices");
	for (size_t i = 0; i < a->num_args; i++)
		if (!kept(a->argument_lists[0][i]))
			return fail(PJRT_Error_Code_INTERNAL, "an input was lent to the fake and taken away");
	for (size_t d = 1; d < a->num_devices; d++) {
		a->output_lists[d][0] = calloc(1, sizeof(PJRT_Buffer));
		a->device_complete_events[d] = &the_event;
	}
	PJRT_Buffer *b = calloc(1, sizeof *b);
	b->dims[0] = 4;
	for (int i = 0; i < 4; i++)
		b->v[i] = (float)((i + 1) * number(e, "out", 1) * factor_of(e, a->argument_lists[0], a->num_args));
	const char *type = told_by(e, "type");
	b->whole = type && strcmp(type, "int") == 0;
	if (strcmp(what, "nan") == 0)
		b->v[2] = NAN;
	if (strcmp(what, "mask") == 0)
		b->v[3] = -3e38f;
	a->output_lists[0][0] = b;
	if (a->device_complete_events)
		a->device_complete_events[0] = &the_event;
	free(take((size_t)number(e, "temporary", 0) << 20));
	wait_until(until, number(e, "busy", 0) != 0);
	return NULL;
}
static long long input_bytes; /* of the inputs there are */
static PJRT_Error *from_host(PJRT_Client_BufferFromHostBuffer_Args *a)
{
	const char *limit = told("inputs", NULL);
	bool lent = told("alias", NULL) && a->host_buffer_semantics == PJRT_HostBufferSemantics_kImmutableZeroCopy &&
		(uintptr_t)a->data % 64 == 0;
	size_t elements = 1;

	for (size_t i = 0; i < a->num_dims; i++)
		elements *= (size_t)a->dims[i];
	long long bytes = lent ? 0 : 4 * (long long)elements;
	if (limit && input_bytes + bytes > atoll(limit) << 20)
		return fail(PJRT_Error_Code_RESOURCE_EXHAUSTED, "the fake has no room for another input");
	input_bytes += bytes;
	a->buffer = calloc(1, sizeof(PJRT_Buffer));
	a->buffer->bytes = bytes;
	a->buffer->elements = elements;
	if (a->type == PJRT_Buffer_Type_F32)
		look_at(a->buffer, a->data);
	a->done_with_host_buffer = &the_event;
	if (lent) {
		a->buffer->lent = a->data;
		a->done_with_host_buffer = a->buffer->done = calloc(1, sizeof(PJRT_Event));
	}
	return NULL;
}
static PJRT_Error *unsafe_pointer(PJRT_Buffer_UnsafePointer_Args *a)
{
	a->buffer_pointer = (uintptr_t)a->buffer->lent;
	return NULL;
}
static PJRT_Error *buffer_destroy(PJRT_Buffer_Destroy_Args *a)
{
	PJRT_Event *done = a->buffer->done;

	input_bytes -= a->buffer->bytes;
	free(a->buffer);
	if (done && done->callback)
		done->callback(NULL, done->ctx);
	free(done);
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
	api.PJRT_Event_OnReady = event_on_ready;
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
	api.PJRT_Buffer_UnsafePointer = unsafe_pointer;
	api.PJRT_Buffer_ElementType = element_type;
	api.PJRT_Buffer_Dimensions = dimensions;
	api.PJRT_Buffer_ToHostBuffer = to_host;
	api.PJRT_Compile = compile_only;
	return &api;
}
