/*
 * valid.c - checks what valid.h promises.
 *
 * There are three rounds, and each relies on the one before. The first checks ids, shapes and parameters.
 * The second checks each instruction with its operands (valid_part.c). The third checks calls, comparing
 * shapes across computations. Facts about opcodes come from tables: hlo_op.def, opcode.def, valid.def.
 */
#include "graph/valid.h"

#include "graph/own.h"
#include "graph/valid_own.h"

static int offence(const struct valid *a, uint32_t v, const char *what)
{
	const struct node *n = &a->g->node[v];
	return err_set(a->err, "%s: instruction %.100s (%.40s) of computation %.100s %s", a->file, n->proto->name,
		n->proto->opcode, a->g->comp[n->comp].proto->name, what);
}

static const Hlo__ShapeProto *shape_of(const struct valid *a, uint32_t v)
{
	return a->g->node[v].proto->shape;
}

/* ---- ids, shapes, parameters ---- */

static int check_node(const struct valid *a, uint32_t v)
{
	const Hlo__HloInstructionProto *in = a->g->node[v].proto;
	const char *what = shape_offence(in->shape);
	if (!what && (in->id < 0 || in->id >= VALID_IDS))
		what = "has an id that XLA does not give";
	return what ? offence(a, v, what) : 0;
}

static uint32_t n_params(const struct valid *a, uint32_t c)
{
	return a->first_param[c + 1] - a->first_param[c];
}

/* Notes the parameters of a computation by number. */
static int check_parameters(struct valid *a, uint32_t c)
{
	const struct graph *g = a->g;
	const struct comp *comp = &g->comp[c];
	uint32_t n = 0, *at = a->param + a->first_param[c];
	for (uint32_t v = comp->first; v < comp->first + comp->n_nodes; v++)
		n += g->node[v].opcode == OP_PARAMETER;
	a->first_param[c + 1] = a->first_param[c] + n;
	for (uint32_t k = 0; k < n; k++)
		at[k] = NONE;
	for (uint32_t v = comp->first; v < comp->first + comp->n_nodes; v++) {
		int64_t k = g->node[v].proto->parameter_number;
		if (g->node[v].opcode != OP_PARAMETER)
			continue;
		if (k < 0 || k >= n || at[k] != NONE)
			return offence(a, v, "has a parameter number that is taken or leaves a gap");
		at[k] = v;
	}
	return 0;
}

static int check_comp(struct valid *a, uint32_t c)
{
	const struct comp *comp = &a->g->comp[c];
	if (comp->proto->id < 0 || comp->proto->id >= VALID_COMP_IDS)
		return err_set(a->err, "%s: computation %.100s has the id %lld, which XLA does not give", a->file,
			comp->proto->name, (long long)comp->proto->id);
	for (uint32_t v = comp->first; v < comp->first + comp->n_nodes; v++)
		if (check_node(a, v) < 0)
			return -1;
	return check_parameters(a, c);
}

/* ---- operands ---- */

static const char *check_operands(const struct valid *a, uint32_t v)
{
	const struct node *n = &a->g->node[v];
	const struct op_row *row = &a->words->op[n->opcode];
	if (n->n_operands < opcode_facts(n->opcode)->operands)
		return "has too few operands";
	if (row->known && row->operands >= 0 && n->n_operands != (uint32_t)row->operands)
		return "has another number of operands than its operation takes";
	return NULL;
}

static const char *check_tuple(const struct valid *a, uint32_t v)
{
	const struct node *n = &a->g->node[v];
	const Hlo__ShapeProto *s = n->proto->shape;
	if (s->element_type != DT_TUPLE || s->n_tuple_shapes != n->n_operands)
		return "has a shape of more or fewer elements than operands";
	for (uint32_t k = 0; k < n->n_operands; k++)
		if (!shape_same(s->tuple_shapes[k], shape_of(a, node_operands(a->g, v)[k])))
			return "has an operand that is not as its shape says";
	return NULL;
}

static const char *check_element(const struct valid *a, uint32_t v)
{
	const Hlo__HloInstructionProto *in = a->g->node[v].proto;
	const Hlo__ShapeProto *s = shape_of(a, node_operands(a->g, v)[0]);
	if (s->element_type != DT_TUPLE || in->tuple_index < 0 || (uint64_t)in->tuple_index >= s->n_tuple_shapes)
		return "takes an element that its tuple does not have";
	if (!shape_same(s->tuple_shapes[in->tuple_index], in->shape))
		return "has another shape than the element it takes";
	return NULL;
}

