/*
 * rules.c - reads families of rules, and asks whether a rule applies.
 *
 * A line is a word and its text. A rule ends where the next rule or file starts. Whatever is not understood is an
 * error, because a rule that silently does nothing is worse than none.
 */
#include "space/rewrite/rule.h"

#include <string.h>
#include "space/rewrite/codes.h"
#include "space/rewrite/pattern.h"

static const char built_in[] = {
#include "schemas/rewrite.rules.h"
};

static const struct rule_code *const codes[] = {
#define CODE(name) &name##_code,
#include "schemas/rewrite_code.def"
#undef CODE
};

struct reading {
	struct rules *r;
	const char *family;
	uint32_t line;
	struct rule *rule; /* the one being read, or NULL */
	const char *when, *promise;
	uint32_t when_line, promise_line;
	struct err *err;
};

static int fail(const struct reading *f, uint32_t line, const char *what, const char *about)
{
	return err_set(f->err, "%s.rules, line %u: %s %.60s", f->family, line, what, about);
}

static int finish_expression(struct reading *f, const char *text, uint32_t line, struct expr **out)
{
	const struct rule *r = f->rule;

	if (!text)
		return 0;
	*out = expr_parse(&f->r->mem, text, r->code ? r->code->measures : r->pattern->measures, f->err);
	return *out ? 0 : err_prefix(f->err, "%s.rules, line %u", f->family, line);
}

/* Ends the rule that is being read; -1 with a sentence if something is missing. */
static int finish(struct reading *f)
{
	struct rule *r = f->rule;

	if (!r)
		return 0;
	if (r->code && r->pattern)
		return fail(f, f->line, "a rule with code and pattern:", r->name);
	if (r->pattern && pattern_check(r->pattern, f->err) < 0)
		return err_prefix(f->err, "%s.rules, rule %s", f->family, r->name);
	if (!r->code && !r->pattern)
		return fail(f, f->line, "a rule without code or pattern:", r->name);
	if (r->n_variants == 0)
		return fail(f, f->line, "a rule without a variant:", r->name);
	if (!r->about)
		return fail(f, f->line, "a rule that does not say what it is about:", r->name);
	if (finish_expression(f, f->when, f->when_line, &r->when) < 0 ||
		finish_expression(f, f->promise, f->promise_line, &r->promise) < 0)
		return -1;
	f->rule = NULL;
	f->when = f->promise = NULL;
	return 0;
}

static int begin_rule(struct reading *f, const char *name)
{
	if (finish(f) < 0)
		return -1;
	for (size_t i = 0; i < f->r->n; i++)
		if (strcmp(f->r->rule[i].name, name) == 0)
			return fail(f, f->line, "there is another rule called", name);
	MEM_GROW(&f->r->rule, &f->r->cap, f->r->n + 1);
	f->rule = &f->r->rule[f->r->n++];
	*f->rule = (struct rule){.name = name, .family = f->family};
	return 0;
}

static int set_code(struct reading *f, const char *name)
{
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (strcmp(codes[i]->name, name) == 0) {
			f->rule->code = codes[i];
			return 0;
		}
	return fail(f, f->line, "there is no code called", name);
}

static int set_price(struct reading *f, const char *how)
{
	f->rule->blind = strcmp(how, "program") == 0;
	f->rule->whole = f->rule->blind || strcmp(how, "whole") == 0;
	if (!f->rule->whole && strcmp(how, "region") != 0)
		return fail(f, f->line, "a price is by region, whole or program, not", how);
	return 0;
}

static int set_needs(struct reading *f, const char *what)
{
	f->rule->onednn |= strcmp(what, "onednn") == 0;
	f->rule->asked |= strcmp(what, "asking") == 0;
	return f->rule->onednn || f->rule->asked ? 0
		: fail(f, f->line, "a rule can need onednn or asking, not", what);
}

static int add_variant(struct reading *f, const char *name, bool kept)
{
	struct rule *r = f->rule;

	if (r->n_variants == RULE_VARIANTS)
		return fail(f, f->line, "too many variants:", name);
	if (kept && r->n_variants == 0)
		return fail(f, f->line, "nothing is written yet that could be kept:", name);
	r->kept[r->n_variants] = kept;
	r->variant[r->n_variants++] = name;
	return 0;
}

static int add_line(struct reading *f, const char *text, bool write)
{
	struct rule *r = f->rule;

	if (!r->pattern)
		r->pattern = ARENA_NEW(&f->r->mem, 1, struct pattern);
	if (pattern_line(r->pattern, &f->r->mem, text, write, f->err) < 0)
		return err_prefix(f->err, "%s.rules, line %u", f->family, f->line);
	return 0;
}

