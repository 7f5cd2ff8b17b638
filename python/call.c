/*
 * call.c - calls a compiled program with addresses of its inputs, for other languages.
 *
 * A plugin is loaded once into this process. A call is a program in the plugin: loaded from a serialised executable, or
 * compiled. To run it, the caller gives the addresses of the inputs, and gets the outputs as DLPack tensors in the
 * plugin's memory. Nothing is copied: inputs are lent for the time of the run, and an output's memory is freed when
 * the tensor's deleter is called.
 *
 * What fails returns NULL or -1 and leaves a sentence in `why`. Nothing here knows Python; python/vantage/native.py
 * calls it through ctypes. Several threads may run calls at once.
 */
#include <dlfcn.h>
#include <pjrt_c_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "python/call.h"
#include "python/dlpack.h"

#define ARGS(name, a) PJRT_##name##_Args a = {.struct_size = PJRT_##name##_Args_STRUCT_SIZE}
#define MOST_RANK 64
#define SMALL 1024  /* bytes that are copied faster than a buffer is made */
#define ALIGNED 64  /* what the plugin needs so as not to copy */

struct array { /* an input or output of a program */
	int32_t type; /* PJRT_Buffer_Type */
	int32_t rank;
	uint8_t code, bits; /* DLPack's */
	int64_t dims[MOST_RANK];
};

struct call {
	PJRT_LoadedExecutable *executable;
	size_t n_in, n_out;
	struct array *in, *out;
	int64_t *keep; /* [n_in] the inputs that a run may not overwrite: all of them */

	pthread_mutex_t lock; /* of the next three; a run that finds it taken does without them */
	PJRT_Buffer **lent;   /* [n_in] the inputs of the last run, or NULL */
	const void **at;      /* [n_in] where each of lent lies if it is no copy, or NULL */
	void **small;         /* [n_in] a place for each input of at most SMALL bytes, or NULL */
};

static const PJRT_Api *api;
static PJRT_Client *client;
static PJRT_Device *device;

int vantage_open(const char *plugin, char *why, size_t room);
struct call *vantage_call_new(const char *format, const char *code, size_t n, const char *options, size_t n_options,
	char *why, size_t room);
int vantage_call_sign(struct call *c, size_t n_in, const struct array *in, size_t n_out, const struct array *out,
	char *why, size_t room);
int vantage_call_run(struct call *c, const void *const *in, struct dl_managed **out, char *why, size_t room);
int vantage_call_save(struct call *c, void (*take)(const char *code, size_t n), char *why, size_t room);
void vantage_call_free(struct call *c);

/* Puts the error into `why` and frees it; false if there is none. */
static bool failed(PJRT_Error *error, char *why, size_t room)
{
	ARGS(Error_Message, m);
	ARGS(Error_Destroy, d);

	if (!error)
		return false;
	m.error = d.error = error;
	api->PJRT_Error_Message(&m);
	if (why)
		snprintf(why, room, "%.*s", (int)m.message_size, m.message);
	api->PJRT_Error_Destroy(&d);
	return true;
}

static bool await(PJRT_Event *event, char *why, size_t room)
{
	ARGS(Event_Await, w);
	ARGS(Event_Destroy, d);
	bool bad;

	if (!event)
		return true;
	w.event = d.event = event;
	bad = failed(api->PJRT_Event_Await(&w), why, room);
	failed(api->PJRT_Event_Destroy(&d), NULL, 0);
	return !bad;
}

static int start_client(char *why, size_t room)
{
	PJRT_NamedValue one = {.struct_size = PJRT_NamedValue_STRUCT_SIZE, .name = "cpu_device_count",
		.name_size = strlen("cpu_device_count"), .type = PJRT_NamedValue_kInt64, .int64_value = 1,
		.value_size = 1};
	ARGS(Plugin_Initialize, init);
	ARGS(Client_Create, c);
	ARGS(Client_AddressableDevices, list);

	c.create_options = &one;
	c.num_options = 1;
	if (failed(api->PJRT_Plugin_Initialize(&init), why, room) || failed(api->PJRT_Client_Create(&c), why, room))
		return -1;
	list.client = c.client;
	if (failed(api->PJRT_Client_AddressableDevices(&list), why, room))
		return -1;
	if (list.num_addressable_devices == 0) {
		snprintf(why, room, "the plugin offers no device");
		return -1;
	}
	device = list.addressable_devices[0];
	client = c.client;
	return 0;
}

