/*
 * screen.h - searches where a price takes long: another device says what is worth asking.
 *
 * Some compilers take minutes to price a program on several devices. Our model of the same machine prices it in a
 * fraction of a second, and is wrong about some programs (schemas/estimate.def says which screens for which). So a
 * search takes turns:
 *
 *	1. The device prices what people do by hand, and the best of these is the best so far (by_hand.h).
 *	2. The parts of the model's prices get weights with which it comes nearest to what the device said
 *	   (calibrate.h).
 *	3. A search by the model goes from the best so far as usual. It leaves a trail: what it kept, one after the
 *	   other.
 *	4. The device prices the end of the trail, and if that is no better than the best, points half and a quarter
 *	   along it. The first that is better is the best so far. Then it goes on with 2.
 *
 * If a turn brings nothing, the next one begins at another layout made by hand; after a few such turns the search is
 * over. The answer is what the device prices best. So where the model errs a gain may be missed, but none is claimed
 * that the device does not confirm.
 */
#ifndef SEARCH_SCREEN_H
#define SEARCH_SCREEN_H

#include <stdbool.h>
#include <stdint.h>
#include "base/json.h"
#include "base/quantity.h"
#include "device/device.h"
#include "search/calibrate.h"

struct session;

struct screened { /* what the device was asked about */
	double promised; /* by the screen, with the weights of that turn */
	double cost;	 /* by the device */
	enum outcome outcome;
	uint32_t turn;
	bool better; /* than all before it */
};

struct screen { /* all zero: none; screen_release accepts it */
	char by[64]; /* the device whose prices screen */
	enum quantity quantity;
	struct screened *row;
	size_t n, cap;
	uint32_t turns;
	uint64_t looked; /* candidates that the screen priced */
	/* candidates of which the partitioner makes a program that was asked about: the device is not asked again */
	uint64_t same;
	double weight[CALIBRATED_PARTS]; /* the last ones */
	double seconds;
};

/* Is there a device that screens for the session's, and does its strategy want that? Writes its name. */
bool screen_find(const struct session *s, char *name, size_t n);
/* Searches with a screen of that name. `best` (n_sites bytes) becomes the answer. */
int screen_search(struct screen *sc, struct session *s, const char *name, uint8_t *best, struct err *err);
void screen_release(struct screen *sc);
void screen_json(const struct screen *sc, struct json *j);
void screen_page(const struct screen *sc, struct buf *out);

#endif
