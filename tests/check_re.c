/*
 * check_re.c - regular expressions match and are refused as they should be. (The language is PCRE2's.)
 */
#include "base/re.h"

#include "base/buf.h"
#include "base/rng.h"
#include "tests/test.h"

static void matches(void)
{
	static const struct {
		const char *pattern, *text;
		bool match;
	} table[] = {
		{"fusion", "loop_fusion.3", true},
		{"^fusion", "loop_fusion.3", false},
		{"\\.\\d+$", "loop_fusion.3", true},
		{"", "anything", true},
		{"a(?!b)", "abab", false},
		{"a(?!b)", "abac", true},
		{"(?i)DOT", "dot.1", true},
		{"[\x80-\xff]", "\xff", true}, /* bytes, not characters */
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct err err = {0};
		struct re *re = re_new(table[i].pattern, &err);
		if (CHECK(re != NULL))
			CHECK_INT(re_match(re, table[i].text, strlen(table[i].text)), table[i].match);
		re_free(re);
	}
	re_free(NULL);
}

/* The text has n bytes, whatever follows them. */
static void the_length_counts(void)
{
	struct re *re = re_new("b$", NULL);
	CHECK(re_match(re, "abc", 2));
	CHECK(!re_match(re, "abc", 3));
	CHECK(!re_match(re, "abc", 0));
	CHECK(re_match(re, "a\0b", 3));
	re_free(re);
}

static void refuses_with_the_place(void)
{
	static const struct {
		const char *pattern, *says;
	} table[] = {
		{"ab(c", "regular expression \"ab(c\": missing closing parenthesis, at \"\" (character 5)"},
		{"a*b[", "missing terminating ] for character class"},
		{"x{2,1}", "numbers out of order in {} quantifier"},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct err err = {0};
		CHECK(re_new(table[i].pattern, &err) == NULL);
		if (!CHECK(strstr(err.text, table[i].says)))
			printf("it says: %s\n", err.text);
	}
}

/* For plain words, strstr must agree. */
static void words_as_strstr(void)
{
	struct rng r;
	rng_seed(&r, 1);
	for (int i = 0; i < 500; i++) {
		char word[4] = "", text[20] = "";
		for (uint64_t k = rng_below(&r, 4); k > 0; k--)
			word[k - 1] = (char)('a' + rng_below(&r, 2));
		for (int k = 0; k < 12; k++)
			text[k] = (char)('a' + rng_below(&r, 3));
		struct re *re = re_new(word, NULL);
		CHECK_INT(re_match(re, text, strlen(text)), strstr(text, word) != NULL);
		re_free(re);
	}
}

/* A pattern that backtracks without end gives up instead of hanging. */
static void catastrophes_end(void)
{
	struct re *re = re_new("^(a+)+$", NULL);
	struct buf text = {0};
	for (int i = 0; i < 60; i++)
		buf_addch(&text, 'a');
	CHECK(re_match(re, text.data, text.len));
	buf_addch(&text, 'b');
	CHECK(!re_match(re, text.data, text.len));
	buf_release(&text);
	re_free(re);
}

int main(void)
{
	RUN(matches);
	RUN(the_length_counts);
	RUN(refuses_with_the_place);
	RUN(words_as_strstr);
	RUN(catastrophes_end);
	return test_done();
}
