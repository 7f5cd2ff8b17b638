/*
 * output.c - writing the folder, and the state to go on from.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/hash.h"
#include "base/io.h"
#include "base/talk.h"
#include "device/backend.h"
#include "hlo/compact.h"
#include "search/mend.h"
#include "search/output.h"

#define LONG_BESIDE 5.0 /* seconds beside those of the search, from which on they are worth a line */
#define STATE_LIMIT ((size_t)1 << 30)
/*
 * Of the file `state`, and how all of them begin. Older ones do not say where they were measured, and the oldest not
 * even which decisions they are about, so they cannot be trusted. The settings are compared as they stand; what follows
 * them has a checksum.
 */
#define STATE_MAGIC "vantage search 3"
#define STATE_MAGICS "vantage search"

int output_hold(const char *dir, struct err *err)
{
	int fd;

	if (io_make_dir(dir, err) < 0)
		return -1;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, "folder %s cannot be opened", dir);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) /* some file systems have no locks */
		return fd;
	close(fd);
	return err_set(err, "another search is writing into %s: wait until it ends, or choose another --out", dir);
}

int output_prepare(const char *dir, struct err *err)
{
	struct buf path = {0};
	int rc = io_make_dir(dir, err);

	buf_addf(&path, "%s/.writable", dir);
	if (rc == 0)
		rc = io_write_file(path.data, "", 0, err);
	if (rc == 0)
		unlink(path.data);
	buf_release(&path);
	return rc;
}

