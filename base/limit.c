/*
 * limit.c - reads limits from text, and compares costs with them.
 */
#include "base/limit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

static int read_bound(const char *text, struct limit *out, struct err *err)
{
	char *end;
	double percent = strtod(text, &end);

	out->relative = end > text && strcmp(end, "%") == 0;
	if (!out->relative)
		return quantity_read(out->quantity, text, &out->bound, err);
	if (!isfinite(percent) || percent <= -100 || (*text != '+' && *text != '-'))
		return err_set(err, "\"%.40s\" is no change of a cost; one is +2%% or -10%%", text);
	out->bound = percent / 100;
	return 0;
}

int limit_read(const char *text, struct limit *out, struct err *err)
{
	size_t n = strcspn(text, ":");
	char name[32] = "";

	if (n < sizeof name)
		memcpy(name, text, n);
	*out = (struct limit){.quantity = quantity_find(name)};
	if (out->quantity == QUANTITY_COUNT || !text[n])
		return err_set(err, "a limit is QUANTITY:BOUND, as seconds:+2%% or "
			"bytes:16GiB, not \"%.60s\"; quantities are %s", text, quantity_names());
	if (read_bound(text + n + 1, out, err) < 0)
		return err_prefix(err, "the limit %.60s", text);
	if (!out->relative && text[n + 1 + strspn(text + n + 1, " \t\n")] == '+')
		return err_set(err, "the limit %.60s has a sign, so it should end in %% and be relative to the "
			"default; an absolute limit has no sign", text);
	if (!out->relative && out->bound < 0)
		return err_set(err, "the limit %.60s is below nothing; a change relative to the default ends in %%",
			text);
	return 0;
}

int limits_read(const char *list, struct limit out[LIMITS_MOST], uint32_t *n, struct err *err)
{
	char *words = list ? mem_strdup(list) : NULL, *rest = words;
	int rc = 0;

	for (char *w; rc == 0 && (w = strsep(&rest, ",")); ) {
		struct limit one;
		rc = limit_read(w, &one, err);
		for (uint32_t i = 0; i < *n && rc == 0; i++)
			if (out[i].quantity == one.quantity)
				rc = err_set(err, "there are two limits on %s", quantity_name(one.quantity));
		if (rc == 0)
			out[(*n)++] = one;
	}
	mem_free(words);
	return rc;
}

double limit_allows(const struct limit *l, double dflt)
{
	return l->relative ? dflt * (1 + l->bound) : l->bound;
}

double limit_excess(const struct limit *l, double dflt, double cost)
{
	double allowed = limit_allows(l, dflt), over = cost - allowed;

	/* Sums of differences round, so a cost that is beyond the limit only in its last digits keeps it. */
	if (over <= 1e-12 * fabs(allowed))
		return 0;
	return allowed > 0 ? over / allowed : over;
}

void limit_text(const struct limit *l, struct buf *out)
{
	char figure[QUANTITY_TEXT];

	buf_addf(out, "%s:", quantity_name(l->quantity));
	if (l->relative)
		buf_addf(out, "%+g%%", 100 * l->bound);
	else
		buf_adds(out, quantity_text(l->quantity, l->bound, figure));
}
