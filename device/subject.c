/*
 * subject.c - from what --graph names to a space.
 *
 * Three steps. Fetch: a toy is generated; a dump folder is searched for the program before all
 * optimisation; a file is read; MLIR is lowered by the plugin. Extract: the device compiles once and
 * hands out the module just before its fusion pass and the one just after; our performance model has no
 * passes and hands the program back. Open: the space over the module before, its defaults decoded
 * from the one after.
 *
 * Without a device the program is taken as it is, so that stores and models can be looked at anywhere.
 */
#include "device/subject.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/io.h"
#include "graph/fusion.h"
#include "graph/toy.h"

#define BACKEND_WITHOUT_DEVICE "cpu"

static bool ends_with(const char *s, size_t n, const char *end)
{
	size_t e = strlen(end);
	return n >= e && memcmp(s + n - e, end, e) == 0;
}

/* File name without folders and endings. */
static char *short_name(const char *path)
{
	static const char *const endings[] = {".zst", ".pb", ".hlo", ".txt", ".mlir", ".mlirbc",
		".before_optimizations", "/"};
	size_t n = strlen(path), i = 0;
	const char *base = path;
	char *name;

	while (i < sizeof endings / sizeof *endings) {
		if (n > strlen(endings[i]) && ends_with(path, n, endings[i])) {
			n -= strlen(endings[i]);
			i = 0;
		} else {
			i++;
		}
	}
	for (size_t k = 0; k + 1 < n; k++)
		if (path[k] == '/')
			base = path + k + 1;
	name = mem_alloc(n + 1);
	snprintf(name, n + 1, "%.*s", (int)(n - (size_t)(base - path)), base);
	return name;
}

