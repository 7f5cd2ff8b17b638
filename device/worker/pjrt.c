/*
 * pjrt.c - a PJRT plugin: loading it, and the client it makes.
 *
 * The C API is a table of functions that take one args struct each, led by its size, so that
 * callers and plugins of different age understand each other: a plugin ignores fields it does not
 * know and leaves those it was not given. The table itself grows at its end; HAS asks whether a
 * plugin's is long enough. Errors are objects with a code and a message; pjrt_check turns them into
 * refusals.
 *
 * Without pjrt_c_api.h (it comes with the plugin and is not ours to ship) only pjrt_open exists,
 * and says so.
 */
#ifdef HAVE_PJRT
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/home.h"
#include "base/io.h"
#include "base/mem.h"
#include "device/target.h"
#include "device/worker/lapack.h"
#include "device/worker/pjrt_own.h"

#define LEAST_MINOR 40
#define HOST_PLATFORM "Host" /* XLA's name of the platform of its compiler for processors */

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
	uint32_t devices;
};

/* The value is DEVICES, a number, true, or false. */
static int add_named(void *ctx, const char *name, const char *value)
{
	struct named *l = ctx;
	bool yes = strcmp(value, "true") == 0, truth = yes || strcmp(value, "false") == 0;
	BUG_ON(l->n == 8);
	snprintf(l->name[l->n], sizeof l->name[0], "%s", name);
	l->v[l->n] = (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
		.name = l->name[l->n],
		.name_size = strlen(l->name[l->n]),
		.type = truth ? PJRT_NamedValue_kBool : PJRT_NamedValue_kInt64,
		.value_size = 1};
	if (truth)
		l->v[l->n].bool_value = yes;
	else
		l->v[l->n].int64_value = strcmp(value, "DEVICES") == 0 ? l->devices : atoll(value);
	l->n++;
	return 0;
}

static int make_client(struct pjrt *p, struct refusal *v)
{
	struct named named = {.devices = p->n_devices};
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
	if (d.num_addressable_devices < p->n_devices) {
		snprintf(v->detail, sizeof v->detail, "it offers %zu of the %u devices that are wanted",
			d.num_addressable_devices, p->n_devices);
		return -1;
	}
	p->device = d.addressable_devices;
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
	pjrt_ask_device(p, (uint32_t)d.num_addressable_devices);
	if (p->facts.on_host && pjrt_check(p, lapack_register(p->api, HOST_PLATFORM), "registering LAPACK", v) < 0)
		return -1;
	p->plain_copies = p->facts.on_host && !pjrt_heeds_layouts(p);
	return 0;
}

static PJRT_NamedValue text_value(const char *name, const char *text)
{
	return (PJRT_NamedValue){.struct_size = PJRT_NamedValue_STRUCT_SIZE,
		.name = name,
		.name_size = strlen(name),
		.type = PJRT_NamedValue_kString,
		.string_value = text,
		.value_size = strlen(text)};
}

/*
 * The assembler that XLA:GPU calls comes in another package, beside the plugin's; its folder has another name for each
 * release of CUDA. XLA would find it there by itself, but it would find one in /usr/local first.
 */
static void find_tools(struct pjrt *p, const char *plugin)
{
	static const char *const folders[] = {"cuda_nvcc", "cu13"};
	const char *end = plugin + strlen(plugin);
	char path[640];

	for (int up = 0; up < 3 && end > plugin; up++)
		while (end > plugin && *--end != '/')
			;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		snprintf(p->tools, sizeof p->tools, "%.*s/nvidia/%s", (int)(end - plugin), plugin, folders[i]);
		snprintf(path, sizeof path, "%s/bin/ptxas", p->tools);
		if (io_exists(path))
			return;
	}
	p->tools[0] = 0;
}

/*
 * XLA:GPU times several kernels for an instruction where the hardware is here, and takes the fastest. Two compilations
 * of one program may choose differently. So what was chosen is kept, in the user's cache, and whoever compiles the same
 * instruction for the same hardware later gets the same kernel.
 */
