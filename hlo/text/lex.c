/*
 * lex.c - turns characters into tokens.
 *
 * One pattern matches blanks, comments and the token after them. Each kind of token is a group of the
 * pattern; PCRE2 returns the highest group that matched, which tells the kind. The pattern matches only
 * the beginning of a string or comment, and code here finds its end: so no length of string exhausts
 * PCRE2's stack. The pattern is compiled (JIT) once per process.
 *
 * After an offence the rest of the text counts as empty, see own.h.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/buf.h"
#include "hlo/text/own.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct lexer {
	pcre2_match_data *match;
	const PCRE2_SIZE *span;
};

enum group { G_LABELS = 1, G_PADS, G_SIZES, G_REAL, G_INT, G_WORD, G_PERCENT, G_QUOTE, G_ARROW, G_ATMOST, G_DOTS,
	G_COMMENT, G_MARK };

static const char pattern[] =
	"[ \\t\\r\\n]*+(?://[^\\n]*+[ \\t\\r\\n]*+)*+(?:"
	"([0-9bf?]{2,}_[0-9io?]{2,}->[0-9bf?]{2,})"
	"|(-?[0-9]+_-?[0-9]+(?:_[0-9]+)?(?:x-?[0-9]+_-?[0-9]+(?:_[0-9]+)?)*+)"
	"|([0-9]++(?:x[0-9]++)++)"
	"|(-?(?:(?:[0-9]++(?:\\.[0-9]*+|(?=[eE][-+]?[0-9]))|\\.[0-9]++)(?:[eE][-+]?[0-9]++)?+"
	"|(?:nan(?:\\(0x[0-9a-fA-F]++\\))?+|inf)(?![\\w.:=-])))"
	"|(-?[0-9]++)"
	"|([A-Za-z_][\\w.-]*+)"
	"|%([A-Za-z_][\\w.-]*+)"
	"|([\"'])"
	"|(->)"
	"|(<=)"
	"|(\\.\\.\\.)"
	"|(/\\*)"
	"|([][=,:*#+~{}()?])"
	"|\\z)";

/* Compiled once per process. Many threads may match with it, each into results of its own. */
static pcre2_code *compiled;
static bool compiled_jit;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void compile(void)
{
	int code;
	PCRE2_SIZE at;
	compiled = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_ANCHORED, &code, &at, NULL);
	BUG_ON(!compiled);
	compiled_jit = pcre2_jit_compile(compiled, PCRE2_JIT_COMPLETE) == 0;
}

struct lexer *lexer_new(void)
{
	struct lexer *l = MEM_NEW(1, struct lexer);
	pthread_once(&once, compile);
	l->match = pcre2_match_data_create_from_pattern(compiled, NULL);
	BUG_ON(!l->match);
	l->span = pcre2_get_ovector_pointer(l->match);
	return l;
}

void lexer_free(struct lexer *l)
{
	pcre2_match_data_free(l->match);
	mem_free(l);
}

/* Sets the sentence: line, column, and the line around `at`, cut to a width that a person can read. */
static void point(const struct text *p, const char *at, const char *what)
{
	enum { WIDTH = 100 };
	size_t line = 1;
	const char *begin = p->begin;
	for (const char *s = p->begin; s < at; s++)
		if (*s == '\n') {
			line++;
			begin = s + 1;
		}
	const char *stop = memchr(at, '\n', (size_t)(p->end - at));
	if (!stop)
		stop = p->end;
	size_t column = (size_t)(at - begin);
	const char *from = column > WIDTH / 2 ? at - WIDTH / 2 : begin;
	const char *to = stop - from > WIDTH ? from + WIDTH : stop;
	char shown[WIDTH + 1], caret[WIDTH + 2];
	size_t n = (size_t)(to - from), k = (size_t)(at - from);
	for (size_t i = 0; i < n; i++)
		shown[i] = from[i] >= ' ' && from[i] < 127 ? from[i] : ' ';
	shown[n] = '\0';
	memset(caret, ' ', k);
	caret[k] = '^';
	caret[k + 1] = '\0';
	err_set(p->err, "%s:%zu:%zu: %s\n  %s%s%s\n  %s%s", p->name, line, column + 1, what,
		from > begin ? "..." : "", shown, to < stop ? "..." : "", from > begin ? "   " : "", caret);
}

bool text_wrong_at(struct text *p, const char *at, const char *fmt, ...)
{
	if (p->bad)
		return false;
	struct buf b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	if (p->in_attr)
		buf_addf(&b, " (in attribute %s)", p->in_attr->name);
	point(p, at, b.data);
	buf_release(&b);
	p->bad = true;
	p->at = p->end;
	p->tok = (struct token){T_END, p->end, 0, p->end};
	return false;
}

bool text_expected(struct text *p, const char *what)
{
	if (p->bad)
		return false;
	if (p->tok.kind == T_END)
		return text_wrong_at(p, p->tok.at, "expected %s, but the text ends here", what);
	size_t n = (size_t)(p->at - p->tok.at);
	return text_wrong_at(p, p->tok.at, "expected %s, found \"%.*s%s\"", what, n > 40 ? 40 : (int)n, p->tok.at,
		n > 40 ? "..." : "");
}

