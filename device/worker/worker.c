/*
 * worker.c - vantage-worker: the only program that loads a plugin.
 *
 * host.c starts it with a socket on descriptor 3. It answers one request at a time, as schemas/worker.md says, until
 * the other end closes. It may die at any moment, because compilers abort. Nothing here tries to prevent that; the host
 * is prepared for it.
 *
 * It dies with its parent (PR_SET_PDEATHSIG), even while it is stuck in the plugin. But it ignores SIGTERM: batch
 * systems send that to every process of a job, and the parent wants to finish the sample in flight.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/opt.h"
#include "base/progress.h"
#include "base/stop.h"
#include "device/given.h"
#include "device/machine.h"
#include "device/worker/crew.h"
#include "device/worker/guard.h"
#include "device/worker/idle.h"
#include "device/worker/pjrt.h"
#include "device/worker/timed.h"
#include "device/wire.h"

#define MOST_PROGRAMS 1024u
#define MOST_CORES 4096
#define MOST_DEVICES 1024u

struct resident {
	uint32_t handle;
	struct program *program;
};

struct worker {
	struct pjrt *pjrt;
	struct crew *crew;
	struct resident *resident;
	size_t n_resident, cap_resident;
	struct idle idle;
	uint32_t last_handle;
	bool on_core;
	uint32_t id; /* of the request that is being answered */
};

#ifdef HAVE_PJRT

static void refuse(struct refusal *v, const char *why)
{
	v->outcome = OUTCOME_REFUSED;
	snprintf(v->detail, sizeof v->detail, "%s", why);
}

static struct resident *find(struct worker *w, uint32_t handle)
{
	for (size_t i = 0; i < w->n_resident; i++)
		if (w->resident[i].handle == handle)
			return &w->resident[i];
	return NULL;
}

/* Other cores help to compile a large program, and make its inputs if it is going to be run. */
static void use_other_cores(struct worker *w, unsigned want, const char *format, const void *code, size_t n)
{
	const int *core;
	size_t others = crew_others(w->crew, &core);

	if (want & WANT_RESIDENT)
		pjrt_begin_inputs(w->pjrt, code, n, core, others);
	crew_spread(w->crew, strcmp(format, FORMAT_EXECUTABLE) == 0);
}

static void compile(struct worker *w, struct cursor *c, struct buf *out)
{
	struct refusal v = {0};
	struct program_facts facts = {0};
	struct buf serialised = {0};
	struct program *g = NULL;
	char *format = cursor_str(c), *options = cursor_str(c);
	unsigned want = cursor_u32(c);
	bool keep = cursor_u8(c);
	struct ready ready = {0};
	size_t n;
	const void *code = cursor_blob(c, &n);
	double seconds = now_seconds();
	ready.n = cursor_count(c, sizeof(uint32_t));
	ready.v = MEM_NEW(ready.n + 1, struct buf);
	for (size_t i = 0; i < ready.n; i++)
		wire_blob(c, &ready.v[i]);
	if (!cursor_done(c)) {
		refuse(&v, "the request makes no sense");
	} else if (keep && w->n_resident >= MOST_PROGRAMS) {
		v.outcome = OUTCOME_OOM;
		snprintf(v.detail, sizeof v.detail, "%u programs are resident already; drop some", MOST_PROGRAMS);
	} else if (!keep || !(g = idle_take(&w->idle, format, code, n, options))) {
		if (want & WANT_CREW)
			use_other_cores(w, want, format, code, n);
		g = program_new(w->pjrt, format, code, n, options, keep, &ready, &v);
		crew_gather(w->crew);
	}
	seconds = fmax(now_seconds() - seconds, g ? program_seconds(g) : 0); /* also of what was idle */
	if (g && want & WANT_MEMORY)
		program_facts(g, &facts);
	if (g && want & WANT_SERIALISED) {
		struct refusal ignored;
		program_serialise(g, &serialised, &ignored);
	}
	put_refusal(out, &v);
	buf_u32(out, g && keep ? ++w->last_handle : 0);
	buf_u64(out, g ? program_hash(g) : 0);
	buf_f64(out, seconds);
	buf_u64(out, facts.peak_bytes);
	buf_u64(out, facts.code_bytes);
	buf_u8(out, facts.has_temp);
	buf_u64(out, facts.temp_bytes);
	buf_f64(out, facts.flops);
	buf_f64(out, facts.optimal_seconds);
	bool optimised = g && want & WANT_OPTIMISED;
	buf_blob(out, optimised ? program_optimised(g)->data : NULL,
		optimised ? program_optimised(g)->len : 0);
	buf_blob(out, serialised.data, serialised.len);
	if (g && keep) {
		MEM_GROW(&w->resident, &w->cap_resident, w->n_resident + 1);
		w->resident[w->n_resident++] = (struct resident){w->last_handle, g};
	} else {
		program_free(g);
	}
	buf_release(&serialised);
	ready_release(&ready);
	mem_free(format);
	mem_free(options);
}

