/*
 * opened.h - what opening a program taught, kept for the next time.
 *
 * Opening a large program means compiling it, twice with the default as it was read back, counting turns of loops and a
 * few runs: minutes, that tell the same every time on the same machine and plugin. So what was learnt is kept in the user's
 * cache, $XDG_CACHE_HOME/vantage/opened, where it was dear, and a second search, or another command, begins in seconds. The name
 * of the file is a hash of all that decides it: the program, the plugin's build, the machine, the compile options. It is
 * never needed: a file that is gone, torn or of another version is made anew, and the oldest go when there are too many.
 */
#ifndef READY_OPENED_H
#define READY_OPENED_H

#include "cost/spare.h"
#include "device/device.h"

struct opened { /* all zero is empty */
	struct buf before, after; /* the module before and after the stage, the turns of its loops noted in the former */
	double seconds;		  /* that compiling took; 0: nothing is known */
	struct spares spares;	  /* whole programs that took long to compile */
	double run, run_se;	  /* seconds of a run of the default as read back, where that is long; 0: measure it */
	double more, more_se;	  /* ... and how much more that is than the compiler's own program takes */
};
void opened_release(struct opened *o);

/* True with what was kept of the program; false, and `o` empty, where nothing was, or `d` is not measured. */
bool opened_find(struct opened *o, const struct buf *original, const struct device *d);
/* Keeps what was dear (SPARE_DEAR), for as long as there is room. Where that cannot be written, nothing happens. */
void opened_keep(const struct opened *o, const struct buf *original, const struct device *d);

#endif
