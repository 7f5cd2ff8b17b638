/*
 * earlier.h - reads the configuration that an earlier search left in its folder, to start from it or measure it again.
 */
#ifndef SEARCH_EARLIER_H
#define SEARCH_EARLIER_H

#include "space/space.h"

/* Sets the n_sites choices of `config` to those in DIR/config.json; an error if that is of another space. */
int earlier_read(const char *dir, const struct space *s, uint8_t *config, struct err *err);

#endif