static void drop(struct worker *w, struct cursor *c, struct buf *out)
{
	struct resident *r = find(w, cursor_u32(c));
	struct refusal v = {0};
	if (r) {
		idle_put(&w->idle, r->program);
		*r = w->resident[--w->n_resident];
	}
	put_refusal(out, &v);
}

static void measure_request(struct worker *w, struct cursor *c, struct buf *out)
{
	struct timed t = {.on_core = w->on_core, .on_host = pjrt_device(w->pjrt)->on_host, .id = w->id};
	struct precision p = {0};
	struct rng r;
	struct resident *a = find(w, cursor_u32(c));
	uint32_t handle_b = cursor_u32(c);
	struct resident *b = find(w, handle_b);
	p.target = cursor_f64(c);
	p.max_seconds = cursor_f64(c);
	p.min_pairs = cursor_u32(c);
	p.instances = cursor_u32(c);
	p.give_up = cursor_f64(c);
	p.slow = cursor_f64(c);
	p.enough = cursor_f64(c);
	p.most = cursor_f64(c);
	p.raw = cursor_u8(c);
	p.part = cursor_u8(c);
	t.anew = cursor_u8(c);
	rng_seed(&r, cursor_u64(c));
	if (!cursor_done(c) || !a || (handle_b && !b)) {
		refuse(&t.refusal, "the request names a program that is not resident");
	} else {
		t.program[0] = a->program;
		t.program[1] = b ? b->program : NULL;
	}
	timed_answer(&t, &p, &r, out);
}

/* What a compare says that has nothing to say. */
static void put_no_differences(struct buf *out, bool over)
{
	buf_u8(out, 0); /* layouts agree, */
	buf_u32(out, 0); /* no outputs */
	buf_u8(out, over);
}

#define COMPARE_SLOW 2.0  /* seconds that b may run in any case, */
#define COMPARE_TIMES 4.0 /* ... and so many times as long as a */

static void compare_limit(void *ctx, double seconds)
{
	const struct worker *w = ctx;
	struct refusal v = {.outcome = OUTCOME_TIMEOUT};
	double most = fmax(COMPARE_SLOW, COMPARE_TIMES * seconds);
	struct buf reply = {0};

	if (seconds <= 0) {
		guard_end();
		return;
	}
	snprintf(v.detail, sizeof v.detail, "it ran for more than %.3g s where the other took %.3g s", most, seconds);
	put_refusal(&reply, &v);
	put_no_differences(&reply, true);
	guard_begin(most, pjrt_device(w->pjrt)->on_host, WIRE_COMPARE, w->id, &reply);
	buf_release(&reply);
}

static void compare(struct worker *w, struct cursor *c, struct buf *out)
{
	struct resident *a = find(w, cursor_u32(c)), *b = find(w, cursor_u32(c));
	struct program_pair pair = {.inputs = cursor_u32(c)};
	struct buf body = {0};
	struct refusal v = {0};

	pair.nudged = cursor_u8(c);
	pair.both = cursor_u8(c);
	pair.fresh = cursor_u8(c);
	pair.limit = cursor_u8(c) ? compare_limit : NULL;
	pair.ctx = w;
	if (!cursor_done(c) || pair.inputs >= INPUTS_COUNT || !a || !b) {
		refuse(&v, "the request names a program that is not resident, or inputs that do not exist");
	} else {
		pair.program[0] = a->program;
		pair.program[1] = b->program;
		program_compare(&pair, &body, &v);
	}
	put_refusal(out, &v);
	if (body.len) {
		buf_add(out, body.data, body.len);
		buf_u8(out, false);
	} else {
		put_no_differences(out, false);
	}
	buf_release(&body);
}

static uint32_t read_cores(struct cursor *c, int core[MOST_CORES])
{
	uint32_t n = cursor_count(c, sizeof(uint32_t));

	for (uint32_t i = 0; i < n; i++)
		core[i < MOST_CORES ? i : 0] = (int)cursor_u32(c);
	return n;
}