/* Loads the plugin; a second call does nothing. Not for several threads at once. */
int vantage_open(const char *plugin, char *why, size_t room)
{
	const PJRT_Api *(*get)(void);
	void *library;

	if (client)
		return 0;
	library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		snprintf(why, room, "%s", dlerror());
		return -1;
	}
	*(void **)&get = dlsym(library, "GetPjrtApi");
	if (!get || !(api = get())) {
		snprintf(why, room, "%s is no PJRT plugin", plugin);
		return -1;
	}
	return start_client(why, room);
}

/*
 * Format "executable": the same plugin serialised the code. "hlo", "mlir": the code is compiled with packed
 * CompileOptions.
 */
struct call *vantage_call_new(const char *format, const char *code, size_t n, const char *options, size_t n_options,
	char *why, size_t room)
{
	ARGS(Executable_DeserializeAndLoad, load);
	ARGS(Client_Compile, compile);
	PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE, .code_size = n, .format = format,
		.format_size = strlen(format)};
	struct call *c;

	if (strcmp(format, "executable") == 0) {
		load.client = client;
		load.serialized_executable = code;
		load.serialized_executable_size = n;
		if (failed(api->PJRT_Executable_DeserializeAndLoad(&load), why, room))
			return NULL;
	} else {
		program.code = (char *)(uintptr_t)code; /* the plugin only reads it */
		compile.client = client;
		compile.program = &program;
		compile.compile_options = options;
		compile.compile_options_size = n_options;
		if (failed(api->PJRT_Client_Compile(&compile), why, room))
			return NULL;
	}
	c = calloc(1, sizeof *c);
	if (c && pthread_mutex_init(&c->lock, NULL) == 0)
		c->executable = load.loaded_executable ? load.loaded_executable : compile.executable;
	return c;
}

static size_t bytes_of(const struct array *a)
{
	size_t n = a->bits / 8;

	for (int32_t i = 0; i < a->rank; i++)
		n *= (size_t)a->dims[i];
	return n;
}

static struct array *copy_of(const struct array *from, size_t n)
{
	struct array *to = calloc(n + 1, sizeof *to);

	if (to && n)
		memcpy(to, from, n * sizeof *to);
	return to;
}

/* What is known of the program when it is not loaded; NULL: not even that. */
static PJRT_Executable *unloaded(const struct call *c, char *why, size_t room)
{
	ARGS(LoadedExecutable_GetExecutable, g);

	g.loaded_executable = c->executable;
	return failed(api->PJRT_LoadedExecutable_GetExecutable(&g), why, room) ? NULL : g.executable;
}

static void forget(PJRT_Executable *e)
{
	ARGS(Executable_Destroy, d);

	d.executable = e;
	if (e)
		failed(api->PJRT_Executable_Destroy(&d), NULL, 0);
}

static size_t outputs_of(const struct call *c)
{
	PJRT_Executable *e = unloaded(c, NULL, 0);
	ARGS(Executable_NumOutputs, o);

	o.executable = e;
	if (!e || failed(api->PJRT_Executable_NumOutputs(&o), NULL, 0))
		o.num_outputs = SIZE_MAX;
	forget(e);
	return o.num_outputs;
}

/* Hands the compiled program, as the plugin writes it down, to `take`. */
int vantage_call_save(struct call *c, void (*take)(const char *code, size_t n), char *why, size_t room)
{
	ARGS(Executable_Serialize, s);
	PJRT_Executable *e = unloaded(c, why, room);
	bool good;

	s.executable = e;
	good = e && !failed(api->PJRT_Executable_Serialize(&s), why, room);
	if (good) {
		take(s.serialized_bytes, s.serialized_bytes_size);
		s.serialized_executable_deleter(s.serialized_executable);
	}
	forget(e);
	return good ? 0 : -1;
}

/*
 * Tells what the program takes and gives. Call it once, before the first run. -1 if the number of results is another.
 */
