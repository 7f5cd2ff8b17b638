/*
 * check_valid.c - for each promise that graph/valid.h makes to readers, a program that breaks it is refused.
 */
#include "hlo/shape.h"
#include "tests/broken.h"

static void element_of_another_shape(struct broken *b)
{
	b->e->tuple_index = 0;
}
static void part_of_another_shape(struct broken *b)
{
	b->t->shape->tuple_shapes[0] = b->x->shape;
}
static void nothing_but_wide(struct broken *b)
{
	b->x->shape = make_shape_v(&b->mk, DT_F32, 2, (int64_t[]){0, INT64_C(1) << 62});
}
static void rank_of_many(struct broken *b)
{
	b->x->shape = make_shape_v(&b->mk, DT_F32, RANK_LIMIT + 1, ARENA_NEW(&b->mk.mem, RANK_LIMIT + 1, int64_t));
}
static void layout_repeats(struct broken *b)
{
	b->x->shape = make_shape(&b->mk, DT_F32, 2, 4, 2);
	b->x->shape->layout->minor_to_major[0] = 0;
}
static void layout_elsewhere(struct broken *b)
{
	b->x->shape->layout->minor_to_major[0] = INT64_MIN;
}
static void layout_shorter(struct broken *b)
{
	b->x->shape->layout->n_minor_to_major = 0;
}
static void array_of_parts(struct broken *b)
{
	b->x->shape->n_tuple_shapes = 1;
	b->x->shape->tuple_shapes = b->t->shape->tuple_shapes;
}
static void dynamic_of_others(struct broken *b)
{
	b->x->shape->n_is_dynamic_dimension = 2;
	b->x->shape->is_dynamic_dimension = ARENA_NEW(&b->mk.mem, 2, protobuf_c_boolean);
}
static void id_far(struct broken *b)
{
	b->e->id = b->c->p->root_id = INT64_MAX;
}
static void id_negative(struct broken *b)
{
	b->e->id = b->c->p->root_id = -1;
}
static void computation_far(struct broken *b)
{
	b->sum->p->id = b->r->called_computation_ids[0] = INT64_C(1) << 32;
}
static void boundary_wider(struct broken *b)
{
	b->m->host_program_shape->parameters[0] = make_shape(&b->mk, DT_F32, 1, 9);
}
static void boundary_shorter(struct broken *b)
{
	b->m->host_program_shape->n_parameters = b->m->host_program_shape->n_parameter_names = 0;
}
static void boundary_without_result(struct broken *b)
{
	b->m->host_program_shape->result = NULL;
}
static void add_of_three(struct broken *b)
{
	b->c->root = make_op(b->c, "add", b->x->shape, 3, b->x, b->x, b->x);
	b->m = make_module(&b->mk);
}
static void reduces_elsewhere(struct broken *b)
{
	make_dims(b->c, b->r, 1, 1);
}
static void reduces_twice(struct broken *b)
{
	make_dims(b->c, b->r, 2, 0, 0);
}
static void reduces_with_nothing(struct broken *b)
{
	b->r->n_called_computation_ids = 0;
}
static void negates_with_a_call(struct broken *b)
{
	b->y->opcode = (char *)"negate";
}
static void call_of_another_shape(struct broken *b)
{
	b->body->p->instructions[1]->shape = make_shape(&b->mk, DT_F32, 1, 9);
}
static make_instruction *instead(struct broken *b, const char *opcode, int operands)
{
	make_instruction *in = make_op(b->c, opcode, b->x->shape, operands, b->x, b->x);
	b->c->root = in;
	b->m = make_module(&b->mk);
	return in;
}
static void gather_without_numbers(struct broken *b)
{
	instead(b, "gather", 2);
}
static void window_of(struct broken *b, Hlo__WindowDimension d)
{
	Hlo__WindowDimension *w = ARENA_NEW(&b->mk.mem, 1, Hlo__WindowDimension);
	hlo__window_dimension__init(w);
	d.base = w->base;
	*w = d;
	b->y->window = ARENA_NEW(&b->mk.mem, 1, Hlo__Window);
	hlo__window__init(b->y->window);
	b->y->window->dimensions = arena_dup(&b->mk.mem, &w, sizeof(w));
	b->y->window->n_dimensions = 1;
}
static void window_huge(struct broken *b)
{
	window_of(b, (Hlo__WindowDimension){.size = INT64_MAX});
}
static void window_negative(struct broken *b)
{
	window_of(b, (Hlo__WindowDimension){.size = -2});
}
static void window_far(struct broken *b)
{
	window_of(b, (Hlo__WindowDimension){.size = 1, .padding_low = INT64_MIN});
}
static void transform_huge(struct broken *b)
{
	int64_t length[] = {INT64_MAX, INT64_MAX};
	b->y->n_fft_length = 2;
	b->y->fft_length = arena_dup(&b->mk.mem, length, sizeof(length));
}
static void convolution_far(struct broken *b)
{
	Hlo__ConvolutionDimensionNumbers *d = ARENA_NEW(&b->mk.mem, 1, Hlo__ConvolutionDimensionNumbers);
	hlo__convolution_dimension_numbers__init(d);
	d->input_feature_dimension = d->kernel_output_feature_dimension = 1;
	d->output_feature_dimension = INT64_MAX;
	b->y->convolution_dimension_numbers = d;
}
static Hlo__Literal *literal_of(struct broken *b, Hlo__ShapeProto *s)
{
	Hlo__Literal *l = ARENA_NEW(&b->mk.mem, 1, Hlo__Literal);
	make_instruction *in = make_op(b->c, "constant", s, 0);
	hlo__literal__init(l);
	l->shape = s;
	in->literal = l;
	b->c->root = b->e;
	b->m = make_module(&b->mk);
	return l;
}
static Hlo__ShapeProto *shape_of_two(struct broken *b)
{
	Hlo__ShapeProto *s = make_shape(&b->mk, DT_TUPLE, 0);
	s->n_tuple_shapes = 2;
	s->tuple_shapes = ARENA_NEW(&b->mk.mem, 2, Hlo__ShapeProto *);
	s->tuple_shapes[0] = s->tuple_shapes[1] = make_shape(&b->mk, DT_F32, 0);
	return s;
}
static void literal_left_out(struct broken *b)
{
	literal_of(b, make_shape(&b->mk, DT_F32, 1, 8));
}
static void literal_without_shape(struct broken *b)
{
	literal_of(b, make_shape(&b->mk, DT_F32, 1, 8))->shape = NULL;
}
static void literal_of_another_shape(struct broken *b)
{
	literal_of(b, make_shape(&b->mk, DT_F32, 1, 8))->shape = make_shape(&b->mk, DT_F32, 1, 9);
}
static void literal_layout_repeats(struct broken *b)
{
	Hlo__Literal *l = literal_of(b, make_shape(&b->mk, DT_F32, 2, 2, 2));
	l->shape = make_shape(&b->mk, DT_F32, 2, 2, 2);
	l->shape->layout->minor_to_major[0] = 0;
	l->n_f32s = 4;
	l->f32s = ARENA_NEW(&b->mk.mem, 4, float);
}
static void literal_of_fewer(struct broken *b)
{
	Hlo__Literal *l = literal_of(b, make_shape(&b->mk, DT_F32, 1, 8));
	l->n_f32s = 7;
	l->f32s = ARENA_NEW(&b->mk.mem, 7, float);
}
static void tuple_without_shapes(struct broken *b)
{
	Hlo__Literal *l = literal_of(b, shape_of_two(b));
	l->n_tuple_literals = 2;
	l->tuple_literals = ARENA_NEW(&b->mk.mem, 2, Hlo__Literal *);
	for (int i = 0; i < 2; i++) {
		l->tuple_literals[i] = ARENA_NEW(&b->mk.mem, 1, Hlo__Literal);
		hlo__literal__init(l->tuple_literals[i]);
	}
}
static void tuple_of_no_values(struct broken *b)
{
	literal_of(b, shape_of_two(b));
}
static void origin_far(struct broken *b)
{
	Hlo__OriginalValue *v = ARENA_NEW(&b->mk.mem, 1, Hlo__OriginalValue);
	Hlo__OriginalValueElement *e = ARENA_NEW(&b->mk.mem, 1, Hlo__OriginalValueElement);
	int64_t far = INT64_C(1) << 40;
	hlo__original_value__init(v);
	hlo__original_value_element__init(e);
	e->n_shape_index = 1;
	e->shape_index = arena_dup(&b->mk.mem, &far, sizeof(far));
	v->n_elements = 1;
	v->elements = arena_dup(&b->mk.mem, &e, sizeof(e));
	b->y->original_value = v;
}
static void promises_are_kept(void)
{
	static const struct broken_case table[] = {
		{element_of_another_shape, "another shape than the element"},
		{part_of_another_shape, "not as its shape says"},
		{nothing_but_wide, "no machine holds"},
		{rank_of_many, "no machine holds"},
		{layout_repeats, "each dimension once"},
		{layout_elsewhere, "each dimension once"},
		{layout_shorter, "each dimension once"},
		{array_of_parts, "an array and a tuple"},
		{dynamic_of_others, "whether it is dynamic"},
		{id_far, "an id that XLA does not give"},
		{id_negative, "an id that XLA does not give"},
		{computation_far, "the id 4294967296, which XLA does not give"},
		{boundary_wider, "promises other parameters"},
		{boundary_shorter, "promises other parameters"},
		{boundary_without_result, "promises other parameters"},
		{add_of_three, "another number of operands"},
		{reduces_elsewhere, "names dimensions"},
		{reduces_twice, "names dimensions"},
		{reduces_with_nothing, "does not fit the computations"},
		{negates_with_a_call, "does not fit the computations"},
		{call_of_another_shape, "does not fit the computations"},
		{gather_without_numbers, "lacks an attribute"},
		{window_huge, "no machine moves"},
		{window_negative, "no machine moves"},
		{window_far, "no machine moves"},
		{transform_huge, "more than a machine holds"},
		{convolution_far, "names dimensions"},
		{literal_left_out, NULL},
		{literal_without_shape, "a value that is not as its shape says"},
		{literal_of_another_shape, "a value that is not as its shape says"},
		{literal_layout_repeats, "a value that is not as its shape says"},
		{literal_of_fewer, "a value that is not as its shape says"},
		{tuple_without_shapes, "a value that is not as its shape says"},
		{tuple_of_no_values, "a value that is not as its shape says"},
		{origin_far, "an origin that no text can say"},
	};
	broken_in(table, sizeof(table) / sizeof(*table));
}

int main(void)
{
	RUN(promises_are_kept);
	return test_done();
}
