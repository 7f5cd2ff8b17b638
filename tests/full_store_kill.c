/* full_store_kill.c - thirty kills of a writer, and ten of a merge large enough to be cut into chunks. */
#define KILLS 30
#define STEPS 12000
#define MERGE_RUNS 2
#define MERGE_STEPS 120000 /* more than a chunk, see store/merge.c */
#define WRITE_TIME 0.025
#define MERGE_TIME 0.25
#define MERGE_KILLS 10
#include "tests/check_store_kill.c"
