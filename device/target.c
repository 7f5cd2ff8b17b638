/*
 * target.c - see target.h.
 *
 * The compiler for TPUs knows its targets by name. XLA's compiler for GPUs asks the driver. Without a driver it reads
 * the answers from a message in protobuf's text form, which we write from the table, with a column for each GPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/target.h"

enum {
#define GPU(column, ...) GPU_##column,
#include "schemas/target.def"
	N_GPUS
};
enum { SCALAR, MATRIX };

struct rate {
	double ghz;
	int units, operations;
};

static const struct target targets[] = {
#define TARGET(backend, name, words, options) {backend, name, words, options},
#include "schemas/target.def"
};

static const struct {
	const char *name, *model, *capability;
} gpus[] = {
#define GPU(column, name, model, capability) {name, model, capability},
#include "schemas/target.def"
};

static const struct {
	const char *field, *value[N_GPUS];
} facts[] = {
#define FACT(field, h100, b200, a100) {#field, {#h100, #b200, #a100}},
#include "schemas/target.def"
};

static const struct {
	int unit, type;
	struct rate rate[N_GPUS];
} units[] = {
#define UNIT(...) UNIT_ROW(__VA_ARGS__)
#define UNIT_ROW(unit, type, ghz0, units0, ops0, ghz1, units1, ops1, ghz2, units2, ops2) \
	{unit, type, {{ghz0, units0, ops0}, {ghz1, units1, ops1}, {ghz2, units2, ops2}}},
#include "schemas/target.def"
#undef UNIT_ROW
};

static const struct {
	const char *name;
	double cycles_per_microsecond, operations_per_cycle, products_per_cycle, memory_bandwidth;
} tpus[] = {
#define TPU(...) {__VA_ARGS__},
#include "schemas/target.def"
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

const struct target *target_find(const char *backend, const char *name)
{
	size_t n = strcspn(name, ":");

	for (size_t i = 0; i < COUNT(targets); i++)
		if (strcmp(targets[i].backend, backend) == 0 && strlen(targets[i].name) == n &&
			memcmp(targets[i].name, name, n) == 0)
			return &targets[i];
	return NULL;
}

void target_list(const char *backend, struct buf *out)
{
	const char *between = "";

	for (size_t i = 0; i < COUNT(targets); i++) {
		if (strcmp(targets[i].backend, backend) != 0)
			continue;
		buf_addf(out, "%s%s", between, targets[i].name);
		between = ", ";
	}
}

static void add_units(int unit, const char *field, size_t gpu, struct buf *out)
{
	const char *open = "";

	for (size_t i = 0; i < COUNT(units); i++) {
		const struct rate *r = &units[i].rate[gpu];
		if (units[i].unit != unit || r->units == 0)
			continue;
		if (!*open)
			buf_addf(out, "%s {\n", field);
		open = "}\n";
		buf_addf(out, "rate_infos { key: %d value { clock_rate_ghz: "
			"%.9g units_per_core: %d ops_per_clock: %d } }\n",
			units[i].type, r->ghz, r->units, r->operations);
	}
	buf_adds(out, open);
}

bool target_gpu(const char *name, struct buf *out)
{
	size_t gpu = 0;

	while (gpu < N_GPUS && strcmp(gpus[gpu].name, name) != 0)
		gpu++;
	if (gpu == N_GPUS || !out)
		return gpu < N_GPUS;
	buf_adds(out, "platform_name: \"CUDA\"\ndnn_version_info { major: 9 minor: 10 }\n");
	buf_addf(out, "device_description_str: \"%s\"\ngpu_device_info {\n", gpus[gpu].model);
	buf_addf(out, "name: \"%s\"\ndevice_vendor: \"NVIDIA Corporation\"\n", gpus[gpu].model);
	buf_addf(out, "cuda_compute_capability { %s }\n", gpus[gpu].capability);
	for (size_t i = 0; i < COUNT(facts); i++)
		if (strcmp(facts[i].value[gpu], "0") != 0)
			buf_addf(out, "%s: %s\n", facts[i].field, facts[i].value[gpu]);
	add_units(SCALAR, "scalar_unit_description", gpu, out);
	add_units(MATRIX, "matrix_unit_description", gpu, out);
	buf_adds(out, "driver_version: \"13.0.0\"\nruntime_version: "
		"\"12.8.0\"\ncompile_time_toolkit_version: \"12.8.0\"\n"
		"dnn_version: \"9.10.0\"\n}\n");
	return true;
}

double target_number(const char *name, const char *field)
{
	for (size_t gpu = 0; gpu < N_GPUS; gpu++)
		for (size_t i = 0; i < COUNT(facts) && strcmp(gpus[gpu].name, name) == 0; i++)
			if (strcmp(facts[i].field, field) == 0)
				return strtod(facts[i].value[gpu], NULL);
	for (size_t i = 0; i < COUNT(tpus); i++)
		if (strlen(tpus[i].name) == strcspn(name, ":") && memcmp(tpus[i].name, name, strcspn(name, ":")) == 0)
			return strcmp(field, "cycles_per_microsecond") == 0 ? tpus[i].cycles_per_microsecond :
			       strcmp(field, "operations_per_cycle") == 0	  ? tpus[i].operations_per_cycle :
			       strcmp(field, "products_per_cycle") == 0	  ? tpus[i].products_per_cycle :
			       strcmp(field, "memory_bandwidth") == 0	  ? tpus[i].memory_bandwidth :
										    0;
	return 0;
}
