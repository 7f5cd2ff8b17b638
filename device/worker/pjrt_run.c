/*
 * pjrt_run.c - loads instances of a program and runs them.
 *
 * An instance is one load of a program. There may be several, because two loads of one program differ in speed. A run
 * is timed from the call to the completion of its event. Reading the clock and throwing the outputs away are not in it.
 */
#include "device/worker/pjrt.h"
#ifdef HAVE_PJRT
#include "base/progress.h"
#include "device/worker/pjrt_own.h"

struct instance *program_instance(struct program *g)
{
	return &g->first;
}

/*
 * One more load of a program. Deserialising takes a tenth of the time of compiling, and more than half for programs of
 * ten thousand kernels. A plugin may not be able to, or not for this program; then it is compiled again.
 */
struct instance *instance_new(struct program *g, bool anew, struct refusal *v)
{
	struct instance *i = MEM_NEW(1, struct instance);
	struct refusal ignored = {0};
	bool load = g->given || !anew;
	i->program = g;
	if (load && !g->serialised.len && program_serialise(g, &g->serialised, &ignored) < 0)
		buf_reset(&g->serialised);
	if (load && g->serialised.len)
		program_load(g, g->serialised.data, g->serialised.len, &i->exe, g->given ? v : &ignored);
	if (!i->exe && (g->given || program_make(g, g->code.data, g->code.len, &i->exe, v) < 0)) {
		mem_free(i);
		return NULL;
	}
	return i;
}

/* Waits for all; the first refusal counts. */
static int await_all(struct pjrt *p, PJRT_Event **done, struct refusal *v)
{
	struct refusal ignored;
	int rc = 0;

	for (uint32_t d = 0; d < p->n_devices; d++)
		rc = pjrt_await(p, done[d], "running", rc == 0 ? v : &ignored) < 0 ? -1 : rc;
	return rc;
}

/* Puts a list for each device into `lists`, taken from one array of them all. */
static void split(PJRT_Buffer **all, size_t each, uint32_t devices, PJRT_Buffer ***lists)
{
	for (uint32_t d = 0; d < devices; d++)
		lists[d] = all + d * each;
}

int instance_run(struct instance *i, uint32_t times, bool keep, double *seconds, struct refusal *v)
{
	struct program *g = i->program;
	struct pjrt *p = g->pjrt;
	size_t n_out = g->n_outputs * p->n_devices;
	PJRT_Buffer **out = MEM_NEW(n_out + 1, PJRT_Buffer *), ***outs = MEM_NEW(p->n_devices, PJRT_Buffer **);
	PJRT_Buffer ***args = MEM_NEW(p->n_devices, PJRT_Buffer **);
	PJRT_Event **done = MEM_NEW(p->n_devices, PJRT_Event *);
	PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE,
		.non_donatable_input_indices = g->keep,
		.num_non_donatable_input_indices = g->n_params};
	int rc = 0;
	instance_drop_outputs(i);
	split(out, g->n_outputs, p->n_devices, outs);
	split(g->args, g->n_params, p->n_devices, args);
	for (uint32_t k = 0; k < times && rc == 0; k++) {
		ARGS(LoadedExecutable_Execute, e);
		e.executable = i->exe;
		e.options = &options;
		e.argument_lists = (PJRT_Buffer *const *const *)args;
		e.num_devices = p->n_devices;
		e.num_args = g->n_params;
		e.output_lists = (PJRT_Buffer **const *)outs;
		e.device_complete_events = done;
		double start = now_seconds();
		PJRT_Error *error = p->api->PJRT_LoadedExecutable_Execute(&e);
		if (error) {
			rc = pjrt_check(p, error, "running", v);
			break;
		}
		rc = await_all(p, done, v);
		*seconds += now_seconds() - start;
		if (rc == 0 && keep && k + 1 == times) {
			i->out = out;
			out = NULL;
			break;
		}
		for (size_t o = 0; o < n_out; o++)
			pjrt_drop_buffer(p, out[o]);
	}
	mem_free(out);
	mem_free(outs);
	mem_free(args);
	mem_free(done);
	return rc;
}

uint32_t instance_outputs(const struct instance *i)
{
	return (uint32_t)i->program->n_outputs;
}
#endif
