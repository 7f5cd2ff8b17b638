/*
 * user_program.c - opens a graph from a path: searches a dump folder, reads a file, lowers MLIR.
 *
 * A dump folder holds many files for every module that was compiled. We take the module before all
 * optimisation: as a message if the run dumped messages, otherwise as text. A run compiles many small
 * modules besides the one that matters. If there are several we do not guess: the sentence lists them, the
 * largest first.
 */
#include "ready/user_program.h"
#include "hlo/module.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/io.h"
#include "base/progress.h"
#include "base/talk.h"
#include "device/backend.h"
#include "ready/foreign.h"

#define LIST_BYTES 700 /* the most bytes of names in a sentence */

static bool ends_with(const char *s, size_t n, const char *end)
{
	size_t e = strlen(end);
	return n >= e && memcmp(s + n - e, end, e) == 0;
}

/* File name without folders and endings. */
static char *short_name(const char *path)
{
	static const char *const endings[] = {".zst", ".pb", ".hlo", ".txt", ".mlir", ".mlirbc",
		".before_optimizations", ".pbtxt", "/"};
	size_t n = strlen(path), i = 0;
	const char *base = path;
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
	char *name = mem_alloc(n + 1);
	snprintf(name, n + 1, "%.*s", (int)(n - (size_t)(base - path)), base);
	return name;
}

/* ---- dump folders ---- */

struct found { /* a program in a dump folder */
	char *name;
	int want;
	off_t size;
};

struct found_list {
	struct found *v;
	size_t n, cap;
};

static bool is_folder(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* How much we want a file of a dump: 2 a message, 1 a text, 0 not at all. */
static int wanted(const char *name)
{
	size_t n = strlen(name);
	if (!strstr(name, "before_optimizations"))
		return 0;
	if (ends_with(name, n, ".hlo.pb") || ends_with(name, n, ".hlo.pb.zst"))
		return 2;
	return ends_with(name, n, "before_optimizations.txt") ? 1 : 0;
}

static off_t size_of(const char *folder, const char *name)
{
	struct buf path = {0};
	struct stat st;
	buf_addf(&path, "%s/%s", folder, name);
	off_t size = stat(path.data, &st) == 0 ? st.st_size : 0;
	buf_release(&path);
	return size;
}

/* Orders the most wanted kind first, and within a kind the largest. */
static int by_want(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	if (x->want != y->want)
		return y->want - x->want;
	return x->size != y->size ? (x->size < y->size) - (x->size > y->size) : strcmp(x->name, y->name);
}

static int list_folder(const char *folder, struct found_list *l, struct err *err)
{
	DIR *dir = opendir(folder);
	if (!dir)
		return err_errno(err, "cannot read the folder %s", folder);
	for (struct dirent *e; (e = readdir(dir));) {
		int want = wanted(e->d_name);
		if (!want)
			continue;
		MEM_GROW(&l->v, &l->cap, l->n + 1);
		l->v[l->n++] = (struct found){mem_strdup(e->d_name), want, size_of(folder, e->d_name)};
	}
	closedir(dir);
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), by_want);
	return 0;
}

static int several(const char *folder, const struct found *v, size_t n, struct err *err)
{
	struct buf names = {0};
	size_t i = 0;
	for (; i < n && names.len < LIST_BYTES; i++)
		buf_addf(&names, "\n  %.200s (%.1f kB)", v[i].name, (double)v[i].size / 1e3);
	if (i < n)
		buf_addf(&names, "\n  and %zu smaller ones", n - i);
	err_set(err, "the folder %.200s holds %zu programs; name one of its files:%s", folder, n, names.data);
	buf_release(&names);
	return -1;
}

/* Finds the one program in a dump folder; its path goes to `out`. */
static int find_in_dump(const char *folder, struct buf *out, struct err *err)
{
	struct found_list l = {0};
	size_t n = 0;
	int rc = list_folder(folder, &l, err);
	while (n < l.n && l.v[n].want == l.v[0].want)
		n++;
	if (rc == 0 && n == 0)
		rc = err_set(err, "the folder %s holds no *before_optimizations.hlo.pb "
			"or .txt, which XLA writes when XLA_FLAGS is "
			"\"--xla_dump_to=%s --xla_dump_hlo_as_proto\"", folder, folder);
	else if (rc == 0 && n > 1)
		rc = several(folder, l.v, n, err);
	else if (rc == 0)
		buf_addf(out, "%s/%s", folder, l.v[0].name);
	for (size_t i = 0; i < l.n; i++)
		mem_free(l.v[i].name);
	mem_free(l.v);
	return rc;
}

/* ---- files ---- */

/* Compiles MLIR, and reads the graph from the module before all optimisation. */
static int lower_with(struct user_program *p, const struct buf *file, struct device *d, struct err *err)
{
	struct extracted *e = &p->extracted;
	talk_wait("compiling", 0, now_seconds());
	int rc = device_extract(d, "mlir", file->data, file->len, e, err);
	talk_waited();
	if (rc < 0)
		return -1;
	if (e->outcome != OUTCOME_OK && e->initial.len == 0)
		return refused_by_compiler(p->name, e, err);
	if (e->initial.len == 0)
		return err_set(err, "%s was compiled, but the plugin did not show it as HLO", p->name);
	if (graph_parse(&p->graph, e->initial.data, e->initial.len, p->name, err) < 0)
		return -1;
	if (e->outcome != OUTCOME_OK) /* it can be read, and is refused again by whoever wants it compiled */
		extracted_release(e);
	return 0;
}

/*
 * What a compiler made of a program is there once it can be parsed: a file that is still being written is no whole
 * message.
 */
