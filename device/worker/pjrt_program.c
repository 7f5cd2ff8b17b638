/*
 * pjrt_program.c - what the plugin compiles, and what it tells of the result.
 *
 * Compile options travel as a protobuf (schemas/compile_options.proto), debug options in it as
 * texts, which XLA parses by the option's own type. A program given as HLO keeps the layouts that
 * its entry computation states: they are passed on, or the compiler would reset them to row-major.
 */
#include "device/worker/pjrt.h"
#ifdef HAVE_PJRT
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "device/device.h"
#include "device/module.h"
#include "base/progress.h"
#include "device/worker/pjrt_own.h"
#include "hlo/compact.h"
#include "hlo/library.h"
#include "schemas/compile_options.pb-c.h"

struct option_list {
	Opts__OptionEntry **item;
	size_t n, cap;
	struct arena *mem;
};

static int add_option(void *ctx, const char *name, const char *value)
{
	struct option_list *l = ctx;
	Opts__OptionEntry *entry = ARENA_NEW(l->mem, 1, Opts__OptionEntry);
	Opts__OptionValue *v = ARENA_NEW(l->mem, 1, Opts__OptionValue);
	opts__option_entry__init(entry);
	opts__option_value__init(v);
	entry->key = arena_strdup(l->mem, name);
	if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
		v->value_case = OPTS__OPTION_VALUE__VALUE_TRUTH;
		v->truth = *value == 't';
	} else {
		v->value_case = OPTS__OPTION_VALUE__VALUE_TEXT;
		v->text = arena_strdup(l->mem, value);
	}
	entry->value = v;
	MEM_GROW(&l->item, &l->cap, l->n + 1);
	l->item[l->n++] = entry;
	return 0;
}

/* Says which device runs which partition of which replica (base/spread.h). */
static void place(Opts__BuildOptions *build, struct spread spread, struct arena *mem)
{
	uint32_t replicas = spread_replicas(spread), partitions = spread_partitions(spread);
	Opts__DeviceAssignment *all = ARENA_NEW(mem, 1, Opts__DeviceAssignment);
	Opts__ComputationDevice *each = ARENA_NEW(mem, partitions, Opts__ComputationDevice);
	int64_t *id = ARENA_NEW(mem, spread_devices(spread), int64_t);
	protobuf_c_boolean *free_output = ARENA_NEW(mem, 1, protobuf_c_boolean);

	opts__device_assignment__init(all);
	all->replica_count = (int32_t)replicas;
	all->computation_count = (int32_t)partitions;
	all->computation_devices = ARENA_NEW(mem, partitions, Opts__ComputationDevice *);
	all->n_computation_devices = partitions;
	for (uint32_t i = 0; i < partitions; i++) {
		opts__computation_device__init(&each[i]);
		each[i].replica_device_ids = id + i * replicas;
		each[i].n_replica_device_ids = replicas;
		for (uint32_t r = 0; r < replicas; r++)
			each[i].replica_device_ids[r] = r * partitions + i;
		all->computation_devices[i] = &each[i];
	}
	*free_output = true; /* what nobody asked for may stay where it was computed */
	build->num_replicas = replicas;
	build->num_partitions = partitions;
	build->device_assignment = all;
	if (partitions == 1)
		return;
	build->use_spmd_partitioning = true;
	build->allow_spmd_sharding_propagation_to_output = free_output;
	build->n_allow_spmd_sharding_propagation_to_output = 1;
}

static void write_options(struct program *g, const struct module_layouts *lay, struct buf *out)
{
	Opts__CompileOptions o = OPTS__COMPILE_OPTIONS__INIT;
	Opts__BuildOptions build = OPTS__BUILD_OPTIONS__INIT;
	struct option_list list = {.mem = &g->mem};
	if (g->pjrt->tools[0])
		add_option(&list, "xla_gpu_cuda_data_dir", g->pjrt->tools);
	if (g->pjrt->chosen[0])
		add_option(&list, "xla_gpu_per_fusion_autotune_cache_dir", g->pjrt->chosen);
	options_each(g->options, add_option, &list, NULL);
	build.device_ordinal = -1;
	build.num_replicas = build.num_partitions = 1;
	if (g->pjrt->n_devices > 1)
		place(&build, g->pjrt->spread, &g->mem);
	build.result_layout.data = (uint8_t *)(uintptr_t)lay->result.data;
	build.result_layout.len = lay->result.len;
	o.build = &build;
	o.n_argument_layouts = lay->n;
	o.argument_layouts = ARENA_NEW(&g->mem, lay->n + 1, ProtobufCBinaryData);
	for (size_t i = 0; i < lay->n; i++) {
		o.argument_layouts[i].data = (uint8_t *)(uintptr_t)lay->argument[i].data;
		o.argument_layouts[i].len = lay->argument[i].len;
	}
	o.n_options = list.n;
	o.options = list.item;
	buf_reserve(out, opts__compile_options__get_packed_size(&o));
	out->len += opts__compile_options__pack(&o, (uint8_t *)out->data + out->len);
	mem_free(list.item);
}