int vantage_call_sign(struct call *c, size_t n_in, const struct array *in, size_t n_out, const struct array *out,
	char *why, size_t room)
{
	size_t has = outputs_of(c);

	if (has != n_out) {
		snprintf(why, room, "the program has %zu results, not %zu", has, n_out);
		return -1;
	}
	c->n_in = n_in;
	c->n_out = n_out;
	c->in = copy_of(in, n_in);
	c->out = copy_of(out, n_out);
	c->keep = calloc(n_in + 1, sizeof *c->keep);
	c->lent = calloc(n_in + 1, sizeof(PJRT_Buffer *));
	c->at = calloc(n_in + 1, sizeof *c->at);
	c->small = calloc(n_in + 1, sizeof *c->small);
	if (!c->in || !c->out || !c->keep || !c->lent || !c->at || !c->small) {
		snprintf(why, room, "out of memory");
		return -1;
	}
	for (size_t i = 0; i < n_in; i++) {
		c->keep[i] = (int64_t)i;
		if (bytes_of(&in[i]) > 0 && bytes_of(&in[i]) <= SMALL)
			c->small[i] = aligned_alloc(ALIGNED, SMALL);
	}
	return 0;
}

static void drop(PJRT_Buffer *b)
{
	ARGS(Buffer_Destroy, d);

	d.buffer = b;
	if (b)
		failed(api->PJRT_Buffer_Destroy(&d), NULL, 0);
}

/* Makes a buffer of the caller's memory. The plugin copies it only if it is not aligned as it needs. */
static PJRT_Buffer *lend(const struct array *a, const void *data, char *why, size_t room)
{
	ARGS(Client_BufferFromHostBuffer, b);
	ARGS(Event_Destroy, d);

	b.client = client;
	b.device = device;
	b.data = data;
	b.type = (PJRT_Buffer_Type)a->type;
	b.dims = a->dims;
	b.num_dims = (size_t)a->rank;
	b.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableZeroCopy;
	if (failed(api->PJRT_Client_BufferFromHostBuffer(&b), why, room))
		return NULL;
	d.event = b.done_with_host_buffer;
	failed(api->PJRT_Event_Destroy(&d), NULL, 0);
	return b.buffer;
}

/* Is the buffer the memory at `data`, and no copy? */
static bool is_view(PJRT_Buffer *b, const void *data)
{
	ARGS(Buffer_UnsafePointer, p);

	p.buffer = b;
	return !failed(api->PJRT_Buffer_UnsafePointer(&p), NULL, 0) && p.buffer_pointer == (uintptr_t)data;
}

/*
 * Lends all inputs: b[i] for in[i]. Making a buffer costs as much as a small program's run, and most of a model's
 * inputs are where they were in the last run. So the last run's buffers are used again where they are the caller's
 * memory itself. A buffer on a processor is an address, so it does not matter what the caller wrote there meanwhile.
 * Small inputs, which are new numbers more often than not, are copied to a place that does not change. True: the
 * buffers belong to the call, which is locked.
 */
static bool lend_all(struct call *c, const void *const *in, PJRT_Buffer **b, bool *good, char *why, size_t room)
{
	bool kept = pthread_mutex_trylock(&c->lock) == 0;

	for (size_t i = 0; i < c->n_in && *good; i++) {
		const void *data = kept && c->small[i] ? c->small[i] : in[i];

		if (data != in[i])
			memcpy(c->small[i], in[i], bytes_of(&c->in[i]));
		if (kept && data && c->at[i] == data) {
			b[i] = c->lent[i];
			continue;
		}
		b[i] = lend(&c->in[i], data, why, room);
		*good = b[i] != NULL;
		if (kept) {
			drop(c->lent[i]);
			c->lent[i] = b[i];
			c->at[i] = b[i] && is_view(b[i], data) ? data : NULL;
		}
	}
	return kept;
}

/* Ends what lend_all began. Copies are not kept: they would take room. */
static void end_loan(struct call *c, bool kept, PJRT_Buffer **b)
{
	for (size_t i = 0; i < c->n_in; i++)
		if (!kept) {
			drop(b[i]);
		} else if (!c->at[i]) {
			drop(c->lent[i]);
			c->lent[i] = NULL;
		}
	if (kept)
		pthread_mutex_unlock(&c->lock);
}

static void give_back(struct dl_managed *m)
{
	drop(m->context);
	free(m);
}

/* Makes a tensor of the buffer, which it takes over. Its shape is behind it, so that it may outlive the call. */
static struct dl_managed *tensor_of(const struct array *a, PJRT_Buffer *b, char *why, size_t room)
{
	size_t shape = (size_t)a->rank * sizeof *a->dims;
	struct dl_managed *m = calloc(1, sizeof *m + shape);
	ARGS(Buffer_UnsafePointer, p);

