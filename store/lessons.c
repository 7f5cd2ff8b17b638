/*
 * lessons.c - reads the histories of models (nights.h).
 *
 * `learn` adds a line of JSON to MODEL.vm.history whenever it judged a model. The store knows nothing else of models,
 * and only what it has costs of belongs on its page. SQLite parses the lines. A line that is torn, because its writer
 * was killed, is counted and left out.
 */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/home.h"
#include "base/io.h"
#include "store/nights.h"

#define HISTORY_LIMIT ((size_t)64 << 20)
#define DEEPEST 2 /* folders below that of the models: DEVICE/COST */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && strcmp(text + n - k, end) == 0;
}

/* One line: taken, of no program of this store, or not read. */
static int take_line(struct store *s, const char *line, struct lessons *out, struct err *err)
{
	int64_t known;
	sqlite3_stmt *q;
	int rc = sql_int(s, err, &known, "SELECT json_extract(iif(json_valid(?1), ?1, '{}'), '$.at') > 0", "t", line);

	if (rc < 0)
		return -1;
	if (rc == 0 || !known)
		return out->unread++, 0;
	q = sql_query(s, err, "SELECT j.at, j.device || ', ' || j.cost || ' ' || j.quantity || ', ' || j.kind,"
		" j.learner, j.verdict, j.decisions, j.programs, j.flips, j.depth, j.before, j.low, j.high, j.placed,"
		" EXISTS (SELECT 1 FROM environment e JOIN cost_kind k ON k.id = e.kind JOIN run r ON r.environment ="
		" e.id JOIN chain c ON c.run = r.id JOIN space p ON p.id = c.space WHERE e.backend = j.device AND"
		" k.name = j.cost AND e.quantity = j.quantity AND (p.kind = j.kind OR p.kind LIKE j.kind || '/%' OR"
		" p.kind LIKE j.kind || ':%')) FROM (SELECT json_extract(?1, '$.at') AS at, json_extract(?1,"
		" '$.device') AS device, json_extract(?1, '$.cost') AS cost, json_extract(?1, '$.quantity') AS"
		" quantity, json_extract(?1, '$.decisions_of_kind') AS kind, json_extract(?1, '$.learner') AS learner,"
		" json_extract(?1, '$.verdict') AS verdict, json_extract(?1, '$.decisions') AS decisions,"
		" json_extract(?1, '$.programs') AS programs, json_extract(?1, '$.flips') AS flips, json_extract(?1,"
		" '$.depth_new') AS depth, json_extract(?1, '$.depth_old') AS before, json_extract(?1,"
		" '$.difference_low') AS low, json_extract(?1, '$.difference_high') AS high, json_extract(?1,"
		" '$.replaced') AS placed) j", "t", line);
	rc = q ? sql_step(s, q, err) : -1;
	if (rc == 1 && !sqlite3_column_int64(q, 12)) {
		out->elsewhere++;
	} else if (rc == 1) {
		MEM_GROW(&out->item, &out->cap, out->n + 1);
		out->item[out->n++] = (struct lesson){.at = sql_real(q, 0),
			.place = arena_strdup(&out->mem, sql_text(q, 1)),
			.learner = arena_strdup(&out->mem, sql_text(q, 2)),
			.verdict = arena_strdup(&out->mem, sql_text(q, 3)),
			.decisions = sqlite3_column_int64(q, 4), .programs = sqlite3_column_int64(q, 5),
			.flips = sqlite3_column_int64(q, 6), .depth = sql_real(q, 7), .before = sql_real(q, 8),
			.low = sql_real(q, 9), .high = sql_real(q, 10), .placed = sqlite3_column_int64(q, 11) != 0};
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

static int read_file(struct store *s, const char *path, struct lessons *out, struct err *err)
{
	struct buf text = {0};
	int rc = io_read_file(path, HISTORY_LIMIT, &text, err);
	char *save = NULL;

	for (char *line = rc == 0 && text.len ? strtok_r(text.data, "\n", &save) : NULL; line && rc == 0;
		line = strtok_r(NULL, "\n", &save))
		rc = take_line(s, line, out, err);
	buf_release(&text);
	return rc;
}

static int read_folder(struct store *s, const char *folder, int deeper, struct lessons *out, struct err *err)
{
	struct dirent **entry = NULL;
	int n = scandir(folder, &entry, NULL, alphasort), rc = 0;
	struct buf path = {0};

	for (int i = 0; i < n; i++) {
		buf_reset(&path);
		buf_addf(&path, "%s/%s", folder, entry[i]->d_name);
		if (rc == 0 && ends_with(entry[i]->d_name, ".vm.history"))
			rc = read_file(s, path.data, out, err);
		else if (rc == 0 && deeper > 0 && entry[i]->d_name[0] != '.')
			rc = read_folder(s, path.data, deeper - 1, out, err);
		free(entry[i]);
	}
	free(entry);
	buf_release(&path);
	return rc;
}

static int by_time(const void *a, const void *b)
{
	double x = ((const struct lesson *)a)->at, y = ((const struct lesson *)b)->at;

	return (x > y) - (x < y);
}

int lessons_read(struct store *s, const char *folder, struct lessons *out, struct err *err)
{
	struct buf users = {0};
	int rc = 0;

	*out = (struct lessons){0};
	if (folder && !io_exists(folder))
		return err_set(err, "there is no folder %s with the histories of models", folder);
	if (!folder && home_path("XDG_DATA_HOME", ".local/share", &users) == 0)
		buf_adds(&users, "/vantage/models");
	if (folder || users.len)
		rc = read_folder(s, folder ? folder : users.data, DEEPEST, out, err);
	if (out->n)
		qsort(out->item, out->n, sizeof *out->item, by_time);
	buf_release(&users);
	return rc;
}

void lessons_release(struct lessons *l)
{
	mem_free(l->item);
	arena_release(&l->mem);
	*l = (struct lessons){0};
}
