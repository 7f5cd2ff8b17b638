/*
 * run_tuned.c - runs what a search left in its folder, through a PJRT plugin, from C.
 *
 *	protoc-c --c_out=. schemas/hlo.proto schemas/compile_options.proto
 *	cc -O2 -I. -I.deps/xla_plugins/xla_cpu_pjrt/include -o run_tuned examples/run/run_tuned.c \
 *		schemas/hlo.pb-c.c schemas/compile_options.pb-c.c -lprotobuf-c -ldl -lm
 *	taskset -c 0 ./run_tuned "$(tests/deps --where)" chain.tuned
 *
 * The tuned program is loaded from tuned.exe, if this very plugin wrote it, or compiled from tuned.pb with the
 * options in options.txt: see load_tuned. The rest makes inputs, runs default.pb and the tuned program in turns,
 * and compares times and outputs.
 */
#include <dlfcn.h>
#include <math.h>
#include <pjrt_c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "schemas/compile_options.pb-c.h"
#include "schemas/hlo.pb-c.h"

#define ROUNDS 101
#define ARGS(name, a) PJRT_##name##_Args a = {.struct_size = PJRT_##name##_Args_STRUCT_SIZE}

static const PJRT_Api *api;
static PJRT_Client *client;
static PJRT_Device *device;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "run_tuned: %s: %s\n", what, why);
	exit(1);
}

static void check(PJRT_Error *error, const char *doing)
{
	ARGS(Error_Message, m);
	m.error = error;
	if (!error)
		return;
	api->PJRT_Error_Message(&m);
	die(doing, m.message);
}

static void await(PJRT_Event *event)
{
	ARGS(Event_Await, w);
	ARGS(Event_Destroy, d);
	w.event = d.event = event;
	check(api->PJRT_Event_Await(&w), "waiting");
	api->PJRT_Event_Destroy(&d);
}

/* A whole file with a NUL behind it, or NULL. */
static char *read_file(const char *folder, const char *name, size_t *n)
{
	char path[4096], *data = NULL;
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	if (!(f = fopen(path, "rb")))
		return NULL;
	fseek(f, 0, SEEK_END);
	*n = (size_t)ftell(f);
	rewind(f);
	data = calloc(1, *n + 1);
	if (fread(data, 1, *n, f) != *n)
		die(path, "cannot be read");
	fclose(f);
	return data;
}

static void open_plugin(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const PJRT_Api *(*get)(void);
	PJRT_NamedValue one = {.struct_size = PJRT_NamedValue_STRUCT_SIZE, .name = "cpu_device_count",
		.name_size = strlen("cpu_device_count"), .type = PJRT_NamedValue_kInt64, .int64_value = 1,
		.value_size = 1};
	ARGS(Plugin_Initialize, init);
	ARGS(Client_Create, c);
	ARGS(Client_AddressableDevices, list);

	if (!library)
		die("no plugin", dlerror());
	*(void **)&get = dlsym(library, "GetPjrtApi");
	if (!get || !(api = get()))
		die(path, "is no PJRT plugin");
	check(api->PJRT_Plugin_Initialize(&init), "initialising");
	c.create_options = &one;
	c.num_options = 1;
	check(api->PJRT_Client_Create(&c), "starting the device");
	client = list.client = c.client;
	check(api->PJRT_Client_AddressableDevices(&list), "listing devices");
	if (list.num_addressable_devices == 0)
		die(path, "offers no device");
	device = list.addressable_devices[0];
}

static ProtobufCBinaryData pack_shape(const Hlo__ShapeProto *s)
{
	ProtobufCBinaryData b = {.len = hlo__shape_proto__get_packed_size(s)};

	b.data = malloc(b.len + 1);
	hlo__shape_proto__pack(s, b.data);
	return b;
}

/*
 * Compile options as a protobuf; each line of `text` is "name=value". Arrays lie in memory as the program says, which
 * the compiler must be told: else all lie row by row, and results of tuned.exe would be taken for other numbers.
 */
