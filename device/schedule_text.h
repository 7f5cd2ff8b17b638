/*
 * schedule_text.h - reads the schedule that XLA:TPU writes of a program.
 *
 * The schedule says for each instruction of a computation when it starts and ends, in cycles. It is a text of nested
 * names:
 *
 *	hlo_module { ... computations { ... instructions { name: "all-reduce.1" ... id: 7 } ... id: 19 } }
 *	computation_schedules { computation_id: 19
 *		instructions { id: 7 start_timestamp_cycles: 1 end_timestamp_cycles: 17.5 } ...
 *		scheduler_statistics { total_cycles: 74645.2 } cycles_per_microsecond: 1500 }
 */
#ifndef DEVICE_SCHEDULE_TEXT_H
#define DEVICE_SCHEDULE_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct span { /* of an instruction, in cycles */
	int64_t id;
	double start, end;
};

struct schedule_text { /* of all computations; all zero is empty, schedule_text_release accepts it */
	struct span *span; /* by id */
	size_t n, cap;
	double per_microsecond; /* cycles; 0: the text has no schedule */
};

void schedule_text_read(const char *text, size_t n, struct schedule_text *out);
/* NULL: it is not in the schedule. */
const struct span *schedule_text_find(const struct schedule_text *s, int64_t id);
void schedule_text_release(struct schedule_text *s);

#endif
