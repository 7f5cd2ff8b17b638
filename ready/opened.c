/*
 * opened.c - see opened.h. Each program has a packed file that begins with a hash of its contents, so a torn one is
 * noticed.
 */
#include "ready/opened.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/hash.h"
#include "base/home.h"
#include "base/io.h"
#include "base/mem.h"

/* 1 could hold a program that came of other decisions, under the name of the user's own; 2 the time of a cold run. */
#define FORMAT 4u
#define ROOM ((uint64_t)2 << 30)       /* the most bytes of all files together */
#define LONG_RUN 1.0		       /* seconds; a longer run is not repeated only to know how long it takes, */
#define LONG_LOAD 20.0 /* ... nor one of a program that took so long to compile: loading it takes long, too */
#define UNPACKED ((size_t)4 << 30)
#define PACE_BYTES 64
#define PACE_MOST 1.0 /* seconds an instruction: no compiler is so slow */
#define LATEST 0.5    /* the weight of the latest program in the pace */

void opened_release(struct opened *o)
{
	buf_release(&o->before);
	buf_release(&o->after);
	spares_release(&o->spares);
	*o = (struct opened){0};
}

/* Appends the folder; false if there is no home folder. */
static bool folder(struct buf *out)
{
	if (home_path("XDG_CACHE_HOME", ".cache", out) < 0)
		return false;
	buf_adds(out, "/vantage/opened");
	return true;
}

static uint64_t add_text(uint64_t h, const char *text)
{
	return hash64(text, strlen(text) + 1, h);
}

/* Appends what two hashes say of these bytes and of the device. */
static void add_name(const void *bytes, size_t n, const struct device *d, struct buf *out)
{
	const struct device_info *i = device_info(d);

	for (uint64_t k = 0; k < 2; k++) {
		uint64_t h = hash64(bytes, n, FORMAT + (k << 32));
		h = add_text(add_text(h, i->build), i->version);
		h = add_text(add_text(add_text(h, i->machine), i->device), i->compile_options);
		if (i->inputs)
			h = hash_mix(h, i->inputs);
		if (*i->made_by)
			h = add_text(h, i->made_by);
		buf_addf(out, "%016llx", (unsigned long long)h);
	}
}

static bool path_of(const struct opened *o, const struct buf *original, const struct device *d, struct buf *out)
{
	if (!folder(out))
		return false;
	buf_adds(out, "/");
	add_name(original->data, original->len, d, out);
	buf_adds(out, o->flat ? ".flat.zst" : ".zst");
	return true;
}

static bool pace_path(const struct device *d, struct buf *out)
{
	if (!folder(out))
		return false;
	buf_adds(out, "/pace-");
	add_name("", 0, d, out);
	return true;
}

double opened_pace(const struct device *d)
{
	struct buf path = {0}, file = {0};
	struct err ignored;
	double pace = 0;

	if (pace_path(d, &path) && io_exists(path.data) && io_read_file(path.data, PACE_BYTES, &file, &ignored) == 0)
		pace = strtod(file.data, NULL);
	buf_release(&path);
	buf_release(&file);
	return pace > 0 && pace < PACE_MOST ? pace : 0;
}

static void keep_pace(const struct device *d, double pace)
{
	struct buf path = {0}, text = {0}, at = {0};
	double before = opened_pace(d);
	struct err ignored;

	buf_addf(&text, "%.4g\n", before > 0 ? before + LATEST * (pace - before) : pace);
	if (folder(&at) && io_make_dir(at.data, &ignored) == 0 && pace_path(d, &path))
		io_write_file(path.data, text.data, text.len, &ignored);
	buf_release(&path);
	buf_release(&text);
	buf_release(&at);
}

#define FIGURES(F) F(f64, seconds) F(f64, run) F(f64, run_se) F(f64, more) F(f64, more_se)

static void save(const struct opened *at, struct buf *out)
{
	uint32_t n = 0;

	FIGURES(FIELD_SAVE)
	buf_blob(out, at->before.data, at->before.len);
	buf_blob(out, at->after.data, at->after.len);
	for (int i = 0; i < SPARES; i++)
		n += at->spares.program[i].executable.len != 0;
	buf_u32(out, n);
	for (int i = 0; i < SPARES; i++) {
		const struct spare *p = &at->spares.program[i];
		if (!p->executable.len)
			continue;
		buf_u64(out, p->hash);
		buf_f64(out, p->seconds);
		buf_blob(out, p->executable.data, p->executable.len);
	}
}

