/*
 * welding.c - see welding.h.
 */
#include "search/welding.h"

#include <float.h>
#include <math.h>
#include "device/codegen.h"
#include "search/earlier.h"

/*
 * The first harms few programs and helps most of those that others help, and there may be no time for more. A size can
 * do harm and a larger one good: it may leave rows in a loop that the larger one welds as a whole.
 */
static const double sizes[] = {1 << 16, 1 << 20, 1 << 26, 1 << 12};
#define N_SIZES (sizeof sizes / sizeof *sizes)
_Static_assert(N_SIZES <= WELDING_MOST, "all that is tried is kept");

/* Was as much welded by an earlier size? Then it was most likely the same. */
static bool known(const struct weldings *w, struct welded welded)
{
	bool is = welded.into == 0;

	for (uint32_t i = 0; i < w->n; i++)
		is = is || (w->tried[i].welded.into == welded.into && w->tried[i].welded.kernels == welded.kernels);
	return is;
}

/* From now on the answer is welded so. */
static void take(struct weldings *w, struct lab *lab, struct welding how, struct welded welded)
{
	lab->weld = how;
	lab->how = COMPILE_CODEGEN;
	w->bytes = how.most;
	w->welded = welded;
}

/* Tries one size. */
static int try_size(struct weldings *w, struct race *x, const struct buf *apart, double bytes, struct err *err)
{
	struct lab *lab = x->h->lab;
	struct welding how = {codegen_weld(device_info(lab->device)->family), bytes};
	struct weld_tried *t = &w->tried[w->n];
	struct buf module = {0};
	int rc = 0;

	*t = (struct weld_tried){.bytes = bytes};
	if (weld(apart->data, apart->len, &how, &module, &t->welded, NULL) == 0 && !known(w, t->welded)) {
		w->n++;
		rc = race_enter(x, COMPILE_CODEGEN, &module, &t->lap, err);
	}
	if (rc == 1) {
		take(w, lab, how, t->welded);
		w->gain = 1 - (1 - w->gain) * (1 - t->lap.gain);
		w->se = hypot(w->se, t->lap.se);
	}
	buf_release(&module);
	return rc < 0 ? -1 : race_recover(x, err);
}

bool welding_possible(const struct lab *lab)
{
	const struct device_info *i = lab->device ? device_info(lab->device) : NULL;

	return i && !i->plain && codegen_weld(i->family);
}

double welding_promise(const struct hunt *h)
{
	struct lab *lab = h->lab;
	struct welding how = {codegen_weld(device_info(lab->device)->family), sizes[0]};
	struct buf apart = {0}, module = {0};
	struct welded w = {0};

	if (lab->space->ops->apply(lab->space, h->config, &apart, NULL) == 0)
		(void)weld(apart.data, apart.len, &how, &module, &w, NULL);
	buf_release(&apart);
	buf_release(&module);
	return w.starts * h->part.value / fmax(hunt_own_seconds(h), DBL_MIN);
}

int welding_answer(struct weldings *w, struct race *x, struct err *err)
{
	struct lab *lab = x->h->lab;
	struct buf apart = {0};
	int rc = 0;

	if (!race_goes_on(x))
		return 0;
	rc = lab->space->ops->apply(lab->space, x->h->config, &apart, err);
	for (size_t i = 0; i < N_SIZES && rc == 0 && race_goes_on(x); i++)
		rc = try_size(w, x, &apart, sizes[i], err);
	buf_release(&apart);
	return rc;
}

int welding_again(struct weldings *w, const char *from, struct lab *lab, const uint8_t *config, struct err *err)
{
	struct welding how = {codegen_weld(device_info(lab->device)->family), earlier_number(from, "welded_bytes")};
	struct buf apart = {0}, module = {0};
	struct welded welded = {0};
	int rc;

	if (how.most <= 0)
		return 0;
	rc = lab->space->ops->apply(lab->space, config, &apart, err);
	if (rc == 0 && weld(apart.data, apart.len, &how, &module, &welded, NULL) == 0 && welded.into)
		take(w, lab, how, welded);
	buf_release(&apart);
	buf_release(&module);
	return rc;
}

void welding_undo(struct weldings *w, struct lab *lab)
{
	w->bytes = 0;
	lab->weld = (struct welding){0};
}

void welding_json(const struct weldings *w, struct json *j)
{
	if (!w->n && w->bytes <= 0)
		return;
	json_num(j, "welded_bytes", w->bytes);
	json_array(j, "welded");
	for (uint32_t i = 0; i < w->n; i++) {
		const struct weld_tried *t = &w->tried[i];
		json_object(j, NULL);
		json_num(j, "bytes", t->bytes);
		json_uint(j, "kernels", t->welded.kernels);
		json_uint(j, "into", t->welded.into);
		if (t->lap.run) {
			json_num(j, "gain", t->lap.gain);
			json_num(j, "gain_se", t->lap.se);
		}
		json_end(j);
	}
	json_end(j);
}

void welding_text(const struct weldings *w, struct buf *out)
{
	if (w->bytes <= 0)
		return;
	buf_addf(out,
		"%u of its kernels were made %u, none of which moves more than %.0f KiB a run, or a turn of its loop",
		w->welded.kernels, w->welded.into, w->bytes / 1024);
	if (w->gain > 0)
		buf_addf(out, ", with which it took %.1f%% +- %.1f less time", 100 * w->gain, 100 * w->se);
	buf_adds(out, ".");
}
