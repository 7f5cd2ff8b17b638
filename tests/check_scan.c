/*
 * check_scan.c - reading JSON: exact numbers, limited nesting, and the place of every damage.
 */
#include "base/scan.h"
#include "tests/test.h"

static void whole_numbers(void)
{
	static const struct {
		const char *text;
		int rc;
		int64_t v;
	} table[] = {{"0", 0, 0}, {"-0", 0, 0}, {"7", 0, 7}, {"15,", 0, 15}, {"-15", 0, -15},
		{"1e18", 0, 1000000000000000000},
		{"1.5e1", 0, 15}, {"150E-1", 0, 15}, {"1.50", -1, 0}, {"2.0", 0, 2}, {"25e+1", 0, 250},
		{"2500e-0002", 0, 25}, {"9223372036854775807", 0, INT64_MAX},
		{"-9223372036854775808", 0, INT64_MIN}, {"9223372036854775808", -1, 0}, {"-9223372036854775809", -1, 0},
		{"123456789012345678", 0, 123456789012345678}, {"1234567890123456789,", 0, 1234567890123456789},
		{"18446744073709551616", -1, 0}, {"1e30", -1, 0}, {"1e-1", -1, 0}, {"0.000e99999999999999999999", 0, 0},
		{"1e99999999999999999999", -1, 0}, {"1e-99999999999999999999", -1, 0}, {"01", -1, 0}, {"+1", -1, 0},
		{"1.", -1, 0}, {".5", -1, 0}, {"1e", -1, 0}, {"-", -1, 0}, {"", -1, 0}, {"null", -1, 0},
		{"\"1\"", -1, 0},
		{"00", -1, 0}, {"0,", 0, 0}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct err err = {0};
		struct scan s;
		int64_t v = 0;
		/* Memory of exactly that size, so that a sanitizer sees any step beyond. */
		size_t n = strlen(table[i].text);
		char *exact = malloc(n + !n);
		memcpy(exact, table[i].text, n);
		scan_open(&s, exact, n, &err);
		if (!CHECK_INT(scan_i64(&s, &v), table[i].rc) || (table[i].rc == 0 && !CHECK_INT(v, table[i].v)))
			printf("\tof %s: %s\n", table[i].text, err.text);
		free(exact);
	}
}

static void real_numbers(void)
{
	static const struct {
		const char *text;
		int rc;
		double v;
	} table[] = {{"0.25", 0, 0.25}, {"-1e-3", 0, -0.001}, {"1e400", -1, 0}, {"17185374208.0", 0, 17185374208.0},
		{"NaN", -1, 0}, {"Infinity", -1, 0}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct err err = {0};
		struct scan s;
		double v = 0;
		scan_open(&s, table[i].text, strlen(table[i].text), &err);
		if (!CHECK_INT(scan_f64(&s, &v), table[i].rc) || (table[i].rc == 0 && !CHECK_NEAR(v, table[i].v, 0)))
			printf("\tof %s\n", table[i].text);
	}
}

/* Of a whole text: is it JSON? */
static int skip_all(const char *text, struct err *err)
{
	struct scan s;

	scan_open(&s, text, strlen(text), err);
	return scan_skip(&s) < 0 || scan_end(&s) < 0 ? -1 : 0;
}

static void grammar(void)
{
	static const struct {
		const char *text;
		const char *wrong; /* NULL: nothing */
	} table[] = {{"{}", NULL}, {"[]", NULL}, {" [1, {\"a\": [true, false, null, \"x\\n\\u00e9\"]}, -2.5e3] \n",
		NULL},
		{"[1,]", "line 1, byte 4: ']' stands where a value should be"},
		{"[1 2]", "line 1, byte 4: '2' stands where ',' or ']' should be"},
		{"{\"a\" 1}", "line 1, byte 6: '1' stands where ':' should be"},
		{"{a: 1}", "line 1, byte 2: 'a' stands where a string should be"},
		{"[1]\n]", "line 2, byte 5: ']' stands where the end should be"},
		{"[", "line 1, byte 2: the text ends where a value should be"},
		{"\"abc", "line 1, byte 5: the text ends where the end of a string should be"},
		{"\"\\q\"", "line 1, byte 3: 'q' stands where an escape should be"},
		{"\"\\u12g4\"", "line 1, byte 6: 'g' stands where a hexadecimal digit should be"},
		{"\"a\nb\"", "line 1, byte 3: byte 0x0a stands in a string, where it must be an escape"}, {"tru", "t"},
		{"", "the"}};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct err err = {0};
		int rc = skip_all(table[i].text, &err);
		CHECK_INT(rc, table[i].wrong ? -1 : 0);
		if (table[i].wrong && strlen(table[i].wrong) > 5)
			CHECK_STR(err.text, table[i].wrong);
	}
}

static void deep(void)
{
	for (int depth = SCAN_DEPTH - 1; depth <= SCAN_DEPTH + 1; depth++) {
		struct buf text = {0};
		struct err err = {0};
		for (int i = 0; i < depth; i++)
			buf_addch(&text, '[');
		for (int i = 0; i < depth; i++)
			buf_addch(&text, ']');
		CHECK_INT(skip_all(text.data, &err), depth > SCAN_DEPTH ? -1 : 0);
		buf_release(&text);
	}
}

static void members(void)
{
	static const char text[] = "{\"one\": 1, \"name\": \"a\\tb\", \"on\": true, \"off\": 0}";
	struct err err = {0};
	struct scan s;
	struct buf name = {0};
	char key[5];
	int64_t one = 0;
	bool on = false, off = true;

	scan_open(&s, text, sizeof text - 1, &err);
	CHECK_INT(scan_object(&s), 0);
	CHECK_INT(scan_key(&s, key, sizeof key), 1);
	CHECK_STR(key, "one");
	CHECK_INT(scan_i64(&s, &one), 0);
	CHECK_INT(one, 1);
	CHECK_INT(scan_key(&s, key, sizeof key), 1);
	CHECK_STR(key, "name");
	CHECK_INT(scan_str(&s, &name), 0);
	CHECK_STR(name.data, "a\tb");
	CHECK_INT(scan_key(&s, key, sizeof key), 1);
	CHECK_INT(scan_bool(&s, &on), 0);
	CHECK_INT(scan_key(&s, key, sizeof key), 1);
	CHECK_INT(scan_bool(&s, &off), 0);
	CHECK(on && !off);
	CHECK_INT(scan_key(&s, key, sizeof key), 0);
	CHECK_INT(scan_end(&s), 0);
	buf_release(&name);
}

int main(void)
{
	RUN(whole_numbers);
	RUN(real_numbers);
	RUN(grammar);
	RUN(deep);
	RUN(members);
	return test_done();
}