static void find_chosen(struct pjrt *p)
{
	struct buf folder = {0};

	if (home_path("XDG_CACHE_HOME", ".cache", &folder) == 0) {
		buf_adds(&folder, "/vantage/kernels");
		if (io_make_dir(folder.data, NULL) == 0)
			snprintf(p->chosen, sizeof p->chosen, "%s", folder.data);
	}
	buf_release(&folder);
}

/* Opens a compiler for hardware that is not here: it knows the hardware by name, or has to be told about a GPU. */
static int make_topology(struct pjrt *p, struct refusal *v)
{
	ARGS(TopologyDescription_Create, t);
	ARGS(TopologyDescription_PlatformVersion, r);
	struct buf gpu = {0};
	PJRT_NamedValue described[2];
	int rc;

	if (target_gpu(p->target, &gpu)) {
		described[0] = text_value("target_config", gpu.data);
		described[1] = text_value("topology", "1x1x1");
		t.create_options = described;
		t.num_options = 2;
		t.topology_name = "";
	} else {
		t.topology_name = p->target;
		t.topology_name_size = strlen(p->target);
	}
	rc = pjrt_check(p, p->api->PJRT_TopologyDescription_Create(&t), "describing its topology", v);
	buf_release(&gpu);
	if (rc < 0)
		return -1;
	p->topology = t.topology;
	snprintf(p->platform, sizeof p->platform, "%.20s %.25s (compile-only)", p->backend->name, p->target);
	r.topology = p->topology;
	if (pjrt_check(p, p->api->PJRT_TopologyDescription_PlatformVersion(&r), "asking its version", v) < 0)
		return -1;
	snprintf(p->version, sizeof p->version, "%.*s", (int)(r.platform_version_size < 100 ? r.platform_version_size
		: 100), r.platform_version);
	return 0;
}

struct pjrt *pjrt_open(const struct backend *b, const char *target, const char *plugin, uint64_t seed,
	struct spread spread, struct err *err)
{
	struct pjrt *p = MEM_NEW(1, struct pjrt);
	struct refusal v = {0};
	if (b->traits & HERE)
		target = "";
	p->backend = b;
	p->spread = spread;
	p->n_devices = spread_devices(spread);
	snprintf(p->target, sizeof p->target, "%s", target);
	p->seed = seed;
	options_each(b->environment, set_environment, NULL, NULL);
	if (b->traits & NVIDIA)
		find_tools(p, plugin);
	if (b->traits & NVIDIA && !*target)
		find_chosen(p);
	if (load_library(p, plugin, err) < 0)
		goto fail;
	ARGS(Plugin_Initialize, init);
	if (pjrt_check(p, p->api->PJRT_Plugin_Initialize(&init), "initialising", &v) < 0 ||
		(!*target && make_client(p, &v) < 0)) {
		err_set(err, "the plugin %s does not start: %s", plugin, v.detail);
		goto fail;
	}
	if (*target && make_topology(p, &v) < 0) {
		err_set(err, "the plugin %s cannot compile for %s: %s%s", plugin, target, v.detail,
			target_gpu(target, NULL) ? "" : "; targets are written like tpu:v5e:2x2");
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
	struct refusal v;
	if (!p)
		return;
	pjrt_end_inputs(p);
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
	given_close(p->given);
	mem_free(p->input);
	mem_free(p); /* the library stays: plugins do not survive dlclose */
}

void pjrt_give(struct pjrt *p, struct given *given)
{
	p->given = given;
}

const char *pjrt_platform(const struct pjrt *p)
{
	return p->platform;
}

const char *pjrt_version(const struct pjrt *p)
{
	return p->version;
}

#else
#include "device/worker/pjrt.h"

struct pjrt *pjrt_open(const struct backend *b, const char *target, const char *plugin, uint64_t seed,
	struct spread spread, struct err *err)
{
	(void)b;
	(void)target;
	(void)seed;
	(void)spread;
	err_set(err,
		"this build cannot load %s: it was built without pjrt_c_api.h; \"make deps\" "
		"fetches it with the "
		"plugin, then build again",
		plugin);
	return NULL;
}
#endif
