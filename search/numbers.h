/*
 * numbers.h - does the tuned program compute what the user's own does?
 *
 * The compiler's own program, compiled from what the user gave, and the tuned one run on the same inputs. There are
 * several kinds of input (schemas/inputs.def), and every output is compared on each. Decisions change the order of
 * floating-point operations, so outputs may differ a little. How much is allowed depends on the program, on the output
 * and on the kind of input: ten times the largest of
 *
 * nudged  how much the outputs of the compiler's own program change when every input moves to a neighbouring number
 * plain  how much the outputs of the default as read back and of the program with choice 0 everywhere differ
 * least  four units in the last place of the output's type
 *
 * "nudged" shows what rounding of the inputs can do. An output of a few numbers may hardly move by luck, so the inputs
 * are nudged several times if once is not enough. The two programs of "plain" are ours, and both may be wrong. But they
 * are only compared with each other, so an error that both have allows nothing more. Types of 16 bits and fewer are
 * coarse: for them the least is four units, not ten times four.
 *
 * A program rounds inside as well, and a long sum is off by much more than its inputs are. So the last yardstick is
 * what the program would compute without rounding: its own instructions in 64 bits (hlo/widen.h). The compiler's own
 * program is some way off from that. The tuned one may be three times as far off, or as far as was allowed before. Then
 * it does not matter how far the two are apart: if one adds up a sum much better than the other, that is how far the
 * worse one is off.
 *
 * If the tuned program adds up a sum much worse, this is not enough. But then its own instructions in 64 bits must give
 * what the other's give, to about the last place, which no wrong program does; and it may be as far off as the sums of
 * the program can be in any order. Each partial sum is rounded up or down by chance, and a number that is the result of
 * sums of sums has the errors of all of them. So that is the least times the root of the number of terms that are added
 * up on the longest way through the program. An output of a few numbers that magnifies rounding, as a simulation's end
 * does, may be right in the compiler's own program by luck. So that may be as far off as it is on nudged inputs, too.
 * (Of an evolution strategy on a pole that is balanced, one output was 0.0003 off in the compiler's own program and
 * 0.0022 in one that only fused it otherwise.)
 *
 * A program may decide by its numbers, such as to which two of eight experts a word goes. Rounding can change such a
 * decision, and then everything that hangs on it changes. An output is called chaos if some of its numbers are off by
 * more than half of their magnitude (DIFFERENCE_FAR) in the compiler's own program. By how much single numbers of it
 * are off is chance. So they are counted: in three times as many places the tuned program may be so far off. (Of a
 * language model's step in bfloat16 an output was 252 times its magnitude off, and 236 were allowed.) If any output is
 * chaos, three numbers of each other one may be off by anything, if it has thirty; its other numbers must be as near as
 * is allowed. (Adam's first step is the sign of a slope. Of 48 numbers of a filter's bias one had the other sign. In
 * other outputs of that step 551 numbers had, in the compiler's own program.) Both hold only if the tuned program gives
 * in 64 bits what the other one gives.
 *
 * NaN, infinities and integers may differ in ten times as many places as they do under "nudged" and "plain", which is
 * mostly nowhere; integers also in ten times as many as without rounding. On large inputs numbers overflow. Where a sum
 * does in one order, it may not in another, and where one program has an infinity, one that does not multiply it by
 * zero has no NaN. So if the tuned program's own instructions in 64 bits give what the other's give, it may be unlike
 * that in three times as many places as the compiler's own program is, and anywhere in an output that tells nothing by
 * its magnitude. An output in which the compiler's own program overflows nowhere may be unlike in three places, if that
 * program overflows in another output. (On large inputs 9 of the 25 million numbers of a training step overflowed. In
 * the tuned program one more did, in an output where none did otherwise.)
 *
 * Inputs and outputs must have the same layouts.
 *
 * A kind of input tells nothing if half the magnitude of the outputs would be allowed, as in a program that is chaotic
 * in its inputs, or if all outputs are NaN. If no kind tells anything, the tuned program is not taken.
 *
 * A program that draws random numbers is loaded anew for every comparison, so that both begin with the same ones.
 */
#ifndef SEARCH_NUMBERS_H
#define SEARCH_NUMBERS_H

#include "search/numbers_kept.h"
#include "space/space.h"

struct numbers_on { /* what one kind of input said */
	enum outcome own;	 /* the outcome of the compiler's own program on it; not ok: nothing was compared */
	bool compared;
	bool told;	   /* it could have shown a difference */
	/* relative, of the output that comes closest to what is allowed, or furthest beyond */
	double difference, allowed;
	bool exact;	   /* ... from what it would be without rounding; otherwise from the other program's */
	uint32_t output;   /* its number */
	uint64_t unlike, unlike_allowed; /* of the output that has most */
	uint64_t elements, finite; /* of all outputs */
};

struct numbers { /* all zero: nothing was compared */
	enum outcome outcome; /* ok; wrong_numbers; or what became of the tuned program where the other one ran */
	bool given;	      /* ordinary inputs are the user's own */
	bool silent;	      /* wrong_numbers because no kind of input told anything */
	char detail[400];     /* why not, a clause */
	struct numbers_on on[INPUTS_COUNT];
};

/* Two programs to compare, and where the yardstick comes from. Those in `program` are on the device when it starts. */
struct numbers_job {
	struct device *device;
	struct space *space;
	const struct buf *original; /* HloModuleProto bytes that the compiler's own program is made from */
	const uint8_t *config;	    /* of the tuned one */
	const struct buf *module;   /* ... its HloModuleProto bytes; NULL: what the space makes of the configuration */
	struct compiled *own, *tuned; /* compiled; replaced where the worker is lost on the way */
	/* once a kind of input told something: no further kind that would end later than this; 0: all */
	double seconds;
	enum compile_how how; /* the tuned one was compiled; 0: COMPILE_APPLIED */
	struct numbers_kept *kept; /* of earlier checks of this original, or NULL; the caller forgets it */
};

int numbers_check(struct numbers *out, const struct numbers_job *job, struct err *err);
/* The name of a kind of input: "normal", or "given" if these are the user's own. */
const char *numbers_inputs(const struct numbers *n, enum inputs i);
/* "normal, positive, large": the kinds of input that told something. */
void numbers_kinds(const struct numbers *n, struct buf *out);
/* The relative difference that comes closest to what is allowed, or furthest beyond it, on any of them. */
void numbers_worst(const struct numbers *n, double *difference, double *allowed);

#endif
