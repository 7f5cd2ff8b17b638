/*
 * check_pack.c - our packing, which writes back to front, gives the same bytes as protobuf-c.
 */
#include <stdlib.h>
#include "base/io.h"
#include "graph/graph.h"
#include "hlo/pack.h"
#include "tests/test.h"

static void same_as_protobuf_c(const ProtobufCMessage *m)
{
	size_t n = protobuf_c_message_get_packed_size(m);
	uint8_t *want = mem_alloc(n);
	struct buf got = {0};

	protobuf_c_message_pack(m, want);
	pack_message(m, &got);
	if (CHECK_INT(got.len, n))
		CHECK(memcmp(got.data, want, n) == 0);
	buf_release(&got);
	mem_free(want);
}

static void programs_pack_alike(void)
{
	static const char *const paths[] = {"examples/graphs/tiny/loop.pb.zst", "examples/graphs/tiny/scatter.pb.zst",
		"examples/graphs/tiny/branch.pb.zst", "examples/graphs/train/resnet.pb.zst",
		"../shared/hlo/dlrm_keras_jax_f32_train_step.pb"};

	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		struct graph g = {0};
		struct err err = {0};
		if (i == 4 && !io_exists(paths[i]))
			continue;
		if (!CHECK(graph_read(&g, paths[i], &err) == 0))
			printf("%s\n", err.text);
		else
			same_as_protobuf_c(&g.module->base);
		graph_release(&g);
	}
}

/* Values at the ends of what varints hold, empty and long strings, packed lists, unknown fields. */
static void odd_values_pack_alike(void)
{
	static const int64_t ends[] = {0, 1, -1, 127, 128, 16383, 16384, INT64_MAX, INT64_MIN};
	Hlo__HloInstructionProto in;
	Hlo__Literal lit;
	float floats[] = {0, -0.0f, 1.5f, INFINITY, NAN};
	double doubles[] = {0, -1e300};
	protobuf_c_boolean bools[] = {0, 1, 1};
	uint8_t extra[] = {3, 'a', 'b', 'c'};
	ProtobufCMessageUnknownField unknown = {12345, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, sizeof extra, extra};
	char *name = mem_zalloc(1, 70001);

	memset(name, 'x', 70000);
	hlo__hlo_instruction_proto__init(&in);
	hlo__literal__init(&lit);
	same_as_protobuf_c(&in.base);
	lit.f32s = floats;
	lit.n_f32s = sizeof floats / sizeof *floats;
	lit.f64s = doubles;
	lit.n_f64s = 2;
	lit.preds = bools;
	lit.n_preds = 3;
	in.literal = &lit;
	in.name = name;
	in.operand_ids = (int64_t *)ends;
	in.n_operand_ids = sizeof ends / sizeof *ends;
	in.base.n_unknown_fields = 1;
	in.base.unknown_fields = &unknown;
	in.epsilon = 1e-5f;
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		in.id = ends[i];
		in.exponent_bits = (int32_t)ends[i];
		same_as_protobuf_c(&in.base);
	}
	mem_free(name);
}

/* Members of a oneof share their memory: a number must not be taken for a pointer. */
static void oneofs_pack_alike(void)
{
	Hlo__HloInstructionProto in;
	const ProtobufCMessageDescriptor *d = &hlo__hlo_instruction_proto__descriptor;

	for (unsigned i = 0; i < d->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &d->fields[i];
		if (!(f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) || f->type == PROTOBUF_C_TYPE_MESSAGE)
			continue;
		for (int value = 0; value < 2; value++) {
			hlo__hlo_instruction_proto__init(&in);
			memcpy((char *)&in + f->quantifier_offset, &f->id, sizeof f->id);
			memcpy((char *)&in + f->offset, &value, sizeof value);
			same_as_protobuf_c(&in.base);
		}
	}
}

int main(void)
{
	RUN(oneofs_pack_alike);
	RUN(programs_pack_alike);
	RUN(odd_values_pack_alike);
	return test_done();
}
