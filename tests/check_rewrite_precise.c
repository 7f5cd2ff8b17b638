/*
 * check_rewrite_precise.c - how precisely products multiply and add up that rules of rewriting write.
 */
#include "space/space.h"
#include "tests/test.h"

#define SUM_OF_TWO "HloModule m\nENTRY e {\n x = f32[4,5] parameter(0)\n a = f32[5,6] parameter(1)\n" \
	" b = f32[5,6] parameter(2)\n" \
	" t = f32[4,6] dot(x, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}%s\n" \
	" u = f32[4,6] dot(x, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}%s\n" \
	" ROOT y = f32[4,6] add(t, u)\n}\n"
#define BY_NUMBERS "HloModule m\nadd {\n l = f32[] parameter(0)\n r = f32[] parameter(1)\n" \
	" ROOT s = f32[] add(l, r)\n}\n" \
	"ENTRY e {\n z = f32[] constant(0)\n x = f32[4,5] parameter(0)\n a = f32[5,6] parameter(1)\n" \
	" p = f32[4,5,6] broadcast(x), dimensions={0,1}\n q = f32[4,5,6] broadcast(a), dimensions={1,2}\n" \
	" m = f32[4,5,6] multiply(p, q)\n ROOT y = f32[4,6] reduce(m, z), dimensions={1}, to_apply=add\n}\n"
#define TURNED "HloModule m\nENTRY e {\n x = f32[5,4] parameter(0)\n a = f32[5,6] parameter(1)\n" \
	" t = f32[4,6] dot(x, a), lhs_contracting_dims={0}, rhs_contracting_dims={0}%s\n" \
	" ROOT y = f32[6,4] transpose(t), dimensions={1,0}\n}\n"

/* A product is as precise as what it replaces. */
static void products_stay_as_precise(void)
{
	static const char highest[] = ", operand_precision={highest,highest}";
	static const struct {
		const char *text, *first, *second;
		bool offered;
		int32_t precision; /* of the first operand */
	} table[] = {{SUM_OF_TWO, "", "", true, 0}, {SUM_OF_TWO, highest, highest, true, 2},
		{SUM_OF_TWO, highest, "", false, 0}, {SUM_OF_TWO, "", highest, false, 0},
		{BY_NUMBERS, "", "", true, 2}, {TURNED, highest, "", true, 2},
		{TURNED, ", operand_precision={highest,default}", "", true, 0},
		{TURNED, ", operand_precision={default,highest}", "", true, 2}};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct buf text = {0}, module = {0};
		struct graph g, rewritten = {0};
		struct err err = {0};
		struct space *s = NULL;
		uint8_t config[8] = {0};
		const char *p = table[i].text, *at;
		for (int k = 0; (at = strstr(p, "%s")); p = at + 2)
			buf_addf(&text, "%.*s%s", (int)(at - p), p, k++ ? table[i].second : table[i].first);
		buf_adds(&text, p);
		if (CHECK(graph_parse(&g, text.data, text.len, "text", &err) == 0))
			s = space_open("rewrite/without:small-product", "cpu", &g, NULL, 0, &err);
		uint32_t site = s ? s->site_of[graph_find(&g, "y")] : NONE;
		CHECK_INT(site != NONE, table[i].offered);
		if (site != NONE) {
			config[site] = 1;
			CHECK(s->ops->apply(s, config, &module, &err) == 0);
			CHECK(graph_parse(&rewritten, module.data, module.len, "rewritten", &err) == 0);
		}
		for (uint32_t v = 0; v < rewritten.n_nodes; v++) {
			const Hlo__PrecisionConfig *c = rewritten.node[v].proto->precision_config;
			if (rewritten.node[v].opcode == OP_DOT)
				CHECK_INT(c ? c->operand_precision[0] : 0, table[i].precision);
		}
		graph_release(&rewritten);
		space_free(s);
		graph_release(&g);
		buf_release(&text);
		buf_release(&module);
	}
}

/* 131,072 products of -128 with itself are one too many for 32 bits. */
static void sums_of_8_bits_stay_within_32(void)
{
	for (int depth = 131071; depth <= 131072; depth++) {
		struct buf text = {0};
		struct graph g;
		struct err err = {0};
		struct space *s = NULL;
		uint32_t offered = 0;
		buf_addf(&text, "HloModule m\nENTRY e {\n a = s8[%d,2] parameter(0)\n b = s8[%d,2] parameter(1)\n"
			" x = s64[%d,2] convert(a)\n w = s64[%d,2] convert(b)\n"
			" ROOT y = s64[2,2] dot(x, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n}\n",
			depth, depth, depth, depth);
		if (CHECK(graph_parse(&g, text.data, text.len, "text", &err) == 0))
			s = space_open("rewrite", "cpu", &g, NULL, 0, &err);
		for (uint8_t k = 1; s && s->n_sites && k < s->site[0].choices; k++) {
			struct buf words = {0};
			s->ops->words(s, 0, k, &words);
			offered += strncmp(words.data, "product-in-8-bits", 17) == 0;
			buf_release(&words);
		}
		CHECK_STR(err.text, "");
		CHECK((offered > 0) == (depth < 131072));
		space_free(s);
		graph_release(&g);
		buf_release(&text);
	}
}

int main(void)
{
	RUN(sums_of_8_bits_stay_within_32);
	RUN(products_stay_as_precise);
	return test_done();
}
