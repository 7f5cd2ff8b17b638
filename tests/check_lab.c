/*
 * check_lab.c - how the costs of a program are connected with a store.
 */
#include "lab/lab.h"
#include "tests/store_fixture.h"
#include "tests/test.h"

static char *folder;

/* Costs of two quantities never come into one run. */
static void an_archive_holds_one_quantity(void)
{
	struct cost_options co = {.seed = 1};
	struct archive a = {0};
	struct lab first, second;
	struct err err = {0};
	char path[300];

	snprintf(path, sizeof path, "%s/q.sqlite", folder);
	a.db = store_open(path, STORE_CREATE, NULL, &err);
	if (!CHECK(a.db != NULL))
		return;
	CHECK_INT(lab_open(&first, "toy:9:2:1", "fusion", NULL, &co, &a, &err), 0);
	CHECK(a.environment > 0 && a.quantity == QUANTITY_SECONDS);
	CHECK_INT(lab_open(&second, "toy:9:2:2", "fusion", NULL, &co, &a, &err), 0);
	lab_release(&second);
	a.quantity = QUANTITY_BYTES; /* as if the first had been of a kind that costs bytes */
	CHECK_INT(lab_open(&second, "toy:9:2:2", "fusion", NULL, &co, &a, &err), -1);
	CHECK(strstr(err.text, "its costs are in seconds, those of the programs before it in bytes") != NULL);
	lab_release(&first);
	store_close(a.db);
}

int main(void)
{
	struct err err = {0};

	folder = made_folder();
	RUN(an_archive_holds_one_quantity);
	io_remove_tree(folder, &err);
	mem_free(folder);
	return test_done();
}