static int set_up(struct worker *w, struct cursor *c, struct buf *out)
{
	struct err err = {{0}};
	uint32_t protocol = cursor_u32(c);
	char *name = cursor_str(c), *plugin = cursor_str(c);
	uint64_t seed = cursor_u64(c);
	char *inputs = cursor_str(c);
	struct given *given = NULL;
	int core[MOST_CORES], other[MOST_CORES];
	uint32_t cores = read_cores(c, core), others = read_cores(c, other);
	uint64_t memory = cursor_u64(c);
	struct spread spread = {.replicas = cursor_u32(c), .partitions = 0};
	spread.partitions = cursor_u32(c);
	const struct backend *backend = NULL;
	char target[64];
	int rc = 0;
	if (!cursor_done(c) || protocol != WIRE_PROTOCOL)
		rc = err_set(&err,
			"vantage-worker (%s) speaks protocol %u, its caller %u; build both anew",
			opt_version(), WIRE_PROTOCOL, protocol);
	if (rc == 0 && (cores > MOST_CORES || others > MOST_CORES))
		rc = err_set(&err, "a worker uses at most %d cores, not %u", MOST_CORES,
			cores > others ? cores : others);
	if (rc == 0 && (spread.replicas > MOST_DEVICES || spread.partitions > MOST_DEVICES ||
		spread_devices(spread) > MOST_DEVICES))
		rc = err_set(&err, "a program runs on 1 to %u devices, not on %u", MOST_DEVICES,
			spread_devices(spread));
	if (rc == 0 && cores)
		rc = core_pin(core, cores, &err);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
#ifdef __SANITIZE_ADDRESS__
	memory = 0; /* the sanitizer's own maps count, and are terabytes */
#endif
	if (memory)
		setrlimit(RLIMIT_DATA, &(struct rlimit){memory, memory});
	if (rc == 0 && (!(backend = backend_find(name, &err)) ||
			       backend_target(backend, name, target, sizeof target, &err) < 0 ||
			       !(w->pjrt = pjrt_open(backend, target, plugin, seed, spread, &err))))
		rc = -1;
	if (rc == 0 && inputs[0])
		rc = (given = given_open(inputs, &err)) ? 0 : -1;
	if (rc == 0)
		pjrt_give(w->pjrt, given);
	if (rc == 0)
		w->crew = crew_raise(w->pjrt, core, cores, other, others);
	w->on_core = rc == 0 && pjrt_device(w->pjrt)->on_host && cores == 1;
	buf_u8(out, rc == 0);
	buf_str(out, rc == 0 ? pjrt_platform(w->pjrt) : err.text);
	buf_str(out, rc == 0 ? pjrt_version(w->pjrt) : "");
	accelerator_save(rc == 0 ? pjrt_device(w->pjrt) : &(struct accelerator){0}, out);
	mem_free(name);
	mem_free(plugin);
	mem_free(inputs);
	return rc;
}

static void answer(struct worker *w, const struct frame *f, struct buf *out)
{
	struct cursor c = cursor_of(f->payload.data, f->payload.len);
	switch (f->type) {
	case WIRE_COMPILE:
		compile(w, &c, out);
		break;
	case WIRE_DROP:
		drop(w, &c, out);
		break;
	case WIRE_MEASURE:
		measure_request(w, &c, out);
		break;
	case WIRE_COMPARE:
		compare(w, &c, out);
		break;
	default:
		break;
	}
}

#else /* without the plugin's header: only to say so */

static void answer(struct worker *w, const struct frame *f, struct buf *out)
{
	(void)w;
	(void)f;
	(void)out;
}

static int set_up(struct worker *w, struct cursor *c, struct buf *out)
{
	struct err err = {{0}};
	(void)c;
	w->pjrt = pjrt_open(NULL, "", "a plugin", 0, (struct spread){1, 1}, &err);
	buf_u8(out, 0);
	buf_str(out, err.text);
	buf_str(out, "");
	accelerator_save(&(struct accelerator){0}, out);
	return -1;
}

#endif

static int serve(struct worker *w)
{
	struct frame f = {0};
	struct buf out = {0};
	struct err err = {{0}};
	int rc;
	while ((rc = wire_receive(WIRE_FD, &f, &err)) > 0 && f.type != WIRE_QUIT) {
		buf_reset(&out);
		if ((f.type == WIRE_SETUP) != !w->pjrt) {
			rc = err_set(&err, "a request came before the worker was set up, or it was "
					   "set up twice");
			break;
		}
		if (f.type == WIRE_SETUP) {
			struct cursor c = cursor_of(f.payload.data, f.payload.len);
			set_up(w, &c, &out);
		} else {
			w->id = f.id;
			answer(w, &f, &out);
		}
		if ((rc = wire_send(WIRE_FD, (enum wire_type)f.type, f.id, &out, &err)) < 0)
			break;
	}
	buf_release(&f.payload);
	buf_release(&out);
	return rc < 0 ? err_exit(&err) : 0;
}

int main(int argc, char **argv)
{
	static const struct opt table[] = {OPT_END};
	static const struct opt_program prog = {"vantage-worker", "",
		"Holds a compiler plugin for the other programs, which start it by themselves: it "
		"speaks frames on "
		"descriptor 3 and is of no use by hand.",
		table};
	struct worker w = {0};
	struct err err = {{0}};
	int words, type;
	socklen_t size = sizeof type;
	err_program("vantage-worker");
	stop_on_signals(STOP_BY_DEFAULT);
	int rc = opt_parse(&prog, argc, argv, &words, &err);
	if (rc)
		return rc < 0 ? err_exit(&err) : 0;
	if (getsockopt(WIRE_FD, SOL_SOCKET, SO_TYPE, &type, &size) < 0) {
		err_set(&err, "it is started by the other programs and is of no use by hand");
		return err_exit(&err);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == 1)
		return 1; /* the parent died meanwhile */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	rc = serve(&w);
	/* No tidying up: plugins may hang when their client is destroyed, and the memory goes
	 * anyway. */
	fflush(stderr);
	_exit(rc);
}