/* Compiles the kept code: into *loaded, or, for a compile-only backend, into g->exe. */
int program_compile(struct program *g, const void *code, size_t n, PJRT_LoadedExecutable **loaded,
	struct refusal *v)
{
	struct pjrt *p = g->pjrt;
	struct buf options = {0}, compact = {0};
	struct module_layouts lay = {0};
	if (strcmp(g->format, "hlo") == 0)
		module_layouts(code, n, &g->mem, &lay);
	if (strcmp(g->format, "hlo") == 0 && compact_ids(code, n, &compact))
		code = compact.data;
	write_options(g, &lay, &options);
	PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
		.code = (char *)(uintptr_t)code,
		.code_size = n,
		.format = g->format,
		.format_size = strlen(g->format)};
	int rc;
	if (p->client) {
		ARGS(Client_Compile, c);
		c.client = p->client;
		c.program = &program;
		c.compile_options = options.data;
		c.compile_options_size = options.len;
		rc = pjrt_check(p, p->api->PJRT_Client_Compile(&c), "compiling", v);
		*loaded = rc < 0 ? NULL : c.executable;
	} else {
		ARGS(Compile, c);
		c.topology = p->topology;
		c.program = &program;
		c.compile_options = options.data;
		c.compile_options_size = options.len;
		rc = pjrt_check(p, p->api->PJRT_Compile(&c), "compiling", v);
		g->exe = rc < 0 ? NULL : c.executable;
	}
	buf_release(&options);
	buf_release(&compact);
	return rc;
}

int program_load(struct program *g, const void *bytes, size_t n, PJRT_LoadedExecutable **loaded, struct refusal *v)
{
	ARGS(Executable_DeserializeAndLoad, d);
	d.client = g->pjrt->client;
	d.serialized_executable = bytes;
	d.serialized_executable_size = n;
	if (pjrt_check(g->pjrt, g->pjrt->api->PJRT_Executable_DeserializeAndLoad(&d), "loading", v) < 0)
		return -1;
	*loaded = d.loaded_executable;
	return 0;
}

static int get_executable(struct program *g, struct refusal *v)
{
	struct pjrt *p = g->pjrt;
	if (g->first.exe) {
		ARGS(LoadedExecutable_GetExecutable, e);
		e.loaded_executable = g->first.exe;
		if (pjrt_check(p, p->api->PJRT_LoadedExecutable_GetExecutable(&e),
			    "reading the executable", v) < 0)
			return -1;
		g->exe = e.executable;
	}
	ARGS(Executable_NumOutputs, o);
	o.executable = g->exe;
	if (pjrt_check(p, p->api->PJRT_Executable_NumOutputs(&o), "counting outputs", v) < 0)
		return -1;
	g->n_outputs = o.num_outputs;
	return 0;
}

static void get_optimised(struct program *g)
{
	struct pjrt *p = g->pjrt;
	PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE};
	ARGS(Executable_OptimizedProgram, a);
	struct buf raw = {0};
	struct refusal ignored;
	a.executable = g->exe;
	a.program = &program;
	if (pjrt_check(p, p->api->PJRT_Executable_OptimizedProgram(&a), "", &ignored) < 0 ||
		!program.code_size)
		return;
	buf_reserve(&raw, program.code_size);
	program.code = raw.data;
	if (pjrt_check(p, p->api->PJRT_Executable_OptimizedProgram(&a), "", &ignored) == 0) {
		raw.len = program.code_size;
		if (program.format_size == strlen("hlo_with_config"))
			module_inside(raw.data, raw.len, &g->optimised);
		else if (program.format_size == strlen("hlo"))
			buf_add(&g->optimised, raw.data, raw.len);
	}
	buf_release(&raw);
}

