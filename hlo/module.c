/*
 * module.c - bytes to an HloModuleProto and back.
 *
 * A module comes in three kinds of message, and none of them says which it is: a bare
 * HloModuleProto, an HloProto (from a dump), and an HloModuleProtoWithConfig (from an executable).
 * The last two hold the module in field 1, where a bare module has its name. So we look at field 1:
 * if its bytes begin like a module (a name, then an entry computation's name or computations), they
 * are the module.
 */
#include "hlo/module.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "hlo/guard.h"
#include "hlo/text/cost_graph.h"

/* The first length-delimited field, if its number is `want`; NULL otherwise. */
static const uint8_t *first_bytes(const uint8_t *p, size_t n, unsigned want, size_t *size)
{
	if (n < 2 || p[0] != (want << 3 | 2))
		return NULL;
	uint64_t v = 0;
	size_t i = 1;
	for (int shift = 0; i < n && shift < 63; shift += 7) {
		v |= (uint64_t)(p[i] & 127) << shift;
		if (p[i++] < 128) {
			*size = (size_t)v;
			return v <= n - i ? p + i : NULL;
		}
	}
	return NULL;
}

/* Do the bytes begin as a module does: a name of printable characters, then field 2 or 3? */
static bool looks_like_module(const uint8_t *p, size_t n)
{
	size_t size = 0;
	const uint8_t *name = first_bytes(p, n, 1, &size), *next = name ? name + size : p;
	for (size_t i = 0; name && i < size; i++)
		if (name[i] < ' ' || name[i] == 127)
			return false;
	return next < p + n && (*next == (2 << 3 | 2) || *next == (3 << 3 | 2));
}

Hlo__HloModuleProto *hlo_unpack(struct arena *mem, const void *p, size_t n, const char *name,
	struct err *err)
{
	size_t size = 0;
	const uint8_t *inside = first_bytes(p, n, 1, &size);
	Hlo__HloModuleProto *m;
	if (inside && looks_like_module(inside, size)) {
		Hlo__HloProto *outer = guard_unpack(mem, &hlo__hlo_proto__descriptor, p, n, name, err);
		m = outer ? outer->hlo_module : NULL;
	} else {
		m = guard_unpack(mem, &hlo__hlo_module_proto__descriptor, p, n, name, err);
	}
	if (m && m->n_computations == 0) {
		err_set(err, "%s is no HLO module: it has no computations", name);
		return NULL;
	}
	return m;
}

static bool begins(const char *s, const char *end, const char *word)
{
	size_t n = strlen(word);
	return (size_t)(end - s) >= n && memcmp(s, word, n) == 0;
}

/* Returns the last character of the comment that begins at s, or NULL if it has no end. */
static const char *comment_end(const char *s, const char *end)
{
	if (begins(s, end, "//"))
		return memchr(s, '\n', (size_t)(end - s));
	for (s += 2; s + 1 < end; s++)
		if (s[0] == '*' && s[1] == '/')
			return s + 1;
	return NULL;
}

/* Returns the first character after white space and comments. */
static const char *skip_blank(const char *s, const char *end)
{
	for (; s < end; s++) {
		if (begins(s, end, "//") || begins(s, end, "/*")) {
			s = comment_end(s, end);
			if (!s)
				return end;
		} else if (*s != ' ' && *s != '\t' && *s != '\n' && *s != '\r') {
			break;
		}
	}
	return s;
}

/* Is the beginning free of control characters? Noise may also begin like a text. */
static bool looks_like_text(const char *s, const char *end)
{
	enum { ENOUGH = 256 };
	for (size_t i = 0; i < ENOUGH && s + i < end; i++)
		if ((uint8_t)s[i] < ' ' && !memchr("\t\n\r", s[i], 3))
			return false;
	return true;
}

/* Does it begin like a computation without a module header: "name {" or "%name ("? */
static bool begins_computation(const char *s, const char *end)
{
	const char *name = s += s < end && *s == '%';

	while (s < end && (isalnum((uint8_t)*s) || memchr("_.-", *s, 3)))
		s++;
	if (s == name)
		return false;
	s = skip_blank(s, end);
	return s < end && (*s == '{' || *s == '(');
}

/* An SQLite file with the application_id of schemas/store.sql, "VANT". SQLite keeps it at byte 68. */
static bool is_store(const void *p, size_t n)
{
	return n >= 72 && memcmp(p, "SQLite format 3", 16) == 0 && memcmp((const char *)p + 68, "VANT", 4) == 0;
}

enum hlo_format hlo_sniff(const void *p, size_t n)
{
	static const char *const hlo[] = {"HloModule ", "HloModule\t", "HloModule,", "HloModule\n", "ENTRY "};
	static const char *const mlir[] = {"module ", "module@", "module{", "\"builtin.module\"", "#loc",
		"func.func ", "!", "#"};
	const char *end = n ? (const char *)p + n : p;
	size_t size = 0;
	const uint8_t *inside = first_bytes(p, n, 1, &size);
	if (is_store(p, n))
		return HLO_STORE;
	if (looks_like_module(p, n) || (inside && looks_like_module(inside, size)))
		return HLO_PROTO;
	if (n >= 4 && memcmp(p, "ML\xefR", 4) == 0)
		return HLO_MLIR;
	const char *s = skip_blank(p, end);
	for (size_t i = 0; i < sizeof(hlo) / sizeof(*hlo); i++)
		if (begins(s, end, hlo[i]))
			return HLO_TEXT;
	if (cost_graph_is(p, n) && looks_like_text(p, end))
		return HLO_COST_GRAPH;
	for (size_t i = 0; i < sizeof(mlir) / sizeof(*mlir); i++)
		if (begins(s, end, mlir[i]) && looks_like_text(s, end))
			return HLO_MLIR;
	return begins_computation(s, end) && looks_like_text(s, end) ? HLO_TEXT : HLO_UNKNOWN;
}