/* Returns what follows the closing quote of the string that begins at `s`, or NULL. */
const char *text_string_end(const char *s, const char *end)
{
	char quote = *s++;
	for (; s < end && *s != quote; s++)
		if (*s == '\\' && ++s == end)
			return NULL;
	return s < end ? s + 1 : NULL;
}

static const char *comment_end(const char *s, const char *end)
{
	for (s += 2; s + 1 < end; s++)
		if (s[0] == '*' && s[1] == '/')
			return s + 2;
	return NULL;
}

/* Returns the group that matched at `from`, 0 at the end of the text, negative if none did. */
static int match(struct lexer *l, const char *from, const char *end)
{
	PCRE2_SPTR text = (PCRE2_SPTR)from;
	PCRE2_SIZE n = (PCRE2_SIZE)(end - from);
	int rc = compiled_jit ? pcre2_jit_match(compiled, text, n, 0, 0, l->match, NULL) :
			  pcre2_match(compiled, text, n, 0, 0, l->match, NULL);
	return rc - 1;
}

static void token(struct text *p, int kind, const char *from, int group)
{
	const char *s = from + p->lexer->span[2 * group], *e = from + p->lexer->span[2 * group + 1];
	p->tok = (struct token){kind, s, (size_t)(e - s), s};
	p->at = e;
}

static void word(struct text *p)
{
	char next = p->at < p->end ? *p->at : 0;
	if (next == ':' || next == '=') {
		p->tok.kind = next == ':' ? T_NAME : T_ATTR;
		p->at++;
	}
}

void text_next(struct text *p)
{
	static const int kinds[] = {[G_LABELS] = T_LABELS, [G_PADS] = T_PADS, [G_SIZES] = T_SIZES, [G_REAL] = T_REAL,
		[G_INT] = T_INT, [G_WORD] = T_WORD, [G_PERCENT] = T_NAME, [G_QUOTE] = T_STRING, [G_ARROW] = T_ARROW,
		[G_ATMOST] = T_ATMOST, [G_DOTS] = T_DOTS, [G_COMMENT] = 0, [G_MARK] = 0};
	while (!p->bad) {
		const char *from = p->at;
		int g = match(p->lexer, from, p->end);
		if (g < 0) {
			while (from < p->end && strchr(" \t\r\n", *from) && *from)
				from++;
			p->tok = (struct token){T_END, from, 0, from};
			text_wrong_at(p, from, "nothing in HLO text begins with this character");
			return;
		}
		if (g == 0) {
			p->tok = (struct token){T_END, p->end, 0, p->end};
			p->at = p->end;
			return;
		}
		token(p, kinds[g], from, g);
		if (g == G_MARK)
			p->tok.kind = *p->tok.s;
		else if (g == G_WORD)
			word(p);
		else if (g == G_PERCENT)
			p->tok.at--;
		if (g != G_QUOTE && g != G_COMMENT)
			return;
		const char *stop = (g == G_QUOTE ? text_string_end : comment_end)(p->tok.s, p->end);
		if (!stop) {
			text_wrong_at(p, p->tok.s, "this %s does not end", g == G_QUOTE ? "string" : "comment");
			return;
		}
		p->tok.n = (size_t)(stop - p->tok.s);
		p->at = stop;
		if (g == G_QUOTE)
			return;
	}
}

bool text_is(const struct text *p, int kind)
{
	return p->tok.kind == kind;
}

bool text_word_is(const struct text *p, const char *w)
{
	return p->tok.kind == T_WORD && p->tok.n == strlen(w) && memcmp(p->tok.s, w, p->tok.n) == 0;
}

bool text_attr_is(const struct text *p, const char *name)
{
	return p->tok.kind == T_ATTR && p->tok.n == strlen(name) && memcmp(p->tok.s, name, p->tok.n) == 0;
}

bool text_accept_word(struct text *p, const char *word)
{
	bool there = text_word_is(p, word);
	if (there)
		text_next(p);
	return there;
}

bool text_accept_attr(struct text *p, const char *name)
{
	bool there = text_attr_is(p, name);
	if (there)
		text_next(p);
	return there;
}

bool text_accept(struct text *p, int kind)
{
	if (p->tok.kind != kind)
		return false;
	text_next(p);
	return true;
}

bool text_expect(struct text *p, int kind)
{
	if (text_accept(p, kind))
		return true;
	char what[8] = {'"', (char)kind, '"', 0};
	return text_expected(p, kind < 256 ? what : kind == T_ARROW ? "\"->\"" : kind == T_INT ? "an integer"
		: "a name");
}

char text_peek(const struct text *p)
{
	const char *s = p->at;
	while (s < p->end && (*s == ' ' || *s == '\t' || *s == '\n' || *s == '\r'))
		s++;
	return s < p->end ? *s : 0;
}

bool text_first(struct text *p, int open, int close)
{
	return text_expect(p, open) && !text_accept(p, close) && !p->bad;
}

bool text_again(struct text *p, int close)
{
	if (text_accept(p, ','))
		return !p->bad;
	text_expect(p, close);
	return false;
}

bool text_enter(struct text *p)
{
	if (++p->depth > HLO_TEXT_DEPTH)
		return text_wrong_at(p, p->tok.at, "this is nested deeper than any program needs");
	return !p->bad;
}

void text_leave(struct text *p)
{
	p->depth--;
}
