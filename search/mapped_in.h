/*
 * mapped_in.h - memory that every run maps in anew, and how fast both programs are where it stays mapped.
 *
 * Some memory is given back by the allocator after every run and mapped in again at the next, at a fault for each page.
 * With glibc this happens to blocks of more than 32 MiB, and to all that a thread of the plugin's has besides its first
 * 64 MiB. It can be worth more than all decisions: it was 30% of a recommender's training step of 69 ms, and all that
 * 60 evaluations had gained there was to come below that limit. The allocator can be told to keep memory, by its
 * environment. That is nothing a compiler decides, so no verdict is about it, but who wants a fast program wants to
 * know. So where it is worth a word, one more process than the verdict's times both with that environment.
 */
#ifndef SEARCH_MAPPED_IN_H
#define SEARCH_MAPPED_IN_H

#include <stdbool.h>
#include <stddef.h>

struct mapped_in {
	double dflt, tuned;	      /* pages of memory that each run maps in */
	double kept_dflt, kept_tuned; /* seconds of a run where memory stays mapped; 0: not timed */
};

/* Do these pages take a share of a run, of so many seconds, that is worth a word? */
bool mapped_in_matters(const struct mapped_in *m, double seconds);
/* What tells the allocator to keep memory: NAME=VALUE, up to a NULL (device_options.environment). */
extern const char *const mapped_in_environment[];
/* Writes a sentence about it, for people. */
void mapped_in_words(const struct mapped_in *m, char *out, size_t n);

#endif
