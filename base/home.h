/*
 * home.h - the user's own folders: where data and caches lie, as the XDG base directories say.
 */
#ifndef BASE_HOME_H
#define BASE_HOME_H

#include "base/buf.h"

/*
 * Appends $VARIABLE, or HOME/below where it is not set to a whole path: home_path("XDG_DATA_HOME", ".local/share", &b).
 * Without HOME, as under a bare `env -i`, the user's entry in the password file counts. -1: there is no home.
 */
int home_path(const char *variable, const char *below, struct buf *out);

#endif