/* What it takes: from the optimised module, else from the code itself. */
static int get_parameters(struct program *g, const void *code, size_t n, struct refusal *v)
{
	struct module_type *t = NULL;
	struct err err = {{0}};
	bool optimised = g->optimised.len > 0;
	v->outcome = OUTCOME_REFUSED;
	if (!optimised && strcmp(g->format, "hlo") != 0) {
		snprintf(v->detail, sizeof v->detail,
			"the plugin does not tell the program's inputs");
		return -1;
	}
	if (module_parameters(optimised ? g->optimised.data : code,
		    optimised ? g->optimised.len : n, &g->mem, &t, &g->n_params, &err) < 0) {
		snprintf(v->detail, sizeof v->detail, "%.500s", err.text);
		return -1;
	}
	g->param = ARENA_NEW(&g->mem, g->n_params + 1, struct type);
	g->args = ARENA_NEW(&g->mem, (g->n_params + 1) * g->pjrt->n_devices, PJRT_Buffer *);
	g->keep = ARENA_NEW(&g->mem, g->n_params + 1, int64_t);
	for (size_t i = 0; i < g->n_params; i++) {
		g->keep[i] = (int64_t)i;
		g->param[i] = (struct type){dtype_of_xla(t[i].dtype), t[i].rank, t[i].dims,
			t[i].minor_to_major, t[i].elements};
		if (dtype_host_bytes(g->param[i].dtype) == 0) {
			snprintf(v->detail, sizeof v->detail,
				"parameter %zu has a type (%d) that cannot be filled", i,
				t[i].dtype);
			return -1;
		}
	}
	v->outcome = OUTCOME_OK;
	return 0;
}

void ready_release(struct ready *r)
{
	for (size_t i = 0; i < r->n; i++)
		buf_release(&r->v[i]);
	mem_free(r->v);
	*r = (struct ready){0};
}

int program_make(struct program *g, const void *code, size_t n, PJRT_LoadedExecutable **loaded, struct refusal *v)
{
	struct ready *r = &g->ready;
	struct refusal ignored;

	*loaded = NULL;
	while (g->pjrt->client && r->used < r->n) {
		struct buf *b = &r->v[r->used++];
		int rc = program_load(g, b->data, b->len, loaded, &ignored);
		if (rc == 0 && !g->serialised.len)
			buf_add(&g->serialised, b->data, b->len);
		buf_release(b);
		if (rc == 0)
			return 0;
	}
	return program_compile(g, code, n, loaded, v);
}

/* Can this processor do what the calls of oneDNN ask for? Where it cannot, oneDNN throws, and nobody catches. */
static bool can_call(const void *code, size_t n)
{
#ifdef __x86_64__
	return __builtin_cpu_supports("avx512f") || !library_in_16_bits(code, n);
#else
	(void)code;
	(void)n;
	return true;
#endif
}

static int add_lasting(void *ctx, const char *name, const char *value)
{
	struct buf *out = ctx;

	if (strncmp(name, "xla_dump_", strlen("xla_dump_")) != 0)
		buf_addf(out, "%s%s=%s", out->len ? "," : "", name, value);
	return 0;
}

/* What was to be dumped has been, and the folder goes: what is compiled of it from now on dumps nothing. */
static void dump_no_more(struct program *g)
{
	struct buf options = {0};

	options_each(g->options, add_lasting, &options, NULL);
	g->options = arena_strdup(&g->mem, options.len ? options.data : "");
	buf_release(&options);
}

struct program *program_new(struct pjrt *p, const char *format, const void *code, size_t n,
	const char *options, bool keep, struct ready *ready, struct refusal *v)
{
	struct program *g = MEM_NEW(1, struct program);
	double start = now_seconds();
	g->pjrt = p;
	g->first.program = g;
	g->format = arena_strdup(&g->mem, format);
	g->options = arena_strdup(&g->mem, options);
	g->given = strcmp(format, FORMAT_EXECUTABLE) == 0;
	g->unwritable = memmem(code, n, LIBRARY_CALL, strlen(LIBRARY_CALL)) != NULL;
	if (ready) {
		g->ready = *ready;
		*ready = (struct ready){0};
	}
	if (g->given && !p->client) {
		v->outcome = OUTCOME_REFUSED;
		snprintf(v->detail, sizeof v->detail, "an executable cannot be loaded where nothing can be run");
		goto fail;
	}
	if (g->unwritable && !can_call(code, n)) {
		v->outcome = OUTCOME_REFUSED;
		snprintf(v->detail, sizeof v->detail, "without AVX-512 oneDNN computes nothing in bf16");
		goto fail;
	}
	if ((g->given ? program_load : program_make)(g, code, n, &g->first.exe, v) < 0 || get_executable(g, v) < 0)
		goto fail;
	g->seconds = now_seconds() - start;
	dump_no_more(g);
	get_optimised(g);
	if (keep && p->client && get_parameters(g, code, n, v) < 0)
		goto fail;
	if (keep)
		buf_add(g->given ? &g->serialised : &g->code, code, n);
	g->hash = g->optimised.len ? module_hash(g->optimised.data, g->optimised.len) : 0;
	return g;
fail:
	program_free(g);
	return NULL;
}

