/*
 * pjrt.c - a PJRT plugin: loading it, compiling with it.
 *
 * The C API is a table of functions that take one args struct each, led by its size, so that
 * callers and plugins of different age understand each other: a plugin ignores fields it does not
 * know and leaves those it was not given. The table itself grows at its end; HAS asks whether a
 * plugin's is long enough. Errors are objects with a code and a message; pjrt_check turns them into
 * verdicts.
 *
 * Compile options travel as a protobuf (schemas/compile_options.proto), debug options in it as
 * texts, which XLA parses by the option's own type. A program given as HLO keeps the layouts that
 * its entry computation states: they are passed on, or the compiler would reset them to row-major.
 *
 * Without pjrt_c_api.h (it comes with the plugin and is not ours to ship) only pjrt_open exists,
 * and says so.
 */
#ifdef HAVE_PJRT
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/mem.h"
#include "base/progress.h"
#include "device/module.h"
#include "device/pjrt_own.h"
#include "schemas/compile_options.pb-c.h"

#define LEAST_MINOR 40

int pjrt_check(struct pjrt *p, PJRT_Error *error, const char *doing, struct verdict *v)
{
	if (!error)
		return 0;
	ARGS(Error_Message, m);
	m.error = error;
	p->api->PJRT_Error_Message(&m);
	ARGS(Error_GetCode, c);
	c.error = error;
	PJRT_Error *nested = p->api->PJRT_Error_GetCode(&c);
	v->outcome = !nested && c.code == PJRT_Error_Code_RESOURCE_EXHAUSTED ? OUTCOME_OOM
									     : OUTCOME_REFUSED;
	snprintf(v->detail, sizeof v->detail, "%s: %.*s", doing,
		(int)(m.message_size < 480 ? m.message_size : 480), m.message);
	ARGS(Error_Destroy, d);
	d.error = error;
	p->api->PJRT_Error_Destroy(&d);
	return -1;
}

int pjrt_await(struct pjrt *p, PJRT_Event *event, const char *doing, struct verdict *v)
{
	if (!event)
		return 0;
	ARGS(Event_Await, w);
	w.event = event;
	int rc = pjrt_check(p, p->api->PJRT_Event_Await(&w), doing, v);
	ARGS(Event_Destroy, d);
	d.event = event;
	struct verdict ignored;
	pjrt_check(p, p->api->PJRT_Event_Destroy(&d), doing, &ignored);
	return rc;
}

static int set_environment(void *ctx, const char *name, const char *value)
{
	(void)ctx;
	return setenv(name, value, 1);
}

static int load_library(struct pjrt *p, const char *plugin, struct err *err)
{
	p->library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
	if (!p->library)
		return err_set(err,
			"the plugin %s cannot be loaded (%s): it is damaged or for another "
			"machine; "
			"\"make deps\" fetches the one for cpu",
			plugin, dlerror());
	const PJRT_Api *(*get)(void);
	*(void **)&get = dlsym(p->library, "GetPjrtApi");
	p->api = get ? get() : NULL;
	if (!p->api)
		return err_set(
			err, "%s is not a PJRT plugin: it does not export GetPjrtApi", plugin);
	int major = p->api->pjrt_api_version.major_version,
	    minor = p->api->pjrt_api_version.minor_version;
	if (major != PJRT_API_MAJOR || minor < LEAST_MINOR)
		return err_set(err,
			"the plugin %s has PJRT API %d.%d, needed is %d.%d or newer; \"make deps\" "
			"fetches "
			"the one for cpu",
			plugin, major, minor, PJRT_API_MAJOR, LEAST_MINOR);
	if (!HAS(p, Compile))
		return err_set(err,
			"the plugin %s has a table of functions that is too short for its version",
			plugin);
	return 0;
}

struct named {
	PJRT_NamedValue v[8];
	char name[8][64];
	size_t n;
};

static int add_named(void *ctx, const char *name, const char *value)
{
	struct named *l = ctx;
	BUG_ON(l->n == 8);
	snprintf(l->name[l->n], sizeof l->name[0], "%s", name);
	l->v[l->n] = (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
		.name = l->name[l->n],
		.name_size = strlen(l->name[l->n]),
		.type = PJRT_NamedValue_kInt64,
		.int64_value = atoll(value),
		.value_size = 1};
	l->n++;
	return 0;
}

