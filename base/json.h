/*
 * json.h - writing JSON: commas, escapes, NaN as null.
 *
 *	struct json j = {.out = &buf};
 *	json_object(&j, NULL); json_str(&j, "name", g->name); json_num(&j, "flops", f);
 *	json_array(&j, "loops"); ... json_end(&j); json_end(&j);
 *
 * `key` is NULL inside arrays and at the top.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"

struct json {
	struct buf *out;
	bool pretty;
	uint8_t depth;
	uint64_t nonempty, array; /* one bit per depth */
};

void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);
void json_str(struct json *j, const char *key, const char *value); /* NULL gives null */
void json_int(struct json *j, const char *key, int64_t value);
void json_uint(struct json *j, const char *key, uint64_t value);
void json_hex(struct json *j, const char *key, uint64_t value); /* "0123456789abcdef" */
void json_num(struct json *j, const char *key, double value);	/* shortest that reads back equal */
void json_bool(struct json *j, const char *key, bool value);

#endif
