/*
 * check_json.c - what is written must be JSON, by a small strict reader that shares nothing with
 * the writer, and must read back as what went in.
 */
#include "base/json.h"

#include <stdlib.h>
#include "base/rng.h"
#include "tests/test.h"

/* The strict reader: each function advances past what it recognises or returns NULL. */
static const char *value(const char *s);

static const char *space(const char *s)
{
	return s + strspn(s, " \t\n");
}

static const char *string(const char *s)
{
	if (*s++ != '"')
		return NULL;
	for (; *s != '"'; s++) {
		if ((unsigned char)*s < 0x20)
			return NULL;
		if (*s != '\\')
			continue;
		s++;
		if (*s == 'u' && strspn(s + 1, "0123456789abcdefABCDEF") >= 4)
			s += 4;
		else if (!*s || !strchr("\"\\/bfnrt", *s))
			return NULL;
	}
	return s + 1;
}

static const char *list(const char *s, char end, bool keys)
{
	s = space(s + 1);
	if (*s == end)
		return s + 1;
	for (;;) {
		if (keys) {
			s = string(s);
			if (!s || *(s = space(s)) != ':')
				return NULL;
			s = space(s + 1);
		}
		if (!(s = value(s)))
			return NULL;
		s = space(s);
		if (*s == end)
			return s + 1;
		if (*s++ != ',')
			return NULL;
		s = space(s);
	}
}

static const char *number(const char *s)
{
	s += *s == '-';
	size_t digits = strspn(s, "0123456789");
	if (!digits || (*s == '0' && digits > 1))
		return NULL;
	s += digits;
	if (*s == '.') {
		digits = strspn(s + 1, "0123456789");
		if (!digits)
			return NULL;
		s += 1 + digits;
	}
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '-' || *s == '+';
		digits = strspn(s, "0123456789");
		return digits ? s + digits : NULL;
	}
	return s;
}

static const char *value(const char *s)
{
	static const char *const word[] = {"null", "true", "false"};
	for (int i = 0; i < 3; i++)
		if (strncmp(s, word[i], strlen(word[i])) == 0)
			return s + strlen(word[i]);
	return *s == '{' ? list(s, '}', true) : *s == '[' ? list(s, ']', false)
	     : *s == '"' ? string(s) : number(s);
}

static bool is_json(const char *s)
{
	const char *end = value(s);
	return end && *space(end) == '\0';
}

static void the_reader_is_strict(void)
{
	static const char *const bad[] = {"", "{", "[1,]", "[1 2]", "{\"a\"}", "{a:1}", "{\"a\":1,}", "01", "1.",
		"\"\n\"", "\"\\x\"", "nul", "[]]", "nan", "-"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!CHECK(!is_json(bad[i])))
			printf("accepted: %s\n", bad[i]);
	CHECK(is_json("{\"a\": [1, -2.5e-3, {}, [], \"\\u00ff\\n\", null]}"));
}

static void an_example(void)
{
	struct buf b = {0};
	struct json j = {.out = &b};
	json_object(&j, NULL);
	json_str(&j, "name", "a \"b\"\\");
	json_num(&j, "flops", 2.5e9);
	json_array(&j, "loops");
	json_int(&j, NULL, -3);
	json_uint(&j, NULL, UINT64_MAX);
	json_end(&j);
	json_array(&j, "none");
	json_end(&j);
	json_bool(&j, "ok", true);
	json_hex(&j, "hash", 0xabc);
	json_str(&j, "nil", NULL);
	json_end(&j);
	CHECK_STR(b.data, "{\"name\":\"a \\\"b\\\"\\\\\",\"flops\":2500000000,\"loops\":[-3,18446744073709551615],"
			  "\"none\":[],\"ok\":true,\"hash\":\"0000000000000abc\",\"nil\":null}");
	CHECK(is_json(b.data));
	buf_release(&b);
}

static void pretty_example(void)
{
	struct buf b = {0};
	struct json j = {.out = &b, .pretty = true};
	json_object(&j, NULL);
	json_array(&j, "v");
	json_int(&j, NULL, 1);
	json_end(&j);
	json_object(&j, "e");
	json_end(&j);
	json_end(&j);
	CHECK_STR(b.data, "{\n\t\"v\": [\n\t\t1\n\t],\n\t\"e\": {}\n}\n");
	buf_release(&b);
}

static void strings(void)
{
	static const struct {
		const char *in, *out;
	} table[] = {
		{"", "\"\""},
		{"tab\tline\n\r\x01\x7f", "\"tab\\tline\\n\\u000d\\u0001\\u007f\""},
		{"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
			"\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\""},
		{"\xff\x80x", "\"\\ufffd\\ufffdx\""},
		{"\xc3", "\"\\ufffd\""},			 /* cut off */
		{"\xe2\x82", "\"\\ufffd\\ufffd\""},		 /* cut off later */
		{"\xc0\xaf", "\"\\ufffd\\ufffd\""},		 /* overlong slash */
		{"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},	 /* half of a surrogate pair */
		{"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, /* beyond the last character */
		{"</script>/", "\"<\\/script>/\""},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct buf b = {0};
		struct json j = {.out = &b};
		json_str(&j, NULL, table[i].in);
		CHECK_STR(b.data, table[i].out);
		CHECK(is_json(b.data));
		buf_release(&b);
	}
}

/* Each double reads back to the same bits, and no shorter decimal of up to 17 digits does. */
static void numbers_are_shortest(void)
{
	struct rng r;
	rng_seed(&r, 1);
	for (int i = 0; i < 3000; i++) {
		uint64_t bits = rng_u64(&r);
		double v, again;
		memcpy(&v, &bits, sizeof(v));
		if (i % 2) /* and the decimals that people write */
			v = (double)rng_below(&r, 100000) / pow(10, (double)rng_below(&r, 7));
		struct buf b = {0};
		struct json j = {.out = &b};
		json_num(&j, NULL, v);
		CHECK(is_json(b.data));
		if (isfinite(v)) {
			int digits = 1;
			char shortest[40];
			do
				snprintf(shortest, sizeof(shortest), "%.*g", digits, v);
			while (strtod(shortest, NULL) != v && digits++ < 17);
			again = strtod(b.data, NULL);
			CHECK(memcmp(&again, &v, sizeof(v)) == 0);
			CHECK(b.len <= strlen(shortest) || strchr(shortest, 'e')); /* 1e+05 is 100000 */
		} else {
			CHECK_STR(b.data, "null");
		}
		buf_release(&b);
	}
}

/* Random nesting, 62 deep at most, is always JSON. */
static void nested(void)
{
	struct rng r;
	rng_seed(&r, 2);
	for (int round = 0; round < 300; round++) {
		struct buf b = {0};
		struct json j = {.out = &b, .pretty = round % 2};
		bool array[70] = {true};
		json_array(&j, NULL);
		for (int i = 0; i < 300; i++) {
			const char *key = array[j.depth - 1] ? NULL : "k";
			uint64_t what = rng_below(&r, 5);
			if (what < 2 && j.depth < 62) {
				array[j.depth] = what;
				(what ? json_array : json_object)(&j, key);
			} else if (what == 2 && j.depth > 1) {
				json_end(&j);
			} else {
				json_int(&j, key, i);
			}
		}
		while (j.depth)
			json_end(&j);
		CHECK(is_json(b.data));
		buf_release(&b);
	}
}

int main(void)
{
	RUN(the_reader_is_strict);
	RUN(an_example);
	RUN(pretty_example);
	RUN(strings);
	RUN(numbers_are_shortest);
	RUN(nested);
	return test_done();
}
