/*
 * rules.c - reads families of rules, and asks whether a rule applies.
 *
 * A line is a word and its text. A rule ends where the next rule or file starts. Whatever is not understood is an error,
 * because a rule that silently does nothing is worse than none.
 */
#include "space/rewrite/rule.h"

#include <string.h>
#include "hlo/float.h"
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
	if (!text)
		return 0;
	*out = expr_parse(&f->r->mem, text, f->rule->code ? f->rule->code->measures : f->rule->pattern->measures, f->err);
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
	f->rule->whole = strcmp(how, "whole") == 0;
	return f->rule->whole || strcmp(how, "region") == 0 ? 0 : fail(f, f->line, "a price is by region or whole, not", how);
}

static int add_variant(struct reading *f, const char *name)
{
	if (f->rule->n_variants == RULE_VARIANTS)
		return fail(f, f->line, "too many variants:", name);
	f->rule->variant[f->rule->n_variants++] = name;
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
	else if (strcmp(word, "variant") == 0)
		return add_variant(f, rest);
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

bool rule_match_joined(const struct rule *r, const struct graph *g, uint32_t v, uint32_t leader, uint32_t side, struct found *f)
{
	*f = (struct found){.anchor = v, .inside = {leader}, .n_inside = 1, .leader = leader, .side = side, .variants = 1};
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
	return r->code ? r->code->write(d, f, variant) : pattern_write(r->pattern, d, f);
}

bool rule_plain(const struct graph *g, uint32_t v)
{
	const struct node *n = &g->node[v];
	const Hlo__HloInstructionProto *in = n->proto;
	bool type = n->dtype == DT_BF16 || n->dtype == DT_F16 || n->dtype == DT_F32 || n->dtype == DT_F64 || n->dtype == DT_S32 || n->dtype == DT_S64 ||
		n->dtype == DT_U32 || n->dtype == DT_U64;

	if (!type || n->rank > DRAFT_RANK - 2 || n->flags & (NODE_SIDE_EFFECT | NODE_CONTROL) || in->sharding || !rule_fits(g, v))
		return false;
	for (size_t i = 0; i < in->shape->n_is_dynamic_dimension; i++)
		if (in->shape->is_dynamic_dimension[i])
			return false;
	return true;
}

bool rule_only_for(const struct graph *g, uint32_t v, uint32_t user)
{
	return rule_plain(g, v) && g->node[v].n_users == 1 && *node_users(g, v) == user && !(g->node[v].flags & NODE_ROOT);
}

bool rule_constant(const struct graph *g, uint32_t v, double *out)
{
	const Hlo__Literal *l = g->node[v].proto->literal;

	if (g->node[v].opcode != OP_CONSTANT || g->node[v].elements != 1 || !l)
		return false;
	if (l->n_f32s)
		*out = (double)l->f32s[0];
	else if (l->n_f64s)
		*out = l->f64s[0];
	else if (l->bf16s.len >= 2)
		*out = float_decode(DT_BF16, l->bf16s.data[0] | (uint64_t)l->bf16s.data[1] << 8);
	else if (l->f16s.len >= 2)
		*out = float_decode(DT_F16, l->f16s.data[0] | (uint64_t)l->f16s.data[1] << 8);
	else
		return false;
	return true;
}

bool rule_is_sum(const struct graph *g, uint32_t v)
{
	const struct comp *c;
	double first;

	if (g->node[v].opcode != OP_REDUCE || g->node[v].n_operands != 2)
		return false;
	c = &g->comp[node_calls(g, v)[0]];
	return c->n_nodes == 3 && g->node[c->root].opcode == OP_ADD && node_operands(g, c->root)[0] != node_operands(g, c->root)[1] &&
		rule_constant(g, node_operands(g, v)[1], &first) && !(first < 0) && !(first > 0);
}

static bool in_16_bits(const struct graph *g, uint32_t v)
{
	return g->node[v].dtype == DT_BF16 || g->node[v].dtype == DT_F16;
}

bool rule_dot(const struct graph *g, uint32_t v, struct dot_dims *out)
{
	const Hlo__DotDimensionNumbers *d = g->node[v].proto->dot_dimension_numbers;

	if (g->node[v].opcode != OP_DOT || !d || !rule_plain(g, v) || !g->node[v].elements ||
		(in_16_bits(g, v) && g->node[v].proto->precision_config && g->node[v].proto->precision_config->algorithm) ||
		d->n_lhs_contracting_dimensions > DRAFT_RANK || d->n_lhs_batch_dimensions > DRAFT_RANK)
		return false;
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t u = node_operands(g, v)[k];
		if (g->node[u].dtype != g->node[v].dtype || g->node[u].rank > DRAFT_RANK - 2 || !g->node[u].elements)
			return false;
	}
	*out = (struct dot_dims){.n_sum = (uint32_t)d->n_lhs_contracting_dimensions, .n_batch = (uint32_t)d->n_lhs_batch_dimensions};
	for (uint32_t k = 0; k < out->n_sum; k++) {
		out->sum[0][k] = d->lhs_contracting_dimensions[k];
		out->sum[1][k] = d->rhs_contracting_dimensions[k];
	}
	for (uint32_t k = 0; k < out->n_batch; k++) {
		out->batch[0][k] = d->lhs_batch_dimensions[k];
		out->batch[1][k] = d->rhs_batch_dimensions[k];
	}
	return true;
}
