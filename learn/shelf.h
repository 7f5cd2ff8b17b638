/*
 * shelf.h - the place of a user's models: `learn` puts them there, `search` takes them from there.
 *
 * One place per device, kind of cost and kind of decision:
 *
 *	$XDG_DATA_HOME/vantage/models/cpu/measured/fusion.vm		the model
 *	$XDG_DATA_HOME/vantage/models/cpu/measured/fusion.vm.before	the one that stood there before it
 *
 * $XDG_DATA_HOME is ~/.local/share where it is not set; its standard says that a relative path counts as
 * not set. Where nothing usable stands in the user's place, the model that came with the programs is taken
 * (models/DEVICE.KIND.vm, or models/DEVICE.vm).
 *
 *	struct shelf at = {.backend = "cpu", .kind = COST_MEASURED, .space = "fusion"};
 *	m = shelf_find(&at, &path, &notes);		// what search uses; NULL: none
 *
 *	if (shelf_path(&at, &path, &err) < 0 || shelf_prepare(path.data, &err) < 0) ...	// before the work
 *	int lock = shelf_lock(path.data, &err);		// one at a time from here on
 *	rc = shelf_put(path.data, model, &err);
 *	shelf_unlock(lock);
 *
 * Killed at any moment, the place holds the old model or the new one, whole.
 */
#ifndef LEARN_SHELF_H
#define LEARN_SHELF_H

#include "learn/model.h"

struct shelf { /* names a place */
	const char *backend;
	enum cost_kind kind;
	const char *space; /* a space's kind: the family counts, "fusion" of "fusion/binary" */
	enum quantity quantity; /* other than seconds it is part of the place: .../cpu/measured-bytes/order.vm */
};

/* The user's place. Fails where there is no home. */
int shelf_path(const struct shelf *at, struct buf *out, struct err *err);

/*
 * The model that a search is guided by: the user's, or else the one shipped. `path` says which. What had to be
 * passed over, and why, is a line each in `notes`.
 */
struct model *shelf_find(const struct shelf *at, struct buf *path, struct buf *notes);
/* Finds the model with this checksum: the user's, the one before it, or the shipped one. NULL: it is none of these. */
struct model *shelf_find_sum(const struct shelf *at, const char *hex, struct buf *path);

/* Makes the folder and proves that it can be written. */
int shelf_prepare(const char *path, struct err *err);
/* Waits until nobody else changes the place; the descriptor is for shelf_unlock. -1: error. */
int shelf_lock(const char *path, struct err *err);
void shelf_unlock(int lock); /* accepts -1 */
/* Under the lock. What stood there before goes to PATH.before. */
int shelf_put(const char *path, const struct model *m, struct err *err);

/* Every model there is, the user's and the shipped ones: as lines for people, or as JSON. */
void shelf_list(struct buf *out, bool json);

#endif
