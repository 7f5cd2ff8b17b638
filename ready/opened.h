/*
 * opened.h - keeps what opening a program taught, for the next time.
 *
 * Opening a program compiles it, compiles it again as the default was read back, counts the turns of its loops, and
 * runs it a few times. For a large program that takes minutes, and the result is the same every time on the same
 * machine and plugin. So it is kept in the user's cache, $XDG_CACHE_HOME/vantage/opened, and the next search or command
 * begins in seconds. The file's name is a hash of all that decides the result: the program, the plugin's build, the
 * machine, the compile options. The cache may be deleted at any time: a file that is missing, torn or of another
 * version is made again. The oldest files are removed when there are too many.
 */
#ifndef READY_OPENED_H
#define READY_OPENED_H

#include "cost/spare.h"
#include "device/device.h"

struct opened { /* all zero is empty */
	/* the module before the stage, with the turns of its loops noted, and the one after it */
	struct buf before, after;
	double seconds;		  /* that compiling took; 0 if nothing is known */
	struct spares spares;	  /* whole programs that took long to compile */
	double run, run_se;	  /* seconds of a run of the default as read back, if that is long; 0: measure it */
	double more, more_se;	  /* how many more seconds that is than the compiler's own program takes */
	bool flat;		  /* does `before` have no calls (graph/uncall.h)? Kept apart, and set before looking */
};
void opened_release(struct opened *o);

/*
 * True, and fills `o`, if something was kept of the program. False, and `o` is empty but for `flat`, if not, or if `d`
 * does not measure.
 */
bool opened_find(struct opened *o, const struct buf *original, const struct device *d);
/* Keeps `o` if it took long (SPARE_DEAR). If it cannot be written, nothing happens. */
void opened_keep(const struct opened *o, const struct buf *original, const struct device *d);

/*
 * How many seconds an instruction the device's compiler took for programs that took long, lately; 0: there was none.
 * opened_compiled says what another one took.
 */
double opened_pace(const struct device *d);
void opened_compiled(const struct device *d, double seconds, uint32_t instructions);

#endif