static uint8_t *pack_options(const Hlo__ProgramShapeProto *shape, char *text, size_t *n)
{
	Opts__CompileOptions o = OPTS__COMPILE_OPTIONS__INIT;
	Opts__BuildOptions build = OPTS__BUILD_OPTIONS__INIT;
	Opts__OptionEntry entry[16], *entries[16];
	Opts__OptionValue value[16];
	uint8_t *p;

	build.device_ordinal = -1;
	build.num_replicas = build.num_partitions = 1;
	build.result_layout = pack_shape(shape->result);
	o.build = &build;
	o.argument_layouts = calloc(shape->n_parameters + 1, sizeof *o.argument_layouts);
	for (size_t i = 0; i < shape->n_parameters; i++)
		o.argument_layouts[o.n_argument_layouts++] = pack_shape(shape->parameters[i]);
	o.options = entries;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		size_t i = o.n_options++;
		char *equals = strchr(line, '=');
		if (!equals || i == 16)
			die("options.txt", equals ? "there are more than 16 options" : "a line has no \"=\"");
		*equals = 0;
		opts__option_value__init(&value[i]);
		value[i].truth = strcmp(equals + 1, "true") == 0;
		if (value[i].truth || strcmp(equals + 1, "false") == 0) {
			value[i].value_case = OPTS__OPTION_VALUE__VALUE_TRUTH;
		} else {
			value[i].value_case = OPTS__OPTION_VALUE__VALUE_TEXT;
			value[i].text = equals + 1;
		}
		opts__option_entry__init(&entry[i]);
		entry[i].key = line;
		entry[i].value = &value[i];
		entries[i] = &entry[i];
	}
	p = malloc(opts__compile_options__get_packed_size(&o));
	*n = opts__compile_options__pack(&o, p);
	for (size_t i = 0; i < o.n_argument_layouts; i++)
		free(o.argument_layouts[i].data);
	free(o.argument_layouts);
	free(build.result_layout.data);
	return p;
}

static PJRT_LoadedExecutable *compile(char *module, size_t n, char *options)
{
	PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE, .code = module, .code_size = n,
		.format = "hlo", .format_size = 3};
	ARGS(Client_Compile, c);
	Hlo__HloModuleProto *m = hlo__hlo_module_proto__unpack(NULL, n, (uint8_t *)module);
	uint8_t *packed;

	if (!m || !m->host_program_shape || !m->host_program_shape->result)
		die("the program", "is no HloModuleProto");
	packed = pack_options(m->host_program_shape, options, &c.compile_options_size);
	c.client = client;
	c.program = &program;
	c.compile_options = (char *)packed;
	check(api->PJRT_Client_Compile(&c), "compiling");
	free(packed);
	hlo__hlo_module_proto__free_unpacked(m, NULL);
	return c.executable;
}

static PJRT_LoadedExecutable *load_tuned(const char *folder)
{
	size_t n, n_options;
	char *module = read_file(folder, "tuned.pb", &n), *options = read_file(folder, "options.txt", &n_options);
	PJRT_LoadedExecutable *exe = NULL;
	ARGS(Executable_DeserializeAndLoad, d);

	if (!module || !options)
		die(folder, "holds no tuned.pb with its options.txt");
	d.client = client;
	d.serialized_executable = read_file(folder, "tuned.exe", &d.serialized_executable_size);
	if (d.serialized_executable && !api->PJRT_Executable_DeserializeAndLoad(&d))
		exe = d.loaded_executable; /* else it is of another plugin */
	printf("the tuned program is %s\n", exe ? "loaded from tuned.exe" : "compiled from tuned.pb");
	if (!exe)
		exe = compile(module, n, options);
	free((void *)d.serialized_executable);
	free(module);
	free(options);
	return exe;
}

/*
 * The options in options.txt that both programs get: without the first they might never end, and by the second the
 * largest of numbers with a NaN among them is NaN. Lines, perhaps none.
 */
static char *needed_by_both(const char *folder)
{
	static const char *const names[] = {"xla_cpu_multi_thread_eigen=", "xla_cpu_enable_fast_min_max="};
	size_t n = 0, used = 0;
	char *options = read_file(folder, "options.txt", &n), *needed = calloc(n + 2, 1);

	for (char *line = options ? strtok(options, "\n") : NULL; line; line = strtok(NULL, "\n"))
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			if (strncmp(line, names[i], strlen(names[i])) == 0)
				used += (size_t)sprintf(needed + used, "%s\n", line);
	free(options);
	return needed;
}

/* What an element is made of: whole numbers and truth values, one float, or two (complex numbers). */
enum kind { NONE, BOOL, SINT, UINT, COMPLEX, IEEE, FN, FNUZ, FINITE, BARE };