	p.buffer = b;
	if (!m || failed(api->PJRT_Buffer_UnsafePointer(&p), why, room)) {
		drop(b);
		free(m);
		return NULL;
	}
	m->tensor.data = (void *)p.buffer_pointer;
	m->tensor.device.type = 1;
	m->tensor.ndim = a->rank;
	m->tensor.dtype.code = a->code;
	m->tensor.dtype.bits = a->bits;
	m->tensor.dtype.lanes = 1;
	m->tensor.shape = memcpy(m + 1, a->dims, shape);
	m->context = b;
	m->deleter = give_back;
	return m;
}

static bool execute(const struct call *c, PJRT_Buffer *const *in, PJRT_Buffer **out, char *why, size_t room)
{
	PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE,
		.non_donatable_input_indices = c->keep, .num_non_donatable_input_indices = c->n_in};
	PJRT_Event *done = NULL;
	ARGS(LoadedExecutable_Execute, e);

	e.executable = c->executable;
	e.options = &options;
	e.argument_lists = &in;
	e.num_devices = 1;
	e.num_args = c->n_in;
	e.output_lists = &out;
	e.device_complete_events = &done;
	return !failed(api->PJRT_LoadedExecutable_Execute(&e), why, room) && await(done, why, room);
}

/* Buffers of inputs and results, all NULL; NULL if memory is out. */
static PJRT_Buffer **room_for(const struct call *c, char *why, size_t room)
{
	PJRT_Buffer **b = calloc(c->n_in + c->n_out + 1, sizeof(PJRT_Buffer *));

	if (!b)
		snprintf(why, room, "out of memory");
	return b;
}

/* Runs the program to its end. in: an address each; out: a tensor each, whose deleter the caller calls once. */
int vantage_call_run(struct call *c, const void *const *in, struct dl_managed **out, char *why, size_t room)
{
	PJRT_Buffer **b = room_for(c, why, room), **results = b ? b + c->n_in : NULL;
	bool good = b != NULL, kept = b && lend_all(c, in, b, &good, why, room);

	good = good && execute(c, b, results, why, room);
	for (size_t i = 0; i < c->n_out; i++) {
		out[i] = good ? tensor_of(&c->out[i], results[i], why, room) : NULL;
		good = good && out[i];
	}
	for (size_t i = 0; i < c->n_out && !good; i++) {
		if (out[i])
			give_back(out[i]);
		out[i] = NULL;
	}
	if (b)
		end_loan(c, kept, b);
	free(b);
	return good ? 0 : -1;
}

size_t vantage_call_inputs(const struct call *c)
{
	return c->n_in;
}

size_t vantage_call_outputs(const struct call *c)
{
	return c->n_out;
}

static bool copy_out(const struct array *a, PJRT_Buffer *b, void *to, char *why, size_t room)
{
	ARGS(Buffer_UnsafePointer, p);

	p.buffer = b;
	if (failed(api->PJRT_Buffer_UnsafePointer(&p), why, room))
		return false;
	if (bytes_of(a))
		memcpy(to, (const void *)p.buffer_pointer, bytes_of(a));
	return true;
}

int vantage_call_into(struct call *c, const void *const *in, void *const *out, char *why, size_t room)
{
	PJRT_Buffer **b = room_for(c, why, room), **results = b ? b + c->n_in : NULL;
	bool good = b != NULL, kept = b && lend_all(c, in, b, &good, why, room);

	good = good && execute(c, b, results, why, room);
	for (size_t i = 0; i < c->n_out && good; i++)
		good = copy_out(&c->out[i], results[i], out[i], why, room);
	for (size_t i = 0; b && i < c->n_out; i++)
		drop(results[i]);
	if (b)
		end_loan(c, kept, b);
	free(b);
	return good ? 0 : -1;
}

/* Accepts NULL. No run may be under way. Tensors that it gave live on. */
void vantage_call_free(struct call *c)
{
	ARGS(LoadedExecutable_Destroy, d);

	if (!c)
		return;
	for (size_t i = 0; c->lent && i < c->n_in; i++)
		drop(c->lent[i]);
	for (size_t i = 0; c->small && i < c->n_in; i++)
		free(c->small[i]);
	d.executable = c->executable;
	failed(api->PJRT_LoadedExecutable_Destroy(&d), NULL, 0);
	pthread_mutex_destroy(&c->lock);
	free(c->lent);
	free(c->small);
	free(c->at);
	free(c->in);
	free(c->out);
	free(c->keep);
	free(c);
}