static void load_blob(struct cursor *in, struct buf *out)
{
	size_t n;
	const void *p = cursor_blob(in, &n);

	if (p)
		buf_add(out, p, n);
}

static bool load(struct opened *at, struct cursor *in)
{
	uint32_t n;

	FIGURES(FIELD_LOAD)
	load_blob(in, &at->before);
	load_blob(in, &at->after);
	n = cursor_u32(in);
	for (uint32_t i = 0; i < n && i < SPARES; i++) {
		struct spare *p = &at->spares.program[i];
		p->hash = cursor_u64(in);
		p->seconds = cursor_f64(in);
		p->used = ++at->spares.tick;
		load_blob(in, &p->executable);
	}
	return cursor_done(in) && n <= SPARES && at->before.len > 0;
}

bool opened_find(struct opened *o, const struct buf *original, const struct device *d)
{
	struct buf path = {0}, file = {0};
	struct err ignored;
	struct cursor c;
	uint64_t sum;
	bool found = false, flat = o->flat;

	*o = (struct opened){.flat = flat};
	if (device_info(d)->kind == COST_MEASURED && path_of(o, original, d, &path) && io_exists(path.data) &&
		io_read_file(path.data, UNPACKED, &file, &ignored) == 0) {
		c = cursor_of(file.data, file.len);
		found = cursor_u32(&c) == FORMAT;
		sum = cursor_u64(&c);
		found = found && sum == hash64(c.p, cursor_left(&c), FORMAT) && load(o, &c);
		if (!found)
			opened_release(o);
	}
	o->flat = flat;
	buf_release(&path);
	buf_release(&file);
	return found;
}

/* Removes the oldest files until the others fit. */
static void make_room(const char *at)
{
	for (;;) {
		DIR *dir = opendir(at);
		struct buf oldest = {0}, path = {0};
		uint64_t bytes = 0;
		time_t age = 0;
		struct stat st;

		for (struct dirent *e; dir && (e = readdir(dir));) {
			buf_reset(&path);
			buf_addf(&path, "%s/%s", at, e->d_name);
			if (stat(path.data, &st) < 0 || !S_ISREG(st.st_mode))
				continue;
			bytes += (uint64_t)st.st_size;
			if (oldest.len && st.st_mtime >= age)
				continue;
			age = st.st_mtime;
			buf_reset(&oldest);
			buf_adds(&oldest, path.data);
		}
		if (dir)
			closedir(dir);
		bool gone = bytes > ROOM && oldest.len && unlink(oldest.data) == 0;
		buf_release(&oldest);
		buf_release(&path);
		if (!gone)
			return;
	}
}

void opened_compiled(const struct device *d, double seconds, uint32_t instructions)
{
	if (seconds >= SPARE_DEAR && instructions && device_info(d)->kind == COST_MEASURED)
		keep_pace(d, seconds / instructions);
}

void opened_keep(const struct opened *o, const struct buf *original, const struct device *d)
{
	struct buf path = {0}, at = {0}, body = {0}, file = {0}, packed = {0};
	struct opened kept = *o;
	struct err ignored;

	if (o->seconds < SPARE_DEAR || device_info(d)->kind != COST_MEASURED || !path_of(o, original, d, &path))
		return;
	if (kept.run < LONG_RUN && kept.seconds < LONG_LOAD)
		kept.run = 0;
	save(&kept, &body);
	buf_u32(&file, FORMAT);
	buf_u64(&file, hash64(body.data, body.len, FORMAT));
	buf_add(&file, body.data, body.len);
	io_pack(file.data, file.len, 0, &packed);
	if (folder(&at) && io_make_dir(at.data, &ignored) == 0 && io_write_file(path.data, packed.data, packed.len,
		&ignored) == 0)
		make_room(at.data);
	buf_release(&path);
	buf_release(&at);
	buf_release(&body);
	buf_release(&file);
	buf_release(&packed);
}