static int make_client(struct pjrt *p, struct verdict *v)
{
	struct named named = {.n = 0};
	options_each(p->backend->client_options, add_named, &named, NULL);
	ARGS(Client_Create, c);
	c.create_options = named.v;
	c.num_options = named.n;
	if (pjrt_check(p, p->api->PJRT_Client_Create(&c), "starting the device", v) < 0)
		return -1;
	p->client = c.client;
	ARGS(Client_AddressableDevices, d);
	d.client = p->client;
	if (pjrt_check(p, p->api->PJRT_Client_AddressableDevices(&d), "listing devices", v) < 0)
		return -1;
	if (d.num_addressable_devices == 0) {
		snprintf(v->detail, sizeof v->detail, "it offers no device");
		return -1;
	}
	p->device = d.addressable_devices[0];
	ARGS(Client_PlatformName, n);
	n.client = p->client;
	if (pjrt_check(p, p->api->PJRT_Client_PlatformName(&n), "asking its name", v) < 0)
		return -1;
	snprintf(p->platform, sizeof p->platform, "%.*s", (int)n.platform_name_size,
		n.platform_name);
	ARGS(Client_PlatformVersion, r);
	r.client = p->client;
	if (pjrt_check(p, p->api->PJRT_Client_PlatformVersion(&r), "asking its version", v) < 0)
		return -1;
	snprintf(p->version, sizeof p->version, "%.*s",
		(int)(r.platform_version_size < 100 ? r.platform_version_size : 100),
		r.platform_version);
	return 0;
}

/* A compiler for hardware that is not here. */
static int make_topology(struct pjrt *p, struct verdict *v)
{
	ARGS(TopologyDescription_Create, t);
	t.topology_name = p->backend->topology;
	t.topology_name_size = strlen(t.topology_name);
	if (pjrt_check(p, p->api->PJRT_TopologyDescription_Create(&t), "describing its topology",
		    v) < 0)
		return -1;
	p->topology = t.topology;
	snprintf(p->platform, sizeof p->platform, "%s %s (compile-only)", p->backend->name,
		p->backend->topology);
	ARGS(TopologyDescription_PlatformVersion, r);
	r.topology = p->topology;
	if (pjrt_check(p, p->api->PJRT_TopologyDescription_PlatformVersion(&r),
		    "asking its version", v) < 0)
		return -1;
	snprintf(p->version, sizeof p->version, "%.*s",
		(int)(r.platform_version_size < 100 ? r.platform_version_size : 100),
		r.platform_version);
	return 0;
}

struct pjrt *pjrt_open(const struct backend *b, const char *plugin, uint64_t seed, struct err *err)
{
	struct pjrt *p = MEM_NEW(1, struct pjrt);
	struct verdict v = {0};
	p->backend = b;
	p->seed = seed;
	p->plain_copies = strcmp(b->name, "cpu") == 0;
	options_each(b->environment, set_environment, NULL, NULL);
	if (load_library(p, plugin, err) < 0)
		goto fail;
	ARGS(Plugin_Initialize, init);
	if (pjrt_check(p, p->api->PJRT_Plugin_Initialize(&init), "initialising", &v) < 0 ||
		(b->can_run ? make_client(p, &v) : make_topology(p, &v)) < 0) {
		err_set(err, "the plugin %s does not start: %s", plugin, v.detail);
		goto fail;
	}
	size_t n = strlen(p->version);
	for (size_t i = 0; i < n; i++)
		if (p->version[i] == '\n')
			p->version[i] = ' ';
	snprintf(p->version + n, sizeof p->version - n, "%sPJRT %d.%d", n ? ", " : "",
		p->api->pjrt_api_version.major_version, p->api->pjrt_api_version.minor_version);
	return p;
fail:
	pjrt_close(p);
	return NULL;
}

void pjrt_close(struct pjrt *p)
{
	struct verdict v;
	if (!p)
		return;
	pjrt_drop_inputs(p);
	if (p->client) {
		ARGS(Client_Destroy, d);
		d.client = p->client;
		pjrt_check(p, p->api->PJRT_Client_Destroy(&d), "stopping", &v);
	}
	if (p->topology) {
		ARGS(TopologyDescription_Destroy, d);
		d.topology = p->topology;
		pjrt_check(p, p->api->PJRT_TopologyDescription_Destroy(&d), "stopping", &v);
	}
	mem_free(p->input);
	mem_free(p); /* the library stays: plugins do not survive dlclose */
}

const char *pjrt_platform(const struct pjrt *p)
{
	return p->platform;
}

const char *pjrt_version(const struct pjrt *p)
{
	return p->version;
}

/* Compile options. */

struct option_list {
	Opts__OptionEntry entry[32], *item[32];
	Opts__OptionValue value[32];
	size_t n;
	struct arena *mem;
};