static const struct format {
	PJRT_Buffer_Type type;
	int32_t xla; /* XLA's PrimitiveType number */
	const char *name;
	enum kind kind;
	int bits, exponent, mantissa, bias; /* the last three of a float */
} formats[] = {
#define DTYPE(...)
#define HOST_DTYPE(id, number, name, bits, kind, e, m, bias) \
	{PJRT_Buffer_Type_##id, number, name, kind, bits, e, m, bias},
#include "schemas/dtype.def"
#undef DTYPE
};
#define FORMATS (sizeof formats / sizeof *formats)

/* Returns the bytes that a number takes in memory, at least one. Of a complex number, that is one of its two floats. */
static size_t part_bytes(const struct format *f)
{
	return f->kind == COMPLEX ? (size_t)f->bits / 16 : ((size_t)f->bits + 7) / 8;
}

/* A float by its code: its magnitude between an eighth and a half, where the type has such numbers. */
static uint64_t make_float(const struct format *f)
{
	uint64_t sign = f->kind != BARE && rand() % 2, m = (uint64_t)rand() << 31 ^ (uint64_t)rand();
	int e = f->bias - 3 + rand() % 2;

	m &= (1ull << f->mantissa) - 1;
	return sign << (f->exponent + f->mantissa) | (uint64_t)(e < 0 ? 0 : e) << f->mantissa | m;
}

static double read_float(const struct format *f, uint64_t code)
{
	uint64_t m = code & ((1ull << f->mantissa) - 1), all = (1ull << (f->exponent + f->mantissa)) - 1;
	int e = (int)((code & all) >> f->mantissa), top = (1 << f->exponent) - 1;
	double sign = code & (all + 1) ? -1 : 1;

	if (f->kind == BARE ? e == top : f->kind == FNUZ ? code == all + 1 : f->kind == FN ? (code & all) == all : 0)
		return NAN;
	if ((f->kind == IEEE || f->kind == COMPLEX) && e == top)
		return m ? NAN : sign * INFINITY;
	if (e == 0 && f->kind != BARE)
		return sign * ldexp((double)m, 1 - f->bias - f->mantissa);
	return sign * ldexp((double)(m + (1ull << f->mantissa)), e - f->bias - f->mantissa);
}

/*
 * Is the last dimension the fastest, as it is where nothing else is said? Such a layout is not named: a new plugin
 * takes no other for types of less than a byte, and this interface cannot say that they are packed.
 */
static int row_major(const Hlo__ShapeProto *s)
{
	if (!s->layout)
		return 1;
	for (size_t i = 0; i < s->layout->n_minor_to_major; i++)
		if (s->layout->minor_to_major[i] != (int64_t)(s->n_dimensions - 1 - i))
			return 0;
	return s->layout->n_minor_to_major == s->n_dimensions;
}

/* An input for one parameter, laid out as the program wants it: floats within +-0.5, whole numbers 0 or 1. */
static PJRT_Buffer *make_input(const Hlo__ShapeProto *s)
{
	const struct format *f = formats;
	size_t n = 1;
	uint8_t *data;
	PJRT_Buffer_MemoryLayout order = {.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE,
		.type = PJRT_Buffer_MemoryLayout_Type_Tiled,
		.tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE}};
	ARGS(Client_BufferFromHostBuffer, b);

	while (f < formats + FORMATS && f->xla != (int32_t)s->element_type)
		f++;
	if (f == formats + FORMATS)
		die("a parameter", "its type is a tuple, a token or another that no array in memory has");
	for (size_t i = 0; i < s->n_dimensions; i++)
		n *= (size_t)s->dimensions[i];
	n *= f->kind == COMPLEX ? 2 : 1;
	data = calloc(n + 1, part_bytes(f));
	for (size_t i = 0; i < n; i++) {
		uint64_t code = f->kind >= COMPLEX ? make_float(f) : (uint64_t)rand() >> 8 & 1;
		memcpy(data + i * part_bytes(f), &code, part_bytes(f)); /* little-endian */
	}
	if (s->layout) {
		order.tiled.minor_to_major = s->layout->minor_to_major;
		order.tiled.minor_to_major_size = s->layout->n_minor_to_major;
	}
	b.client = client;
	b.device = device;
	b.device_layout = row_major(s) ? NULL : &order;
	b.data = data;
	b.type = f->type;
	b.dims = s->dimensions;
	b.num_dims = s->n_dimensions;
	b.host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
	check(api->PJRT_Client_BufferFromHostBuffer(&b), f->name);
	await(b.done_with_host_buffer);
	free(data);
	return b.buffer;
}

static size_t count_outputs(PJRT_LoadedExecutable *exe)
{
	ARGS(LoadedExecutable_GetExecutable, g);
	ARGS(Executable_NumOutputs, o);

	g.loaded_executable = exe;
	check(api->PJRT_LoadedExecutable_GetExecutable(&g), "looking at it");
	o.executable = g.executable;
	check(api->PJRT_Executable_NumOutputs(&o), "counting outputs");
	return o.num_outputs;
}

static void drop(PJRT_Buffer *b)
{
	ARGS(Buffer_Destroy, d);
	d.buffer = b;
	check(api->PJRT_Buffer_Destroy(&d), "dropping a buffer");
}