static int check_alone(struct valid *a, uint32_t v)
{
	const char *what = check_operands(a, v);
	enum shape_rule rule = a->words->op[a->g->node[v].opcode].shape;
	if (!what && rule == SHAPE_TUPLE)
		what = check_tuple(a, v);
	if (!what && rule == SHAPE_ELEMENT)
		what = check_element(a, v);
	if (!what)
		what = valid_parts(a, v);
	return what ? offence(a, v, what) : 0;
}

/* ---- calls ---- */

enum call_parameters { PARAMETERS_OWN, PARAMETERS_ALL, PARAMETERS_NEXT };
enum call_result { RESULT_OWN, RESULT_SAME, RESULT_LOOP };

static const struct signature {
	uint8_t parameters, result;
} signatures[OP_COUNT + 1] = {
#define CALLS(op, parameters, result) [OP_##op] = {PARAMETERS_##parameters, RESULT_##result},
#include "schemas/valid.def"
};

/* Do the parameters of computation c have the shapes of n operands of v, from number `from` on? */
static bool takes(const struct valid *a, uint32_t c, uint32_t v, uint32_t from, uint32_t n)
{
	const uint32_t *param = a->param + a->first_param[c];
	if (n_params(a, c) != n)
		return false;
	for (uint32_t k = 0; k < n; k++)
		if (!shape_same(shape_of(a, param[k]), shape_of(a, node_operands(a->g, v)[from + k])))
			return false;
	return true;
}

/* Is the result of the k-th called computation what it should be? */
static bool gives(const struct valid *a, uint32_t v, uint32_t k, enum call_result result)
{
	const Hlo__ShapeProto *s = shape_of(a, a->g->comp[node_calls(a->g, v)[k]].root);
	if (result == RESULT_LOOP && k > 0)
		return s->element_type == DT_PRED && s->n_dimensions == 0;
	return result == RESULT_OWN || shape_same(s, shape_of(a, v));
}

static bool calls_as_many(const struct valid *a, uint32_t v)
{
	const struct op_row *row = &a->words->op[a->g->node[v].opcode];
	uint32_t n = a->g->node[v].n_called;
	return !row->known || row->calls < 0 ? true : n == (uint32_t)row->calls;
}

static int check_calls(const struct valid *a, uint32_t v)
{
	const struct node *n = &a->g->node[v];
	const struct signature *s = &signatures[n->opcode];
	bool next = s->parameters == PARAMETERS_NEXT;
	bool fits = calls_as_many(a, v) && (!next || (n->n_called > 0 && n->n_operands == n->n_called + 1));
	for (uint32_t k = 0; fits && k < n->n_called; k++) {
		uint32_t c = node_calls(a->g, v)[k];
		if (s->parameters != PARAMETERS_OWN)
			fits = takes(a, c, v, next ? k + 1 : 0, next ? 1 : n->n_operands);
		fits &= gives(a, v, k, s->result);
	}
	if (fits && s->result == RESULT_LOOP)
		fits = shape_same(shape_of(a, v), shape_of(a, node_operands(a->g, v)[0]));
	return fits ? 0 : offence(a, v, "does not fit the computations it calls");
}

/* ---- the module ---- */

static bool boundary_fits(const struct valid *a)
{
	const struct graph *g = a->g;
	const Hlo__ProgramShapeProto *p = g->module->host_program_shape;
	const uint32_t *param = a->param + a->first_param[g->entry];
	if (!p)
		return true;
	if (p->n_parameters != n_params(a, g->entry) || shape_offence(p->result) ||
		!shape_same(p->result, shape_of(a, g->comp[g->entry].root)))
		return false;
	for (size_t k = 0; k < p->n_parameters; k++)
		if (shape_offence(p->parameters[k]) || !shape_same(p->parameters[k], shape_of(a, param[k])))
			return false;
	return true;
}

static int check_all(struct valid *a)
{
	for (uint32_t c = 0; c < a->g->n_comps; c++)
		if (check_comp(a, c) < 0)
			return -1;
	for (uint32_t v = 0; v < a->g->n_nodes; v++)
		if (check_alone(a, v) < 0)
			return -1;
	for (uint32_t v = 0; v < a->g->n_nodes; v++)
		if (check_calls(a, v) < 0)
			return -1;
	if (!boundary_fits(a))
		return err_set(a->err, "%s promises other parameters or "
			"another result than its entry computation %.100s has",
			a->file, a->g->comp[a->g->entry].proto->name);
	return 0;
}

int graph_valid(const struct graph *g, const char *file, struct err *err)
{
	struct valid a = {.g = g, .file = file, .err = err, .words = hlo_words()};
	a.first_param = MEM_NEW(g->n_comps + 1, uint32_t);
	a.param = mem_alloc(g->n_nodes * sizeof(*a.param));
	int rc = check_all(&a);
	mem_free(a.first_param);
	mem_free(a.param);
	return rc;
}
