/*
 * re.c - PCRE2, over bytes: names in graphs are not always UTF-8.
 *
 * The memory for match results belongs to the struct re, so one struct re serves one thread. A
 * pattern that exceeds PCRE2's limits on a text (catastrophic backtracking) does not match it.
 */
#include "base/re.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include "base/mem.h"

struct re {
	pcre2_code *code;
	pcre2_match_data *match;
};

struct re *re_new(const char *pattern, struct err *err)
{
	int code;
	PCRE2_SIZE at;
	pcre2_code *compiled =
		pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0, &code, &at, NULL);
	if (!compiled) {
		PCRE2_UCHAR why[200];
		pcre2_get_error_message(code, why, sizeof(why));
		err_set(err, "regular expression \"%s\": %s, at \"%.20s\" (character %zu)", pattern, (char *)why,
			pattern + at, at + 1);
		return NULL;
	}
	pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE); /* where it cannot, matching interprets */
	struct re *re = mem_alloc(sizeof(*re));
	re->code = compiled;
	re->match = pcre2_match_data_create_from_pattern(compiled, NULL);
	BUG_ON(!re->match);
	return re;
}

void re_free(struct re *re)
{
	if (!re)
		return;
	pcre2_match_data_free(re->match);
	pcre2_code_free(re->code);
	mem_free(re);
}

bool re_match(struct re *re, const char *text, size_t n)
{
	return pcre2_match(re->code, (PCRE2_SPTR)text, n, 0, 0, re->match, NULL) >= 0;
}