/* Seconds of one run; the outputs are the caller's. */
static double run(PJRT_LoadedExecutable *exe, PJRT_Buffer *const *in, size_t n_in, PJRT_Buffer **out)
{
	int64_t *keep = calloc(n_in + 1, sizeof *keep);
	PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE,
		.non_donatable_input_indices = keep, .num_non_donatable_input_indices = n_in};
	PJRT_Event *done = NULL;
	struct timespec a, b;
	ARGS(LoadedExecutable_Execute, e);

	for (size_t i = 0; i < n_in; i++)
		keep[i] = (int64_t)i; /* inputs are used again */
	e.executable = exe;
	e.options = &options;
	e.argument_lists = &in;
	e.num_devices = 1;
	e.num_args = n_in;
	e.output_lists = &out;
	e.device_complete_events = &done;
	clock_gettime(CLOCK_MONOTONIC, &a);
	check(api->PJRT_LoadedExecutable_Execute(&e), "running");
	await(done);
	clock_gettime(CLOCK_MONOTONIC, &b);
	free(keep);
	return (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
}

static char *to_host(PJRT_Buffer *b, size_t *n)
{
	ARGS(Buffer_ToHostBuffer, h);

	h.src = b;
	check(api->PJRT_Buffer_ToHostBuffer(&h), "sizing an output");
	h.dst = malloc(h.dst_size + 1);
	check(api->PJRT_Buffer_ToHostBuffer(&h), "reading an output");
	await(h.event);
	*n = h.dst_size;
	return h.dst;
}

/* Of floats the largest difference, relative to the output's mean magnitude; of anything else 0 or 1. */
static double difference(PJRT_Buffer *a, PJRT_Buffer *b)
{
	size_t n, m, parts = 0;
	char *x = to_host(a, &n), *y = to_host(b, &m);
	const struct format *f = formats;
	double most = 0, sum = 1e-30;
	ARGS(Buffer_ElementType, t);

	t.buffer = a;
	check(api->PJRT_Buffer_ElementType(&t), "asking a type");
	while (f < formats + FORMATS && f->type != t.type)
		f++;
	if (n != m)
		die("outputs", "differ in size");
	if (f == formats + FORMATS || f->kind < COMPLEX)
		most = memcmp(x, y, n) != 0;
	else
		parts = n / part_bytes(f);
	for (size_t i = 0; i < parts; i++) {
		uint64_t code[2] = {0, 0};
		memcpy(&code[0], x + i * part_bytes(f), part_bytes(f));
		memcpy(&code[1], y + i * part_bytes(f), part_bytes(f));
		double u = read_float(f, code[0]), v = read_float(f, code[1]);
		sum += isfinite(u) ? fabs(u) : 0;
		if (isnan(u) != isnan(v))
			most = INFINITY;
		else if (!isnan(u) && u != v)
			most = fmax(most, fabs(u - v));
	}
	free(x);
	free(y);
	return most > 0 && parts ? most / (sum / (double)parts) : most;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	PJRT_LoadedExecutable *exe[2]; /* default, tuned */
	double seconds[2][ROUNDS], worst = 0;
	PJRT_Buffer **in, **out[2];
	size_t n = 0, n_in, n_out;
	char *module, *needed;
	Hlo__HloModuleProto *m;

	if (argc != 3)
		die("usage", "run_tuned PLUGIN.so FOLDER");
	open_plugin(argv[1]);
	if (!(module = read_file(argv[2], "default.pb", &n)) ||
		!(m = hlo__hlo_module_proto__unpack(NULL, n, (uint8_t *)module)) || !m->host_program_shape)
		die(argv[2], "holds no program in default.pb");
	needed = needed_by_both(argv[2]);
	exe[0] = compile(module, n, needed);
	exe[1] = load_tuned(argv[2]);
	n_in = m->host_program_shape->n_parameters;
	n_out = count_outputs(exe[0]);
	in = calloc(n_in + 1, sizeof *in);
	for (size_t i = 0; i < n_in; i++)
		in[i] = make_input(m->host_program_shape->parameters[i]);
	for (int side = 0; side < 2; side++)
		out[side] = calloc(n_out + 1, sizeof *out[side]);
	for (int round = -5; round < ROUNDS; round++) /* the first few warm up */
		for (int side = 0; side < 2; side++) {
			for (size_t i = 0; i < n_out; i++)
				if (out[side][i])
					drop(out[side][i]);
			seconds[side][round < 0 ? 0 : round] = run(exe[side], in, n_in, out[side]);
		}
	for (size_t i = 0; i < n_out; i++)
		worst = fmax(worst, difference(out[0][i], out[1][i]));
	for (int side = 0; side < 2; side++)
		qsort(seconds[side], ROUNDS, sizeof **seconds, by_size);
	printf("default %.1f us, tuned %.1f us: %.1f%% less; outputs differ by %.2g\n", 1e6 * seconds[0][ROUNDS / 2],
		1e6 * seconds[1][ROUNDS / 2], 100 * (1 - seconds[1][ROUNDS / 2] / seconds[0][ROUNDS / 2]), worst);
	hlo__hlo_module_proto__free_unpacked(m, NULL);
	free(needed);
	free(module);
	return 0;
}