struct lowering {
	struct user_program *p;
	bool whole;
};

static enum vetoed read_lowered(void *ctx, const void *proto, size_t n, char *why, size_t room)
{
	struct lowering *l = ctx;
	struct err incomplete;

	if (graph_parse(&l->p->graph, proto, n, l->p->name, &incomplete) < 0)
		return VETO_WAIT;
	l->whole = true;
	snprintf(why, room, "%s was lowered", l->p->name);
	return VETO_STOP;
}

/*
 * Compiles MLIR no further than to HLO, where that takes long: the rest may take minutes. Nobody may want it, or it may
 * be known from an earlier time; and a program that is HLO is looked at before it is compiled, for what it needs.
 */
static int only_lower(struct user_program *p, const struct buf *file, struct device *d, struct err *err)
{
	struct lowering l = {p, false};
	struct err given_up;
	int rc;

	device_veto(d, &(struct veto){read_lowered, &l, true});
	rc = lower_with(p, file, d, &given_up);
	device_veto(d, NULL);
	if (l.whole)
		extracted_release(&p->extracted);
	return rc == 0 || l.whole ? 0 : err_set(err, "%s", given_up.text);
}

static int lower(struct user_program *p, const char *path, const struct buf *file, struct device *d,
	struct err *err)
{
	struct device_options o = {.backend = backend_first(), .untimed = true};
	/* a device that only prices what the partitioner writes would generate code for all of it to lower it */
	if (d && device_info(d)->compiles && (device_info(d)->can_run || device_passes(d)->decides))
		return only_lower(p, file, d, err);
	struct device *other = device_open(&o, err);
	if (!other)
		return err_prefix(err, "%s is MLIR, which only a compiler's plugin can lower to HLO", path);
	device_heed_stop(other, true);
	int rc = only_lower(p, file, other, err);
	device_close(other);
	extracted_release(&p->extracted); /* another device's decisions */
	return rc;
}

/* The number after a word in the first line of a text; 1 where it does not stand. */
static uint32_t said_in_first_line(const struct buf *text, const char *word)
{
	const char *end = memchr(text->data, '\n', text->len);
	size_t n = end ? (size_t)(end - text->data) : text->len;
	const char *at = memmem(text->data, n, word, strlen(word));
	char number[12] = "";

	if (!at)
		return 1;
	at += strlen(word);
	for (size_t i = 0; i < sizeof number - 1 && at + i < text->data + n && at[i] >= '0' && at[i] <= '9'; i++)
		number[i] = at[i];
	return (uint32_t)strtoul(number, NULL, 10);
}

/* HLO as text says over how many devices it is spread, which the message it becomes does not. */
static void tell_spread(const struct user_program *p, const struct buf *text, const struct device *d)
{
	struct spread here = device_info(d)->spread, said = {said_in_first_line(text, "replica_count="),
		said_in_first_line(text, "num_partitions=")};

	if (said.partitions > 1 && said.partitions != spread_partitions(here))
		talk("%s is written for %u partitions, and opened for %u; --partitions %u opens it as it is written",
			p->name, said.partitions, spread_partitions(here), said.partitions);
	if (said.replicas > 1 && said.replicas != spread_replicas(here))
		talk("%s is written for %u replicas, and opened for %u; --replicas %u opens it as it is written",
			p->name, said.replicas, spread_replicas(here), said.replicas);
}

/* Reads a file. A byte order mark, which some editors put before a text in UTF-8, is no part of a program. */
static int read_file(const char *path, struct buf *file, struct err *err)
{
	static const char mark[] = "\xef\xbb\xbf";
	size_t n = sizeof mark - 1;

	if (io_read_file(path, IO_FILE_LIMIT, file, err) < 0)
		return -1;
	if (file->len < n || memcmp(file->data, mark, n) != 0)
		return 0;
	file->len -= n;
	memmove(file->data, file->data + n, file->len + 1);
	return 0;
}

static int read_program(struct user_program *p, const char *path, struct device *d, struct err *err)
{
	struct buf file = {0};
	int rc = read_file(path, &file, err);
	if (rc == 0 && hlo_sniff(file.data, file.len) == HLO_MLIR)
		rc = lower(p, path, &file, d, err);
	else if (rc == 0)
		rc = graph_parse(&p->graph, file.data, file.len, path, err);
	if (rc == 0 && d && file.len > 9 && memcmp(file.data, "HloModule", 9) == 0)
		tell_spread(p, &file, d);
	buf_release(&file);
	return rc;
}

bool user_program_is_hlo(const char *path)
{
	struct buf file = {0};
	bool is = is_folder(path) || (read_file(path, &file, NULL) == 0 &&
		hlo_sniff(file.data, file.len) != HLO_MLIR);

	buf_release(&file);
	return is;
}

bool user_program_is_cost_graph(const char *path)
{
	static const char *const ends[] = {".pbtxt", ".pbtxt.zst", ".pbtxt.gz"};
	bool any = false;

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		any |= ends_with(path, strlen(path), ends[i]);
	return any;
}

int user_program_fetch(struct user_program *p, const char *path, struct device *d, struct err *err)
{
	struct buf found = {0};
	int rc = is_folder(path) ? find_in_dump(path, &found, err) : 0;
	*p = (struct user_program){0};
	if (rc == 0) {
		path = found.len ? found.data : path;
		p->name = short_name(path);
		rc = read_program(p, path, d, err);
	}
	buf_release(&found);
	if (rc < 0)
		user_program_release(p);
	return rc;
}

void user_program_release(struct user_program *p)
{
	graph_release(&p->graph);
	extracted_release(&p->extracted);
	mem_free(p->name);
	*p = (struct user_program){0};
}