static int read_line(struct reading *f, const char *word, const char *rest)
{
	if (strcmp(word, "rule") == 0)
		return begin_rule(f, rest);
	if (!f->rule)
		return fail(f, f->line, "a rule was expected, not", word);
	if (strcmp(word, "about") == 0)
		f->rule->about = rest;
	else if (strcmp(word, "code") == 0)
		return set_code(f, rest);
	else if (strcmp(word, "match") == 0 || strcmp(word, "write") == 0)
		return add_line(f, rest, *word == 'w');
	else if (strcmp(word, "price") == 0)
		return set_price(f, rest);
	else if (strcmp(word, "needs") == 0)
		return set_needs(f, rest);
	else if (strcmp(word, "variant") == 0 || strcmp(word, "kept") == 0)
		return add_variant(f, rest, *word == 'k');
	else if (strcmp(word, "when") == 0)
		f->when = rest, f->when_line = f->line;
	else if (strcmp(word, "promise") == 0)
		f->promise = rest, f->promise_line = f->line;
	else
		return fail(f, f->line, "nothing is known of", word);
	return 0;
}

/* Splits the next line into its first word and the rest, without comments and blanks around. */
static const char *next_line(struct arena *mem, const char *p, const char *end, char **word, char **rest)
{
	const char *stop = memchr(p, '\n', (size_t)(end - p)), *last;
	char *line;

	stop = stop ? stop : end;
	last = memchr(p, '#', (size_t)(stop - p));
	last = last ? last : stop;
	while (p < last && (*p == ' ' || *p == '\t'))
		p++;
	while (last > p && (last[-1] == ' ' || last[-1] == '\t' || last[-1] == '\r'))
		last--;
	line = arena_printf(mem, "%.*s", (int)(last - p), p);
	*word = line;
	line += strcspn(line, " \t");
	*rest = line + strspn(line, " \t");
	*line = 0;
	return stop < end ? stop + 1 : end;
}

/* If a text holds several families, a line tells where each starts. */
static int parse(struct rules *r, const char *family, const char *text, size_t n, struct err *err)
{
	struct reading f = {.r = r, .family = family, .err = err};
	const char *end = text + n;

	for (const char *p = text; p < end;) {
		char *word, *rest;
		p = next_line(&r->mem, p, end, &word, &rest);
		f.line++;
		if (strcmp(word, "family") == 0) {
			if (finish(&f) < 0)
				return -1;
			f.family = rest;
			f.line = 0;
		} else if (*word && read_line(&f, word, rest) < 0) {
			return -1;
		}
	}
	return finish(&f);
}

int rules_parse(struct rules *r, const char *family, const char *text, size_t n, struct err *err)
{
	return parse(r, arena_strdup(&r->mem, family), text, n, err);
}

int rules_load(struct rules *r, struct err *err)
{
	return parse(r, "rules", built_in, sizeof built_in, err);
}

void rules_release(struct rules *r)
{
	mem_free(r->rule);
	arena_release(&r->mem);
	*r = (struct rules){0};
}

bool rule_match(const struct rule *r, const struct graph *g, uint32_t v, struct found *f)
{
	*f = (struct found){.anchor = v, .variants = r->n_variants, .leader = NONE};
	if (rule_joins(r))
		return false;
	return (r->code ? r->code->match(g, v, f) : pattern_match(r->pattern, g, v, f)) &&
		(!r->when || expr_value(r->when, f->measure) > 0);
}

bool rule_match_joined(const struct rule *r, const struct graph *g, uint32_t v, uint32_t leader, uint32_t side,
	struct found *f)
{
	*f = (struct found){
		.anchor = v, .inside = {leader}, .n_inside = 1, .leader = leader, .side = side, .variants = 1};
	return r->code->match(g, v, f) && (!r->when || expr_value(r->when, f->measure) > 0);
}

double rule_promise(const struct rule *r, const struct found *f)
{
	double measure[FOUND_MEASURES];

	if (!r->promise)
		return 0;
	memcpy(measure, f->measure, sizeof measure);
	for (uint32_t i = 0; rule_joins(r) && r->code->measures[i]; i++)
		if (strcmp(r->code->measures[i], "prepared") == 0)
			measure[i] = f->prepared;
	return expr_value(r->promise, measure);
}

Hlo__HloInstructionProto *rule_write(const struct rule *r, struct draft *d, const struct found *f, uint32_t variant)
{
	if (r->kept[variant - 1])
		return draft_unary(d, "opt-barrier", rule_write(r, d, f, variant - 1));
	return r->code ? r->code->write(d, f, variant) : pattern_write(r->pattern, d, f, variant);
}