void program_free(struct program *g)
{
	struct refusal ignored;
	if (!g)
		return;
	if (g->exe) {
		ARGS(Executable_Destroy, d);
		d.executable = g->exe;
		pjrt_check(g->pjrt, g->pjrt->api->PJRT_Executable_Destroy(&d), "", &ignored);
	}
	instance_release(&g->first);
	instance_free(g->twin);
	buf_release(&g->optimised);
	buf_release(&g->code);
	buf_release(&g->serialised);
	ready_release(&g->ready);
	arena_release(&g->mem);
	mem_free(g);
}

const struct buf *program_optimised(const struct program *g)
{
	return &g->optimised;
}

bool program_loaded(const struct program *g)
{
	return g->given;
}

bool program_can_be_written(const struct program *g)
{
	return !g->unwritable;
}

bool program_is(const struct program *g, const char *format, const void *code, size_t n, const char *options)
{
	return !g->given && g->code.len == n && strcmp(g->format, format) == 0 && strcmp(g->options, options) == 0 &&
		memcmp(g->code.data, code, n) == 0;
}

void program_rest(struct program *g)
{
	instance_drop_outputs(&g->first);
	instance_free(g->twin);
	g->twin = NULL;
}

double program_seconds(const struct program *g)
{
	return g->seconds;
}

uint64_t program_hash(const struct program *g)
{
	return g->hash;
}

int program_serialise(struct program *g, struct buf *out, struct refusal *v)
{
	ARGS(Executable_Serialize, s);
	if (g->serialised.len) {
		buf_add(out, g->serialised.data, g->serialised.len);
		return 0;
	}
	if (g->unwritable) {
		v->outcome = OUTCOME_REFUSED;
		snprintf(v->detail, sizeof v->detail, "a program that calls oneDNN cannot be written down");
		return -1;
	}
	s.executable = g->exe;
	if (pjrt_check(g->pjrt, g->pjrt->api->PJRT_Executable_Serialize(&s), "serialising", v) < 0)
		return -1;
	buf_add(out, s.serialized_bytes, s.serialized_bytes_size);
	if (s.serialized_executable_deleter)
		s.serialized_executable_deleter(s.serialized_executable);
	return 0;
}

/*
 * The peak that XLA:CPU tells leaves out the temporary memory, but has some bytes of its own. Arguments, results and
 * temporary memory are there at the same time, so it is never less than their sum.
 */
static uint64_t peak_of(const PJRT_Executable_GetCompiledMemoryStats_Args *m)
{
	int64_t sum = m->argument_size_in_bytes + m->output_size_in_bytes + m->temp_size_in_bytes -
		      m->alias_size_in_bytes;
	int64_t peak = m->peak_memory_in_bytes > sum ? m->peak_memory_in_bytes : sum;

	return peak > 0 ? (uint64_t)peak : 0;
}

void program_facts(struct program *g, struct program_facts *out)
{
	struct pjrt *p = g->pjrt;
	struct refusal ignored;
	ARGS(Executable_SizeOfGeneratedCodeInBytes, s);
	s.executable = g->exe;
	if (pjrt_check(p, p->api->PJRT_Executable_SizeOfGeneratedCodeInBytes(&s), "", &ignored) ==
			0 &&
		s.size_in_bytes > 0)
		out->code_bytes = (uint64_t)s.size_in_bytes;
	ARGS(Executable_GetCompiledMemoryStats, m);
	m.executable = g->exe;
	if (HAS(p, Executable_GetCompiledMemoryStats) &&
		pjrt_check(p, p->api->PJRT_Executable_GetCompiledMemoryStats(&m), "", &ignored) ==
			0) {
		out->peak_bytes = peak_of(&m);
		int64_t own = m.temp_size_in_bytes + m.output_size_in_bytes - m.alias_size_in_bytes;
		out->own_bytes = own > 0 ? (uint64_t)own : 0;
		out->has_temp = m.temp_size_in_bytes >= 0;
		out->temp_bytes = out->has_temp ? (uint64_t)m.temp_size_in_bytes : 0;
		if (!out->code_bytes && m.generated_code_size_in_bytes > 0)
			out->code_bytes = (uint64_t)m.generated_code_size_in_bytes;
	}
	ARGS(Executable_GetCostAnalysis, c);
	c.executable = g->exe;
	if (pjrt_check(p, p->api->PJRT_Executable_GetCostAnalysis(&c), "", &ignored) < 0)
		return;
	for (size_t i = 0; i < c.num_properties; i++) {
		const PJRT_NamedValue *q = &c.properties[i];
		double value = q->type == PJRT_NamedValue_kFloat   ? (double)q->float_value
			       : q->type == PJRT_NamedValue_kInt64 ? (double)q->int64_value
								   : 0;
		if (q->name_size == 5 && memcmp(q->name, "flops", 5) == 0)
			out->flops = value;
		else if (q->name_size == 15 && memcmp(q->name, "optimal_seconds", 15) == 0)
			out->optimal_seconds = value;
	}
}
#endif