static int add_option(void *ctx, const char *name, const char *value)
{
	struct option_list *l = ctx;
	if (l->n == sizeof l->entry / sizeof *l->entry)
		return -1;
	opts__option_entry__init(&l->entry[l->n]);
	opts__option_value__init(&l->value[l->n]);
	l->entry[l->n].key = arena_strdup(l->mem, name);
	if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
		l->value[l->n].value_case = OPTS__OPTION_VALUE__VALUE_TRUTH;
		l->value[l->n].truth = *value == 't';
	} else {
		l->value[l->n].value_case = OPTS__OPTION_VALUE__VALUE_TEXT;
		l->value[l->n].text = arena_strdup(l->mem, value);
	}
	l->entry[l->n].value = &l->value[l->n];
	l->item[l->n] = &l->entry[l->n];
	l->n++;
	return 0;
}

static void write_options(struct program *g, const struct module_layouts *lay, struct buf *out)
{
	Opts__CompileOptions o = OPTS__COMPILE_OPTIONS__INIT;
	Opts__BuildOptions build = OPTS__BUILD_OPTIONS__INIT;
	struct option_list list = {.mem = &g->mem};
	options_each(g->options, add_option, &list, NULL);
	build.device_ordinal = -1;
	build.num_replicas = build.num_partitions = 1;
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
}

/* Compiles the kept code: into *loaded, or, for a compile-only backend, into g->exe. */
int program_compile(struct program *g, const void *code, size_t n, PJRT_LoadedExecutable **loaded,
	struct verdict *v)
{
	struct pjrt *p = g->pjrt;
	struct buf options = {0};
	struct module_layouts lay = {0};
	if (strcmp(g->format, "hlo") == 0)
		module_layouts(code, n, &g->mem, &lay);
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
	return rc;
}

static int get_executable(struct program *g, struct verdict *v)
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
	struct verdict ignored;
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
static int get_parameters(struct program *g, const void *code, size_t n, struct verdict *v)
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
	g->args = ARENA_NEW(&g->mem, g->n_params + 1, PJRT_Buffer *);
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

struct program *program_new(struct pjrt *p, const char *format, const void *code, size_t n,
	const char *options, bool keep, struct verdict *v)
{
	struct program *g = MEM_NEW(1, struct program);
	g->pjrt = p;
	g->first.program = g;
	g->format = arena_strdup(&g->mem, format);
	g->options = arena_strdup(&g->mem, options);
	if (program_compile(g, code, n, &g->first.exe, v) < 0 || get_executable(g, v) < 0)
		goto fail;
	get_optimised(g);
	if (keep && p->client && get_parameters(g, code, n, v) < 0)
		goto fail;
	if (keep)
		buf_add(&g->code, code, n);
	g->hash = g->optimised.len ? module_hash(g->optimised.data, g->optimised.len) : 0;
	return g;
fail:
	program_free(g);
	return NULL;
}

void program_free(struct program *g)
{
	struct verdict ignored;
	if (!g)
		return;
	if (g->exe) {
		ARGS(Executable_Destroy, d);
		d.executable = g->exe;
		pjrt_check(g->pjrt, g->pjrt->api->PJRT_Executable_Destroy(&d), "", &ignored);
	}
	instance_release(&g->first);
	buf_release(&g->optimised);
	buf_release(&g->code);
	buf_release(&g->serialised);
	arena_release(&g->mem);
	mem_free(g);
}

const struct buf *program_optimised(const struct program *g)
{
	return &g->optimised;
}

uint64_t program_hash(const struct program *g)
{
	return g->hash;
}

int program_serialise(struct program *g, struct buf *out, struct verdict *v)
{
	ARGS(Executable_Serialize, s);
	s.executable = g->exe;
	if (pjrt_check(g->pjrt, g->pjrt->api->PJRT_Executable_Serialize(&s), "serialising", v) < 0)
		return -1;
	buf_add(out, s.serialized_bytes, s.serialized_bytes_size);
	if (s.serialized_executable_deleter)
		s.serialized_executable_deleter(s.serialized_executable);
	return 0;
}

void program_facts(struct program *g, struct program_facts *out)
{
	struct pjrt *p = g->pjrt;
	struct verdict ignored;
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
		int64_t sum = m.argument_size_in_bytes + m.output_size_in_bytes +
			      m.temp_size_in_bytes - m.alias_size_in_bytes;
		int64_t peak = m.peak_memory_in_bytes > 0 ? m.peak_memory_in_bytes : sum;
		out->peak_bytes = peak > 0 ? (uint64_t)peak : 0;
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

#else
#include "device/pjrt.h"

struct pjrt *pjrt_open(const struct backend *b, const char *plugin, uint64_t seed, struct err *err)
{
	(void)b;
	(void)seed;
	err_set(err,
		"this build cannot load %s: it was built without pjrt_c_api.h; \"make deps\" "
		"fetches it with the "
		"plugin, then build again",
		plugin);
	return NULL;
}
#endif
