/*
 * check_earlier.c - what an earlier search decided is taken up again; if the program is opened in another way since, by
 * the names of its instructions.
 */
#include <string.h>
#include <unistd.h>
#include "base/io.h"
#include "search/earlier.h"
#include "tests/test.h"

#define TEXT(more) \
	"HloModule m\nENTRY main {\n p = f32[64] parameter(0)\n a = f32[64] negate(p)\n b = f32[64] tanh(a)\n" \
	" c = f32[64] exponential(b)\n" more
static const char then[] = TEXT(" ROOT d = f32[64] abs(c)\n}\n");
static const char since[] = TEXT(" e = f32[64] cosine(c)\n ROOT d = f32[64] abs(e)\n}\n");

static void write_json(char *dir, const struct buf *json)
{
	struct buf path = {0};
	struct err err = {{0}};

	CHECK(mkdtemp(dir) != NULL);
	buf_addf(&path, "%s/config.json", dir);
	CHECK(io_write_file(path.data, json->data, json->len, &err) == 0);
	buf_release(&path);
}

/* What a search wrote about choices 1, 0, 1 of the sites a, b and c of the first program. */
static void write_folder(char *dir, const struct space *s, const char *kind, const char *third)
{
	static const uint8_t chosen[] = {1, 0, 1};
	const char *const names[] = {"a", "b", third};
	struct buf json = {0};

	buf_addf(&json, "{\"space\": \"%s\", \"space_hash\": \"%016llx\", ", kind, (unsigned long long)s->hash);
	buf_addf(&json, "\"config_hash\": \"%016llx\", \"sites\": [", (unsigned long long)config_hash(s, chosen));
	for (int i = 0; i < 3; i++)
		buf_addf(&json, "{\"name\": \"%s\", \"choices\": 2, \"chosen\": %d},", names[i], chosen[i]);
	write_json(dir, &json);
	buf_release(&json);
}

static void forget_folder(const char *dir)
{
	struct buf path = {0};

	buf_addf(&path, "%s/config.json", dir);
	CHECK(unlink(path.data) == 0 && rmdir(dir) == 0);
	buf_release(&path);
}

static struct space *open_kind(struct graph *g, const char *text, const char *kind)
{
	struct err err = {{0}};

	*g = (struct graph){0};
	return CHECK(graph_parse(g, text, strlen(text), "program", &err) == 0)
		? space_open(kind, "cpu", g, NULL, 0, &err) : NULL;
}

static struct space *open_text(struct graph *g, const char *text)
{
	return open_kind(g, text, "fusion");
}

/* Reads what was left of the first program into this one; 0 if that is refused. */
static int read_into(const char *text, const char *kind, const char *third, uint8_t *config)
{
	char dir[] = "/tmp/vantage-earlier-XXXXXX";
	struct graph g, h;
	struct space *old = open_text(&g, then), *s = open_text(&h, text);
	struct err err = {{0}};
	int rc = -1;

	if (CHECK(old && s && old->n_sites == 3)) {
		write_folder(dir, old, kind, third);
		rc = earlier_read(dir, s, config, &err);
		forget_folder(dir);
	}
	space_free(old);
	space_free(s);
	graph_release(&g);
	graph_release(&h);
	return rc == 0;
}

static void choices_are_taken_up(void)
{
	uint8_t config[4] = {9, 9, 9, 9};

	CHECK(read_into(then, "fusion", "c", config));
	CHECK(config[0] == 1 && config[1] == 0 && config[2] == 1);
}

static void choices_go_by_name(void)
{
	uint8_t config[4] = {9, 9, 9, 9};

	CHECK(read_into(since, "fusion", "c", config));
	CHECK(config[0] == 1 && config[1] == 0 && config[2] == 1 && config[3] < 2);
}

/* What was chosen in words is the choice with these words, whatever its number was, and however many there were. */
static void choices_go_by_words(void)
{
	static const char product[] = "HloModule m\nENTRY e {\n x = f32[64,4] parameter(0)\n"
		" w = f32[4,4] parameter(1)\n"
		" ROOT y = f32[64,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}\n";
	struct graph g;
	struct space *s = open_kind(&g, product, "rewrite");

	for (int i = 0; i < 2 && CHECK(s && s->n_sites == 1 && s->site[0].choices > 2); i++) {
		char dir[] = "/tmp/vantage-earlier-XXXXXX";
		uint8_t config[1] = {0}, last = (uint8_t)(s->site[0].choices - 1);
		struct buf words = {0}, json = {0};
		struct err err = {{0}};
		s->ops->words(s, 0, last, &words);
		buf_addf(&json, "{\"space\": \"rewrite\", \"space_hash\": \"1\", \"sites\": [{\"name\": \"y\", "
			"\"choices\": 2, \"chosen\": 1, \"what\": \"%s\"}]}", i ? "nothing that is known" : words.data);
		write_json(dir, &json);
		CHECK_INT(earlier_read(dir, s, config, &err), i ? -1 : 0);
		CHECK(i || config[0] == last);
		forget_folder(dir);
		buf_release(&words);
		buf_release(&json);
	}
	space_free(s);
	graph_release(&g);
}

static void other_programs_are_refused(void)
{
	uint8_t config[4];

	CHECK(!read_into(since, "fusion", "x", config));
	CHECK(!read_into(since, "rewrite", "c", config));
}

int main(void)
{
	RUN(choices_are_taken_up);
	RUN(choices_go_by_name);
	RUN(choices_go_by_words);
	RUN(other_programs_are_refused);
	return test_done();
}
