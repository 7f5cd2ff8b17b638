/*
 * earlier.h - reads the configuration that an earlier search left in its folder, to start from it or measure it again.
 */
#ifndef SEARCH_EARLIER_H
#define SEARCH_EARLIER_H

#include "space/space.h"

/*
 * Sets the n_sites choices of `config` to those in DIR/config.json, or in DIR/decisions.json, which a kind leaves that
 * others followed. If another version opened the program in another way, choices go to instructions by name, and what
 * has none stays at the default; an error if few of them are there.
 */
int earlier_read(const char *dir, struct space *s, uint8_t *config, struct err *err);
/* Are the decisions in DIR about a program that came of those of another kind? */
bool earlier_followed(const char *dir);
/* Puts down the kind of decision of which it left choices; false if it does not say. */
bool earlier_kind(const char *dir, char *out, size_t n);
/* The number behind a key of the file, which may be "null": then, and without such a key, 0. */
double earlier_number(const char *dir, const char *key);

#endif
