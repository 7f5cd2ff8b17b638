/*
 * re.h - regular expressions (PCRE2, compiled with its JIT where it has one). One struct re serves
 * one thread at a time.
 */
#ifndef BASE_RE_H
#define BASE_RE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"

struct re;
struct re *re_new(const char *pattern, struct err *err); /* NULL with a sentence that points at the place */
void re_free(struct re *re);
bool re_match(struct re *re, const char *text, size_t n); /* found anywhere in text */

#endif
