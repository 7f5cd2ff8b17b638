/*
 * mapped_in.h - memory that every run maps in anew, and how fast both programs are where it stays mapped.
 *
 * The allocator gives some memory back after every run. The next run maps it in again, at a fault for each page. With
 * glibc this happens to each block of more than 32 MiB. It also happens in threads that the plugin starts: each keeps
 * 64 MiB, and gives back what it has besides. This can be worth more than all decisions: it was 30% of a recommender's
 * training step of 69 ms, and all that 60 evaluations had gained there was to come below that limit.
 *
 * The environment can tell the allocator to keep memory. No compiler decides that, so the verdict is not about it. But
 * people who want a fast program want to know. So where these faults take a share of a run that is worth a word, one
 * process more runs both programs with that environment, and the user is told what they take there.
 */
#ifndef SEARCH_MAPPED_IN_H
#define SEARCH_MAPPED_IN_H

#include <stdbool.h>
#include <stddef.h>

struct mapped_in {
	double dflt, tuned;	      /* pages of memory that each run maps in */
	double kept_dflt, kept_tuned; /* seconds of a run where memory stays mapped; 0: not timed */
};

/* Do these pages take a share of a run that is worth a word, if the run takes so many seconds? */
bool mapped_in_matters(const struct mapped_in *m, double seconds);
/* What tells the allocator to keep memory: NAME=VALUE, up to a NULL (device_options.environment). */
extern const char *const mapped_in_environment[];
/* Writes a sentence about it, for people. */
void mapped_in_words(const struct mapped_in *m, char *out, size_t n);

#endif
