/*
 * recode.c - see recode.h.
 */
#include "search/recode.h"

#include <float.h>
#include <math.h>
#include "base/io.h"

#define PAGE 4096.0
#define PAGE_SECONDS 1e-6 /* that a page costs when it is touched first; 1.0 to 1.3 us on a Xeon */

/* The ways that an earlier search took. */
static uint32_t taken_earlier(const char *dir)
{
	struct buf path = {0}, text = {0};
	struct err ignored;
	uint32_t ways = 0;

	buf_addf(&path, "%s/options.txt", dir);
	if (io_exists(path.data) && io_read_file(path.data, IO_FILE_LIMIT, &text, &ignored) == 0) {
		buf_addch(&text, 0);
		ways = codegen_read(text.data);
	}
	buf_release(&path);
	buf_release(&text);
	return ways;
}

/* What all ways that were taken save together, of those whose gain is known; its standard error. */
static double together(const struct recode *r, double *se)
{
	double left = 1, variance = 0;

	for (unsigned i = 0; i < CODEGEN_MOST; i++)
		if (r->taken >> i & 1) {
			left *= 1 - r->gain[i];
			variance += r->se[i] * r->se[i];
		}
	*se = sqrt(variance);
	return 1 - left;
}

/* The ways that may be of use for the program that leads. */
static uint32_t of_use(const struct race *x)
{
	uint32_t ways = device_info(x->h->lab->device)->codegen;

	for (unsigned i = 0; i < CODEGEN_MOST; i++)
		if ((ways >> i & 1) && x->best.temp_bytes < (uint64_t)codegen_way(i)->mib << 20)
			ways &= ~(UINT32_C(1) << i);
	return ways;
}

double recode_promise(const struct race *x)
{
	if (!(of_use(x) & codegen_for_memory()))
		return 0;
	return PAGE_SECONDS * (double)x->best.temp_bytes / PAGE / fmax(hunt_own_seconds(x->h), DBL_MIN);
}

/* The way is taken, in place of another value of its option; what both saved is its gain. */
static void take(struct recode *r, unsigned i)
{
	uint32_t before = r->taken & codegen_rivals(i);

	for (unsigned k = 0; k < CODEGEN_MOST; k++)
		if (before >> k & 1) {
			r->gain[i] = 1 - (1 - r->gain[i]) * (1 - r->gain[k]);
			r->se[i] = hypot(r->se[i], r->se[k]);
		}
	r->taken = (r->taken & ~before) | UINT32_C(1) << i;
}

int recode_answer(struct recode *r, struct race *x, uint32_t ways, struct err *err)
{
	struct device *d = x->h->lab->device;
	struct lap lap;
	int rc = 0;

	for (unsigned i = 0; i < CODEGEN_MOST && rc >= 0 && race_goes_on(x); i++) {
		if (!((ways & of_use(x) & ~r->asked) >> i & 1))
			continue;
		device_codegen(d, (r->taken & ~codegen_rivals(i)) | UINT32_C(1) << i);
		rc = race_enter(x, x->h->lab->how, &x->module, &lap, err);
		r->asked |= (uint32_t)lap.run << i;
		r->gain[i] = lap.gain;
		r->se[i] = lap.se;
		if (rc == 1)
			take(r, i);
		device_codegen(d, r->taken);
		if (rc >= 0)
			rc = race_recover(x, err);
	}
	return rc < 0 ? -1 : 0;
}

void recode_again(struct recode *r, const char *from, struct device *d)
{
	r->taken = device_info(d)->codegen & taken_earlier(from);
	device_codegen(d, r->taken);
}

void recode_json(const struct recode *r, struct json *j)
{
	if (!(r->asked | r->taken))
		return;
	json_array(j, "codegen");
	for (unsigned i = 0; i < CODEGEN_MOST; i++) {
		if (!((r->asked | r->taken) >> i & 1))
			continue;
		json_object(j, NULL);
		json_str(j, "option", codegen_way(i)->option);
		json_bool(j, "taken", r->taken >> i & 1);
		if (r->asked >> i & 1) {
			json_num(j, "gain", r->gain[i]);
			json_num(j, "gain_se", r->se[i]);
		}
		json_end(j);
	}
	json_end(j);
}

void recode_text(const struct recode *r, struct buf *out)
{
	double se, gain = together(r, &se);

	if (!r->taken)
		return;
	buf_adds(out, "Its code has ");
	codegen_words(r->taken, out);
	buf_adds(out, " (");
	codegen_options(r->taken, ", ", out);
	buf_adds(out, ")");
	if (r->asked)
		buf_addf(out, ", with which it took %.1f%% +- %.1f less time", 100 * gain, 100 * se);
	buf_adds(out, ".");
}
