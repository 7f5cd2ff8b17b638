/*
 * spare.h - executables that took long to compile, to be loaded instead of compiled again.
 *
 * A search compiles the same two or three whole programs again and again: the compiler's own, the default as it was
 * read back, and the best so far. Compiling a large one takes a minute, loading it a second. But two compilations of
 * one program differ a little in speed, and what is loaded is always the same one. So a program that compiles fast is
 * compiled anew each time (SPARE_DEAR).
 *
 * The sides of a region are needed twice in a row, to be measured and to be measured again. Where a confirmation takes
 * its instances from one compilation anyway, because three would take too long, that is the first one, loaded again
 * (SPARE_DEAR_SIDE). Where whole programs are the regions, each candidate is one, and the other side is the same until
 * one is kept. (It was compiled anew each time, for 2.7 of the 10 s that a candidate took for a language model's
 * training step.)
 */
#ifndef COST_SPARE_H
#define COST_SPARE_H

#include "device/device.h"

#define SPARES 4	/* whole programs */
#define SPARE_SIDES 32	/* sides of regions: a move can have several */
#define SPARE_DEAR 5.0	/* seconds of compiling, from which on a program is kept, */
#define SPARE_DEAR_SIDE 0.1 /* ... and a side of a region */
#define SPARE_SIDES_BYTES ((size_t)64 << 20) /* ... as long as all of these are no larger together */

struct spares { /* all zero is empty */
	struct spare {
		uint64_t hash; /* of the module and how it is compiled; 0: empty */
		uint64_t used;
		double seconds; /* that compiling took */
		struct buf executable; /* empty: it is only on the device */
		struct compiled live; /* it is on this device, for whoever wants it first; handle 0: it is not */
		const struct device *on;
	} program[SPARE_SIDES];
	uint64_t tick;
	bool sides; /* it is for sides of regions */
	bool plain; /* both ways of compiling are one (device_info) */
	uint32_t ways; /* what COMPILE_CODEGEN and COMPILE_CODEGEN_OWN mean at present (device_codegen) */
};
void spares_release(struct spares *k);

/* Notes what device_compile gave with WANT_SERIALISED, if it is worth it; the one not used for longest makes room. */
void spare_put(struct spares *k, enum compile_how how, const struct buf *module, const struct compiled *c);
/* NULL: its executable is not there. Borrowed until the next call of spare_put. */
const struct spare *spare_get(struct spares *k, enum compile_how how, const struct buf *module);
/* Gives `to` what `k` has of a program, if anything. */
void spare_share(struct spares *k, enum compile_how how, const struct buf *module, struct spares *to);
/* ... as that of another program, which the compiler makes the same of. */
void spare_share_as(struct spares *k, enum compile_how how, const struct buf *module, struct spares *to,
	enum compile_how as_how, const struct buf *as);

/*
 * device_compile of HLO, or the loading of what was kept of it; compiled, it is kept. `k` may be NULL. out->seconds is
 * what compiling took, now or when it was compiled.
 */
int spare_compile(struct spares *k, struct device *d, enum compile_how how, const struct buf *module, unsigned want,
	struct compiled *out, struct err *err);

/*
 * From now on what is here of a program, also on a device, is that of another one, which the compiler makes the same
 * of. Nothing happens if there is something of that one already.
 */
void spare_rename(struct spares *k, enum compile_how how, const struct buf *module, enum compile_how as_how,
	const struct buf *as);

/*
 * Gives a program as it is on device `d` to the next spare_compile for that device, if its executable was put here, or
 * if it took long to compile and cannot be written down. Takes *c.
 */
void spare_lend(struct spares *k, enum compile_how how, const struct buf *module, struct device *d, struct compiled *c);
/* Forgets what is on devices: call this before one is closed. */
void spares_forget(struct spares *k);

#endif
