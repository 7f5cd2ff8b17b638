/* full_store_kill.c - a hundred kills of a writer, and of a merge large enough to be cut into chunks. */
#define KILLS 100
#define STEPS 40000
#define MERGE_RUNS 2
#define MERGE_STEPS 250000
#define WRITE_TIME 0.025
#define MERGE_TIME 0.5
#define MERGE_KILLS 25
#include "tests/check_store_kill.c"
