/*
 * arranging.h - kinds that decide how the compiler's optimised program is arranged in memory.
 *
 * Such a kind has a model of the compiler's memory, and looks for a better arrangement by itself, because the model
 * answers a million times faster than the compiler. The compiler then says what the best one really needs. The kind's
 * stages are ARRANGED rows of schemas/stage.def. Every arrangement is a configuration of an open space. All zero is the
 * compiler's own. An arrangement that a function below finds or reads is kept in the space and gets a configuration.
 *
 * Holders are the values that are in memory where the program needs most of it: what people ask first.
 */
#ifndef SPACE_ARRANGING_H
#define SPACE_ARRANGING_H

#include "base/json.h"
#include "base/rng.h"
#include "space/space.h"

struct holder {
	const char *name;  /* of the instruction that makes it; for what a call needs inside, of the call */
	const char *shape; /* "f32[8,128]"; "" for the inside of a call */
	const char *op;	   /* what the user's program calls it; "" if it does not say */
	const char *file;  /* and where it says so; "" */
	int line;
	uint64_t bytes;
	bool inside;
};

struct holders { /* all zero is empty */
	struct holder *v;
	uint32_t n;
	uint64_t bytes, at, steps; /* of the peak; its step in the entry, of how many */
	const char *step;	   /* the instruction that runs there */
	struct arena mem;
};
void holders_release(struct holders *h);
/* Appends a text for people: the peak, and a line for each of the first `most` holders. */
void holders_text(const struct holders *h, uint32_t most, struct buf *out);

/* The bytes in temporary memory over a program, by the kind's model. */
struct space_course { /* all zero is empty; free alive with mem_free */
	uint64_t *alive; /* at each step of the entry */
	uint32_t n;
	uint64_t bytes; /* that the program needs in all, gaps included */
};

struct space_look { /* how to look for an arrangement */
	const char *strategy; /* by its name (space_arranging.strategy); NULL: the first */
	const uint8_t *from;  /* the arrangement to begin with */
	const uint8_t *other; /* another to begin with: all zero, or as `take` wrote it; NULL: none */
	double seconds;
	uint64_t moves; /* how many arrangements to look at, so that the answer is reproducible; 0: by the clock */
	uint64_t seed;
	bool (*stop)(void);
	void (*progress)(void *with, double share, uint64_t bytes); /* may be NULL */
	void *with;
};

struct space_looked {
	uint64_t moves; /* arrangements that were looked at */
	uint64_t least; /* bytes that every arrangement needs, by the model; 0: that is not known */
	bool proved;	/* what was found needs no more, so it is one of the best there are */
	double seconds;
};

struct space_arranging {
	/* The name of strategy i: the first is the default; NULL: there are no more. */
	const char *(*strategy)(size_t i);
	/*
	 * Reads the bytes of temporary memory in what the compiler wrote of an arranged program (struct arranged in
	 * device.h).
	 */
	int (*figure)(const void *proto, size_t n, uint64_t *bytes, struct err *err);
	/*
	 * Keeps the arrangement in what the compiler wrote, in place of the one taken before, and writes its
	 * configuration.
	 */
	int (*take)(struct space *s, const void *proto, size_t n, uint8_t *config, struct err *err);
	/*
	 * Looks for an arrangement that needs less, by the model never more than `from`, keeps it, and writes its
	 * configuration.
	 */
	int (*look)(struct space *s, const struct space_look *o, uint8_t *config, struct space_looked *out,
		struct err *err);
	/*
	 * From now on `course` and `holders` describe a program that is compiled without being told its arrangement, so
	 * that the compiler may break ties otherwise.
	 */
	void (*untold)(struct space *s);
	void (*course)(struct space *s, const uint8_t *config, struct space_course *out);
	void (*holders)(struct space *s, const uint8_t *config, struct holders *out);
	/* Writes an object with the arrangement itself, for programs. */
	void (*write)(struct space *s, const uint8_t *config, struct json *j, const char *name);
};

/* The first kind that arranges programs; NULL if there is none. */
const struct space_kind *space_arranger(void);

#endif