static bool is_folder(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* How much a dump's file is wanted: 2 protobuf, 1 text, 0 not at all. */
static int wanted(const char *name)
{
	size_t n = strlen(name);

	if (!strstr(name, "before_optimizations"))
		return 0;
	if (ends_with(name, n, ".hlo.pb") || ends_with(name, n, ".hlo.pb.zst"))
		return 2;
	return ends_with(name, n, "before_optimizations.txt") ? 1 : 0;
}

/* The one program in a dump folder; its path into `out`. */
static int find_in_dump(const char *path, struct buf *out, struct err *err)
{
	DIR *dir = opendir(path);
	struct buf names = {0};
	int best = 0, n = 0, rc = -1;

	if (!dir)
		return err_errno(err, "cannot read the folder %s", path);
	for (struct dirent *e; (e = readdir(dir));) {
		int want = wanted(e->d_name);
		if (want == 0 || want < best)
			continue;
		if (want > best) {
			best = want;
			n = 0;
			buf_reset(&names);
		}
		buf_addf(&names, "%s%s", n++ ? ", " : "", e->d_name);
	}
	closedir(dir);
	if (n == 1) {
		buf_addf(out, "%s/%s", path, names.data);
		rc = 0;
	} else if (n == 0) {
		err_set(err, "the folder %s holds no *before_optimizations.hlo.pb, as XLA dumps them", path);
	} else {
		err_set(err, "the folder %s holds %d programs; name one of them: %.700s", path, n, names.data);
	}
	buf_release(&names);
	return rc;
}

static int extracted_ok(const struct subject *s, const struct extracted *e, struct err *err)
{
	if (e->outcome == OUTCOME_OK)
		return 0;
	return err_set(err, "%s cannot be compiled: %s: %.500s", s->name, outcome_meaning(e->outcome), e->detail);
}

/* Lets the compiler lower MLIR; everything comes at once. */
static int lower(struct subject *s, const struct buf *file, struct device *d, struct extracted *e,
	struct err *err)
{
	if (!d)
		return err_set(err, "%s is MLIR; lowering it takes a device with a plugin (--device)", s->name);
	if (device_extract(d, "mlir", file->data, file->len, e, err) < 0 || extracted_ok(s, e, err) < 0)
		return -1;
	if (e->initial.len == 0)
		return err_set(err, "%s was compiled, but the plugin did not show it as HLO", s->name);
	buf_add(&s->original, e->initial.data, e->initial.len);
	return 0;
}

/* Fills original; of MLIR, what was extracted as well. */
static int fetch(struct subject *s, const char *path, struct device *d, struct extracted *e,
	struct err *err)
{
	struct buf file = {0};
	struct graph g = {0};
	int rc = io_read_file(path, IO_FILE_LIMIT, &file, err);

	if (rc == 0 && graph_sniff(file.data, file.len) == GRAPH_MLIR) {
		rc = lower(s, &file, d, e, err);
	} else if (rc == 0) {
		rc = graph_parse(&g, file.data, file.len, path, err);
		if (rc == 0)
			graph_write(&g, &s->original);
		graph_release(&g);
	}
	buf_release(&file);
	return rc;
}

static int fetch_any(struct subject *s, const char *path, struct device *d, struct extracted *e,
	struct err *err)
{
	struct buf found = {0};
	int rc = 0;

	if (is_folder(path))
		rc = find_in_dump(path, &found, err);
	if (rc == 0) {
		path = found.len ? found.data : path;
		s->name = short_name(path);
		rc = fetch(s, path, d, e, err);
	}
	buf_release(&found);
	return rc;
}

static int decode(struct subject *s, const struct buf *after, struct err *err)
{
	struct fusion_report r = {0};
	struct graph g = {0};
	int rc;

	if (!fusion_is(s->space) || after->len == 0) {
		snprintf(s->decoded, sizeof s->decoded, "the compiler shows no choices; the default is the %s",
			fusion_is(s->space) ? "plain greedy rule" : "space's own");
		return 0;
	}
	rc = graph_parse(&g, after->data, after->len, "the program after fusion", err);
	if (rc == 0)
		rc = fusion_decode(s->space, &g, &r, err);
	if (rc == 0)
		snprintf(s->decoded, sizeof s->decoded,
			"%u of %u sites found in the compiler's result, %u of %u groups equal, %u of %u fusions "
			"equal; %u edges absorbed against our rules, %u in some groups only%s%s",
			r.matched, r.sites, r.equal, r.groups, r.fusions_equal, r.fusions, r.illegal, r.mixed,
			r.first[0] ? "; first: " : "", r.first);
	graph_release(&g);
	return rc;
}

static int open_space(struct subject *s, const char *kind, struct device *d, const struct buf *after,
	struct err *err)
{
	const char *backend = d ? device_info(d)->backend : BACKEND_WITHOUT_DEVICE;

	if (graph_parse(&s->graph, s->bytes.data, s->bytes.len, s->name, err) < 0)
		return -1;
	s->space = space_open(kind, backend, &s->graph, NULL, 0, err);
	return s->space ? decode(s, after, err) : -1;
}

/* A toy needs no compiler: the space is the one its name says, whatever else was asked for. */
static int open_toy_subject(struct subject *s, const char *path, struct device *d, struct err *err)
{
	struct toy_spec spec;
	struct buf none = {0};
	char kind[64];

	if (toy_parse(path, &spec, err) < 0)
		return -1;
	toy_kind(&spec, kind);
	toy_graph(&spec, &s->bytes);
	buf_add(&s->original, s->bytes.data, s->bytes.len);
	return open_space(s, kind, d, &none, err);
}

static int open_program(struct subject *s, const char *path, const char *kind, struct device *d,
	struct err *err)
{
	struct extracted e = {0};
	int rc = fetch_any(s, path, d, &e, err);

	if (rc == 0 && d && e.before.len == 0) {
		extracted_release(&e);
		rc = device_extract(d, "hlo", s->original.data, s->original.len, &e, err);
		if (rc == 0)
			rc = extracted_ok(s, &e, err);
	}
	if (rc == 0 && d && e.before.len == 0)
		rc = err_set(err, "%s was compiled, but the plugin did not show it as it is before fusion",
			s->name);
	if (rc == 0) {
		const struct buf *b = d ? &e.before : &s->original;
		buf_add(&s->bytes, b->data, b->len);
		s->extract_seconds = e.seconds;
		rc = open_space(s, kind, d, &e.after, err);
	}
	extracted_release(&e);
	return rc;
}

int subject_open(struct subject *s, const char *path, const char *space_kind, struct device *d,
	struct err *err)
{
	int rc;

	*s = (struct subject){0};
	if (toy_is(path)) {
		s->name = mem_strdup(path);
		rc = open_toy_subject(s, path, d, err);
	} else {
		rc = open_program(s, path, space_kind ? space_kind : "fusion", d, err);
	}
	if (rc < 0)
		subject_release(s);
	return rc;
}

void subject_release(struct subject *s)
{
	space_free(s->space);
	graph_release(&s->graph);
	buf_release(&s->original);
	buf_release(&s->bytes);
	mem_free(s->name);
	*s = (struct subject){0};
}
