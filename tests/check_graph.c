/*
 * check_graph.c - reading, writing and hashing real programs, where they are at hand.
 */
#include <stdlib.h>
#include "graph/graph.h"
#include "tests/test.h"

static const char *const real[] = {"../shared/hlo/bench_mass_matrix_35.pb", "../shared/hlo/diffrax.b380012920.pb",
	"../shared/hlo/dlrm_keras_jax_f32_train_step.pb", "../shared/hlo/resnet50_keras_jax_f32.pb"};

static void real_graphs_round_trip(void)
{
	for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
		struct graph g = {0}, again = {0};
		struct buf b = {0};
		struct err err = {0};
		FILE *f = fopen(real[i], "rb");
		if (!f)
			SKIP("no ../shared/hlo");
		fclose(f);
		if (!CHECK(graph_read(&g, real[i], &err) == 0))
			printf("%s\n", err.text);
		graph_write(&g, &b);
		CHECK(graph_parse(&again, b.data, b.len, "again", &err) == 0);
		CHECK(memcmp(&g.content, &again.content, sizeof g.content) == 0);
		graph_release(&g);
		graph_release(&again);
		buf_release(&b);
	}
}

int main(void)
{
	RUN(real_graphs_round_trip);
	return test_done();
}
