/*
 * check_session.c - where a search leaves its result if nobody says where.
 */
#include "search/session.h"
#include "tests/test.h"

static void the_folder_is_beside_the_program(void)
{
	static const struct {
		const char *graph, *dir;
	} table[] = {
		{"big.pb.zst", "big.tuned"},
		{"../a.b/big.pb", "../a.b/big.tuned"},
		{"/tmp/.hidden", "/tmp/.hidden.tuned"},
		{"plain", "plain.tuned"},
		{"12:30/step:1.pb", "12:30/step-1.tuned"}, /* only its own name becomes another */
		{"dumps/", "dumps.tuned"},
		{"runs/dumps//", "runs/dumps.tuned"},
		{"toy:40:2:6", "toy-40-2-6.tuned"},
		{"toy:40:2:12:30/x.json", "30/x.tuned"},
		{"toy:/data/12:30/x.json", "/data/12:30/x.tuned"},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct buf dir = {0};
		session_default_dir(table[i].graph, &dir);
		CHECK_STR(dir.data, table[i].dir);
		buf_release(&dir);
	}
}

int main(void)
{
	RUN(the_folder_is_beside_the_program);
	return test_done();
}
