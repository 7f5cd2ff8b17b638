/*
 * holdout.c - see holdout.h. A pattern matches anywhere in a name, as in Perl. Graphs of one name are of one program,
 * so they are held out together.
 */
#include "learn/holdout.h"

#include <string.h>
#include "base/re.h"
#include "store/fact.h"

/* Counts the programs of a store, and those that match. */
static int count_matches(const char *path, struct re *re, uint64_t *all, uint64_t *matched, struct err *err)
{
	struct store *s = store_open(path, STORE_READ, NULL, err);
	struct buf name = {0};
	int64_t id = 0;
	int rc;

	if (!s)
		return -1;
	while ((rc = store_next_graph(s, &id, &name, err)) == 1) {
		++*all;
		*matched += re_match(re, name.data, name.len);
	}
	buf_release(&name);
	store_close(s);
	return rc;
}

int holdout_check(const char *pattern, const struct opt_list *stores, struct err *err)
{
	struct re *re = re_new(pattern, err);
	uint64_t all = 0, matched = 0;
	int rc = re ? 0 : -1;

	for (size_t i = 0; i < stores->n && rc == 0; i++)
		rc = count_matches(stores->item[i], re, &all, &matched, err);
	re_free(re);
	if (rc == 0 && all > 0 && matched == all)
		rc = err_set(err, "--holdout %s matches all programs of the stores, so that all are held out and "
			"nothing is left to train on", pattern);
	return rc;
}

int holdout_mark(const struct data *d, const char *pattern, bool *held, struct err *err)
{
	struct re *re = re_new(pattern, err);
	uint32_t n = 0;

	if (!re)
		return err_prefix(err, "--holdout");
	for (uint32_t i = 0; i < d->n_graphs; i++) {
		held[i] = re_match(re, d->graph[i].name, strlen(d->graph[i].name));
		n += held[i];
	}
	re_free(re);
	if (n == 0) {
		struct buf names = {0};
		for (uint32_t i = 0; i < d->n_graphs; i++)
			buf_addf(&names, "%s%s", i ? ", " : "", d->graph[i].name);
		err_set(err, "--holdout %s matches no graph; there are: %s", pattern, names.data ? names.data : "none");
		buf_release(&names);
		return -1;
	}
	return 0;
}