int output_clear(const char *dir, struct err *err)
{
	static const char *const left[] = {"config.json", "decisions.json", "report.html", "options.txt", "tuned.exe",
		"tuned.pb", "default.pb", "derived.pb"};
	int rc = 0;

	for (size_t i = 0; i < sizeof left / sizeof *left && rc == 0; i++)
		rc = io_remove_in(dir, left[i], err);
	for (const struct space_kind *k = NULL; rc == 0 && (k = space_kind_next(k));)
		rc = k->answer_file ? io_remove_in(dir, k->answer_file, err) : 0;
	return rc;
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int output_drop_kind(const char *dir, const char *kind, const char *graph, struct err *err)
{
	static const char *const left[] = {"report.html", "derived.pb", "state", "decisions.json"};
	struct buf inner = {0}, answer = {0}, decided = {0}, program = {0};
	int rc = 0;

	buf_addf(&inner, "%s/%s", dir, kind);
	buf_addf(&answer, "%s/config.json", inner.data);
	buf_addf(&decided, "%s/decisions.json", inner.data);
	buf_addf(&program, "%s/derived.pb", inner.data);
	if (io_exists(decided.data) && !io_exists(answer.data) && !same_file(graph, program.data)) {
		for (size_t i = 0; i < sizeof left / sizeof *left && rc == 0; i++)
			rc = io_remove_in(inner.data, left[i], err);
		rmdir(inner.data);
	}
	buf_release(&inner);
	buf_release(&answer);
	buf_release(&decided);
	buf_release(&program);
	return rc;
}

int output_write_decisions(const char *dir, const struct result *r, struct err *err)
{
	struct buf text = {0};
	int rc;

	output_json_decisions(r, &text);
	rc = io_write_in(dir, "decisions.json", text.data, text.len, err);
	buf_reset(&text);
	report_write(r, &text);
	if (rc == 0)
		rc = io_write_in(dir, "report.html", text.data, text.len, err);
	buf_release(&text);
	return rc;
}

static void warn(const struct err *why)
{
	fprintf(stderr, "search: warning: the answer is without its compiled form, tuned.exe: %s\n", why->text);
}

void output_executable(const char *dir, const struct buf *executable)
{
	struct err why;

	if (io_write_in(dir, "tuned.exe", executable->data, executable->len, &why) < 0)
		warn(&why);
}

/* Writes the tuned program as it was compiled for the verdict, if that was dear, or compiles it now. */
static void write_executable(const char *dir, struct lab *lab, struct device *d, const struct buf *module)
{
	const struct spare *known = spare_get(&lab->subject.opened.spares, lab->how, module);
	struct compiled c = {0};
	struct err why;

	if (known) {
		output_executable(dir, &known->executable);
		return;
	}
	if (device_compile(d, lab->how, "hlo", module->data, module->len, WANT_SERIALISED, &c, &why) < 0)
		warn(&why);
	else if (c.outcome == OUTCOME_OK && c.serialised.len)
		output_executable(dir, &c.serialised);
	if (c.handle)
		device_drop(d, &c, &why);
	compiled_release(&c);
}

/* Writes the answer in the kind's own form, for the users of the program. */
static int write_answer(const char *dir, const struct result *r, const uint8_t *config, struct err *err)
{
	struct space *s = r->hunt->s;
	struct buf text = {0};
	int rc = 0;

	if (s->ops->answer)
		s->ops->answer(s, config, &text);
	if (s->ops->answer && (text.len || !s->ops->prepares))
		rc = io_write_in(dir, s->ops->kind->answer_file, text.data, text.len, err);
	buf_release(&text);
	return rc;
}

static int add_line(void *out, const char *name, const char *value)
{
	buf_addf(out, "%s=%s\n", name, value);
	return 0;
}

/*
 * What is to be used: what was found, or the default, which is the program as it was given or what people do by hand.
 */
static int write_module(const char *dir, const struct result *r, struct buf *module, struct buf *options,
	struct err *err)
{
	struct space *s = r->hunt->s;
	const struct buf *original = &r->hunt->lab->subject.original;
	bool found = r->verdict->tuned || r->verdict->forgone, decided = found || r->hunt->lab->reference;
	bool own = r->hunt->lab->how == COMPILE_CODEGEN_OWN;
	const char *base = !r->device ? "" : own ? codegen_always(r->device->family) : r->device->compile_options;
	uint8_t *config = MEM_NEW(s->n_sites + 1, uint8_t);
	int rc = 0;

	space_default(s, config);
	if (found)
		memcpy(config, r->hunt->config, s->n_sites);
	if (decided)
		rc = lab_answer(r->hunt->lab, config, module, err);
	else
		buf_add(module, original->data, original->len);
	if (rc == 0 && decided)
		rc = options_each(base, add_line, options, err);
	if (rc == 0 && decided && r->form->recode.taken) {
		codegen_options(r->form->recode.taken, "\n", options);
		buf_addch(options, '\n');
	}
	if (rc == 0 && decided && r->device)
		buf_addf(options, "%s", codegen_needed(r->device->family, module->data, module->len));
	if (rc == 0 && (decided || !s->ops->prepares))
		rc = write_answer(dir, r, config, err);
	mem_free(config);
	return rc;
}

/* Writes the module with compact ids, so that it compiles as fast for its users as it did here. */
static int write_compact(const char *dir, const struct buf *module, struct err *err)
{
	struct buf compact = {0};
	const struct buf *out = compact_ids(module->data, module->len, &compact) ? &compact : module;
	int rc = io_write_in(dir, "tuned.pb", out->data, out->len, err);

	buf_release(&compact);
	return rc;
}

int output_write(const char *dir, const struct result *r, struct device *d, struct err *err)
{
	const struct buf *original = &r->hunt->lab->subject.original;
	struct buf module = {0}, text = {0};
	int rc = output_clear(dir, err);

	if (rc == 0)
		rc = write_module(dir, r, &module, &text, err);
	if (rc == 0)
		rc = io_write_in(dir, "default.pb", original->data, original->len, err);
	if (rc == 0)
		rc = write_compact(dir, &module, err);
	if (rc == 0)
		rc = io_write_in(dir, "options.txt", text.data ? text.data : "", text.len, err);
	if (rc == 0 && r->verdict->tuned && d && r->device->kind == COST_MEASURED)
		write_executable(dir, r->hunt->lab, d, &module);
	buf_reset(&text);
	report_write(r, &text);
	if (rc == 0)
		rc = io_write_in(dir, "report.html", text.data, text.len, err);
	buf_reset(&text);
	output_json_config(r, &text);
	if (rc == 0)
		rc = io_write_in(dir, "config.json", text.data, text.len, err);
	buf_release(&module);
	buf_release(&text);
	return rc;
}

void output_summary(const struct result *r, const char *dir, bool json, struct buf *out)
{
	const struct hunt *h = r->hunt;
	struct buf form = {0};
	char time[32], judging[32];

	if (json) {
		output_json_summary(r, dir, out);
		return;
	}
	buf_addf(out, "%s\n", r->verdict->sentence);
	if (*r->verdict->compared)
		buf_addf(out, "%s\n", r->verdict->compared);
	if (*r->verdict->advice)
		buf_addf(out, "%s\n", r->verdict->advice);
	if (verdict_attention(r->verdict))
		buf_addf(out, "%s\n", verdict_attention(r->verdict));
	form_text(r->form, &form);
	if (r->verdict->tuned && form.len)
		buf_addf(out, "%s\n", form.data);
	buf_release(&form);
	if (r->first) {
		buf_addf(out, "First %llu evaluation%s of the kind %s in %.1f s: %llu kept%s\n",
			(unsigned long long)r->first->evaluations, r->first->evaluations == 1 ? "" : "s",
			r->first->s->ops->kind->name, hunt_seconds(r->first), (unsigned long long)r->first->kept,
			r->before ? "" : ", and the program was left as it is");
		mend_words(r->first, out);
		buf_adds(out, r->first->withdrawn.places ? "\n" : "");
	}
	buf_addf(out,
		"%llu evaluation%s in %.1f s: %llu measured, %llu cached, %llu kept, %llu refuted when measured again",
		(unsigned long long)h->evaluations, h->evaluations == 1 ? "" : "s", hunt_seconds(h),
		(unsigned long long)h->measured, (unsigned long long)h->cached, (unsigned long long)h->kept,
		(unsigned long long)h->refuted);
	if (h->cut)
		buf_addf(out, ", %llu given up for want of time", (unsigned long long)h->cut);
	if (h->beyond)
		buf_addf(out, ", %llu beyond a limit", (unsigned long long)h->beyond);
	for (int o = 1; o < OUTCOME_COUNT; o++)
		if (h->failed[o])
			buf_addf(out, ", %llu %s", (unsigned long long)h->failed[o], outcome_name((enum outcome)o));
	if (h->used_up)
		buf_adds(out, "; nothing was left to try");
	buf_addch(out, '\n');
	if (r->opening + r->judging >= LONG_BESIDE)
		buf_addf(out, "Opening the program took %s, the verdict %s.\n",
			talk_seconds(r->opening, time, sizeof time), talk_seconds(r->judging, judging, sizeof judging));
	if (hunt_passed_over(h))
		buf_addf(out,
			"%u more %s passed over: to price one would have taken longer than its share of the time "
			"(%s at most); with more --seconds they are tried.\n",
			hunt_passed_over(h), hunt_passed_over(h) == 1 ? "was" : "were",
			talk_seconds(h->dearest, time, sizeof time));
	by_hand_text(r->by_hand, out);
	buf_addf(out, "%s/report.html\n", dir);
}

/* What a configuration means and what costs are relative to: the sites with their choices, and the default. */
static uint64_t decisions(const struct space *s)
{
	uint8_t *dflt = mem_alloc(s->n_sites + 1);
	uint64_t h;

	space_default(s, dflt);
	h = hash_mix(s->hash, config_hash(s, dflt));
	mem_free(dflt);
	return h;
}

int output_save_state(const char *dir, const struct hunt *h, const struct state_of *of, struct err *err)
{
	struct buf b = {0}, rest = {0};
	int rc;

	buf_str(&rest, of->where);
	buf_u64(&rest, decisions(h->s));
	hunt_save(h, &rest);
	buf_str(&b, STATE_MAGIC);
	buf_str(&b, of->settings);
	buf_u64(&b, hash64(rest.data, rest.len, HUNT_FORMAT));
	buf_add(&b, rest.data, rest.len);
	rc = io_write_in(dir, "state", b.data, b.len, err);
	buf_release(&b);
	buf_release(&rest);
	return rc;
}

static bool is_state(const char *magic)
{
	return strncmp(magic, STATE_MAGICS, strlen(STATE_MAGICS)) == 0;
}

/* Reads what follows the settings, which are the same: as output_load_state. */
static int load_rest(const char *path, struct cursor *in, struct hunt *h, const struct state_of *of,
	const char **unlike, struct err *err)
{
	uint64_t sum = cursor_u64(in);
	bool whole = sum == hash64(in->p, cursor_left(in), HUNT_FORMAT);
	char *where = cursor_str(in);
	int rc = 0;

	if (!whole)
		rc = err_set(err, "%s is damaged; choose another --out, or leave out --resume", path);
	else if (strcmp(where, of->where) != 0)
		rc = err_set(err, "%s was saved by a search on another machine or other cores, or with another "
			"compiler (%.500s); choose another --out, or leave out --resume", path, where);
	else if (cursor_u64(in) != decisions(h->s))
		*unlike = OUTPUT_DECIDED;
	else if (hunt_load(h, in->p, cursor_left(in), err) == 0)
		rc = 1;
	else
		rc = err_prefix(err, "%s", path);
	mem_free(where);
	return rc;
}

int output_load_state(const char *dir, struct hunt *h, const struct state_of *of, const char **unlike, struct err *err)
{
	struct buf path = {0}, b = {0};
	char *magic = NULL, *saved = NULL;
	int rc = 0;

	buf_addf(&path, "%s/state", dir);
	if (!io_exists(path.data))
		goto out;
	rc = -1;
	if (io_read_file(path.data, STATE_LIMIT, &b, err) < 0)
		goto out;
	struct cursor in = cursor_of(b.data, b.len);
	magic = cursor_str(&in);
	saved = cursor_str(&in);
	if (!is_state(magic))
		err_set(err, "%s is no saved search", path.data);
	else if (strcmp(saved, of->settings) != 0)
		err_set(err,
			"%s was saved by a search with other settings (%s); choose another --out, or leave out "
			"--resume",
			path.data, saved);
	else if (strcmp(magic, STATE_MAGIC) == 0)
		rc = load_rest(path.data, &in, h, of, unlike, err);
	else
		rc = 0, *unlike = "is of another version, and does not say where it was measured";
out:
	mem_free(magic);
	mem_free(saved);
	buf_release(&path);
	buf_release(&b);
	return rc;
}

bool output_saved_setting(const char *dir, const char *key, struct buf *out)
{
	struct buf path = {0}, b = {0}, start = {0};
	char *magic, *saved;
	const char *value;
	bool found = false;

	buf_addf(&path, "%s/state", dir);
	buf_addf(&start, "\"%s\":\"", key);
	if (io_exists(path.data) && io_read_file(path.data, STATE_LIMIT, &b, NULL) == 0) {
		struct cursor in = cursor_of(b.data, b.len);
		magic = cursor_str(&in);
		saved = cursor_str(&in);
		value = strstr(saved, start.data);
		found = is_state(magic) && value;
		if (found) {
			value += start.len;
			buf_add(out, value, strcspn(value, "\""));
		}
		mem_free(magic);
		mem_free(saved);
	}
	buf_release(&path);
	buf_release(&b);
	buf_release(&start);
	return found;
}

int output_drop_state(const char *dir, struct err *err)
{
	return io_remove_in(dir, "state", err);
}
