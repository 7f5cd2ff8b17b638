/*
 * aims.c - shares out objective and limits between kinds.
 */
#include "search/aims.h"

#include <stdio.h>
#include <string.h>
#include "search/hunt.h"

static int read_limit(struct aims *a, const struct settings *set, const struct limit *l, const char *text,
	struct err *err)
{
	enum quantity other = a->fast ? QUANTITY_BYTES : QUANTITY_SECONDS;

	if (l->quantity != other)
		return err_set(err, "--space %s makes %s small here, so %s can be limited, but not %s", set->space,
			quantity_name(a->fast ? QUANTITY_SECONDS : QUANTITY_BYTES), quantity_name(other),
			quantity_name(l->quantity));
	a->room = *l;
	a->time_limit = text;
	return 0;
}

/* The user's limits; if there are none, the default's own memory, or what the last kind allows by itself. */
static int read_limits(struct aims *a, const struct settings *set, const struct space_kind *last, struct err *err)
{
	struct limit limit[LIMITS_MOST];
	uint32_t n = 0;

	a->room = (struct limit){.quantity = QUANTITY_BYTES, .relative = true};
	a->time_limit = last->limits;
	for (size_t i = 0; i < set->limits.n; i++)
		if (limits_read(set->limits.item[i], limit, &n, err) < 0)
			return -1;
	if (n > 1)
		return err_set(err, "--space %s takes one limit: on seconds, or on bytes", set->space);
	return n ? read_limit(a, set, limit, set->limits.item[0], err) : 0;
}

int aims_read(struct aims *a, const struct settings *set, struct err *err)
{
	const char *comma = strrchr(set->space, ',');
	const struct space_kind *first, *last = comma ? space_kind_find(comma + 1, err) : NULL;
	char name[SPACE_KIND_ROOM];
	enum quantity objective;

	*a = (struct aims){.graph = set->graph};
	if (comma && !last)
		return -1;
	if (!comma || !last->arranging)
		return 0;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(set->space, ","), set->space);
	if (!(first = space_kind_find(name, err)))
		return -1;
	objective = set->objective ? quantity_find(set->objective) : space_prices(first)->quantity;
	if (objective != QUANTITY_SECONDS && objective != QUANTITY_BYTES)
		return err_set(err, "--space %s makes seconds or bytes small, nothing else", set->space);
	a->joint = true;
	a->fast = objective == QUANTITY_SECONDS;
	if (read_limits(a, set, last, err) < 0)
		return -1;
	if (set->unverified || strcmp(set->device, "none") == 0)
		return err_set(err, "--space %s is judged by running programs: it needs a device that runs them",
			set->space);
	return 0;
}

void aims_take(struct aims *a, bool last, struct settings *set)
{
	if (!a->joint)
		return;
	set->limits = (struct opt_list){0};
	if (!a->fast && a->time_limit)
		set->limits = (struct opt_list){.item = &a->time_limit, .n = 1};
	set->objective = quantity_name(last || !a->fast ? QUANTITY_BYTES : QUANTITY_SECONDS);
	if (!last && set->strategy >= STRATEGY_OWN)
		set->strategy = STRATEGY_GUIDED;
}
