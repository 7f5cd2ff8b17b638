/*
 * request.h - reads one line of a client into a request, and refuses everything else.
 *
 * A line is a JSON object with a member "do" and those that schemas/arena.def allows for it. A configuration is written
 * in one of three ways: an array with a choice for every site; {"flips": [[site, choice], ...]}, which differs from the
 * default there; or a name: "default", "best", "told", or a start of the kind.
 *
 * Nothing of a refused line has an effect. The sentence says what is wrong with it, and never repeats bytes that do not
 * print.
 */
#ifndef ARENA_REQUEST_H
#define ARENA_REQUEST_H

#include "space/space.h"

enum request_member {
	HAS_ID = 1, HAS_CONFIG = 2, HAS_FROM = 4, HAS_HOW = 8, HAS_SEED = 16, HAS_QUANTITY = 32, HAS_NAME = 64,
		HAS_DO = 128
};

enum request_do {
#define REQUEST(id, ...) DO_##id,
#include "schemas/arena.def"
#undef REQUEST
	DO_COUNT
};

/* what names of configurations may mean, beside the default and the starts; NULL: there is none yet */
struct known_configs {
	struct space *space;
	const uint8_t *best, *told;
};

#define REQUEST_WORD 100 /* bytes of the longest word: a way, a quantity, the name of a file */

struct request { /* all zero is empty; a request may be read again and again into the same struct */
	enum request_do what;
	unsigned has;		/* of enum request_member */
	int64_t id, seed;
	uint8_t *config, *from; /* n_sites bytes; set where `has` says so */
	char how[REQUEST_WORD], quantity[REQUEST_WORD], name[REQUEST_WORD];
};

/* -1 with a sentence; has & HAS_ID then still says whether an id was read before the offence. */
int request_read(struct request *r, const struct known_configs *k, const void *text, size_t n, struct err *err);
void request_release(struct request *r);
/* "hello, space, ..." for people; the text lasts. */
const char *request_names(void);

#endif
