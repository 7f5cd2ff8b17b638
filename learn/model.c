/*
 * model.c - see model.h and schemas/model.md.
 *
 * The checksum is checked first, so a damaged file is refused at once. Every count is bounded all the same, because a
 * checksum proves that a file is whole, not that it makes sense. The network is laid out for the file's own number of
 * opcodes, compared with the file's table, filled, and then moved to this program's opcodes.
 */
#include "learn/model.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "base/io.h"
#include "learn/feature.h"

#define MAGIC "VANTAGEM"
#define VERSION 6 /* the network sees the ramps of each number */
/* Older formats are still written where they can say it, so that older programs read it: */
#define VERSION_ADVISED 5  /* the network takes the trees' outputs and corrects them; */
#define VERSION_TREES 4	   /* trees, or a unit; with a network besides, predictions are the mean; */
#define VERSION_SECONDS 2  /* a network that counts in the graph's median seconds; */
#define VERSION_QUANTITY 3 /* ... in the graph's median of another quantity */
#define FILE_LIMIT ((size_t)256 << 20)
#define OPCODE_LIMIT 4096

static void put_string(struct buf *out, const char *s)
{
	buf_str(out, s ? s : "");
}

/* What format 2 added. */
static void put_origin(struct buf *out, const struct model_facts *f)
{
	buf_u64(out, f->since);
	buf_u64(out, f->until);
	put_string(out, f->machine);
	put_string(out, f->apart);
	buf_u32(out, f->n_programs);
	for (uint32_t i = 0; i < f->n_programs; i++) {
		put_string(out, f->program[i].name);
		buf_add(out, f->program[i].content.byte, sizeof f->program[i].content.byte);
		buf_u64(out, f->program[i].samples);
		buf_u8(out, f->program[i].held_out);
	}
}

/* A kind that this program does not have gets the usual features; its model fits no space anyway. */
static const struct space_features *own_features(const struct model_facts *f)
{
	const struct space_kind *k = space_kind_find(f->space, NULL);

	return k ? k->features : NULL;
}

static uint32_t version_of(const struct model *m)
{
	if (m->net.size.ramped)
		return VERSION;
	if (m->net.size.advised)
		return VERSION_ADVISED;
	if (m->unit > 0 || m->trees.n_columns || !m->net.size.layers)
		return VERSION_TREES;
	return m->facts.quantity == QUANTITY_SECONDS ? VERSION_SECONDS : VERSION_QUANTITY;
}

static void put_net(struct buf *out, const struct net *net)
{
	buf_u32(out, net->size.width);
	buf_u32(out, net->size.head);
	buf_u32(out, net->size.layers);
	buf_u32(out, net->size.blind);
	if (net->size.advised || net->size.ramped)
		buf_u32(out, net->size.advised);
	if (net->size.ramped)
		ramps_pack(&net->ramps, out);
	if (!net->size.layers)
		return;
	buf_u32(out, OP_COUNT);
	for (uint16_t i = 0; i < OP_COUNT; i++)
		put_string(out, opcode_name(i));
	buf_u32(out, net->n_params);
	for (uint32_t i = 0; i < net->n_params; i++) {
		put_string(out, net->param[i].name);
		buf_u32(out, net->param[i].rows);
		buf_u32(out, net->param[i].cols);
	}
	buf_u64(out, net->n_weights);
	for (size_t i = 0; i < net->n_weights; i++)
		buf_f32(out, (float)net->weight[i]);
}

void model_pack(const struct model *m, struct buf *out)
{
	uint32_t version = version_of(m);
	size_t from = out->len;
	struct digest sum;

	buf_add(out, MAGIC, 8);
	buf_u32(out, version);
	buf_u64(out, feature_hash(FEATURE_TABLE, own_features(&m->facts)));
	put_string(out, m->facts.backend);
	put_string(out, m->facts.space);
	put_string(out, cost_kind_name(m->facts.kind));
	put_string(out, m->facts.provenance);
	buf_u64(out, m->facts.seed);
	buf_u64(out, m->facts.samples);
	buf_u64(out, m->facts.steps);
	put_origin(out, &m->facts);
	if (version > VERSION_SECONDS)
		put_string(out, quantity_name(m->facts.quantity));
	if (version > VERSION_QUANTITY) {
		buf_f64(out, m->unit);
		trees_pack(&m->trees, out);
	}
	put_net(out, &m->net);
	sha256_of(out->data + from, out->len - from, &sum);
	buf_add(out, sum.byte, sizeof sum.byte);
}

static int check_envelope(const uint8_t *p, size_t n, const char *name, struct err *err)
{
	struct cursor c = cursor_of(p, n);
	const void *magic = cursor_bytes(&c, 8);
	uint32_t version = cursor_u32(&c);
	struct digest sum;

	if (!magic || memcmp(magic, MAGIC, 8) != 0)
		return err_set(err, "%s is not a model of vantage", name);
	if (version > VERSION)
		return err_set(err, "%s is a model of format %" PRIu32 ", "
			"newer than this program knows (%d); update it", name, version, VERSION);
	if (n < 12 + 32)
		return err_set(err, "%s is truncated", name);
	sha256_of(p, n - 32, &sum);
	if (memcmp(sum.byte, p + n - 32, 32) != 0)
		return err_set(err, "%s is damaged or truncated: its checksum does not match; copy or train it again",
			name);
	return 0;
}

static int parse_kind(const char *word, enum cost_kind *kind)
{
	for (enum cost_kind k = 0; k < COST_KIND_COUNT; k++)
		if (strcmp(word, cost_kind_name(k)) == 0) {
			*kind = k;
			return 0;
		}
	return -1;
}

/* A file of format 1 says nothing of it. */
static void parse_origin(struct cursor *c, struct model_facts *f, uint32_t version)
{
	uint32_t n = 0;

	if (version >= 2) {
		f->since = cursor_u64(c);
		f->until = cursor_u64(c);
	}
	f->machine = version >= 2 ? cursor_str(c) : mem_strdup("");
	f->apart = version >= 2 ? cursor_str(c) : mem_strdup("");
	if (version >= 2)
		n = cursor_count(c, 4 + sizeof f->program->content.byte + 8 + 1);
	f->program = MEM_NEW(n, struct model_program);
	for (; f->n_programs < n; f->n_programs++) {
		struct model_program *p = &f->program[f->n_programs];
		const void *content;
		p->name = cursor_str(c);
		content = cursor_bytes(c, sizeof p->content.byte);
		if (content)
			memcpy(p->content.byte, content, sizeof p->content.byte);
		p->samples = cursor_u64(c);
		p->held_out = cursor_u8(c);
	}
}

static int parse_facts(struct cursor *c, struct model_facts *f, uint32_t version, const char *name, struct err *err)
{
	char *kind, *quantity = NULL;
	int rc;

	f->backend = cursor_str(c);
	f->space = cursor_str(c);
	kind = cursor_str(c);
	f->provenance = cursor_str(c);
	f->seed = cursor_u64(c);
	f->samples = cursor_u64(c);
	f->steps = cursor_u64(c);
	parse_origin(c, f, version);
	if (version > VERSION_SECONDS)
		quantity = cursor_str(c);
	f->quantity = quantity ? quantity_find(quantity) : QUANTITY_SECONDS;
	rc = c->bad || f->quantity == QUANTITY_COUNT ? -1 : parse_kind(kind, &f->kind);
	mem_free(kind);
	mem_free(quantity);
	return rc < 0 ? err_set(err, "%s: its header makes no sense", name) : 0;
}

/* Where the columns of a row of an older table are in ours; returns how many there are. */
static uint32_t map_columns(uint32_t table, uint32_t *column)
{
	uint32_t nodes = feature_map(table, false, column), flips = feature_map(table, true, column + nodes);

	for (uint32_t i = 0; i < flips; i++)
		column[nodes + i] += NODE_FEATURES;
	return nodes + flips;
}

static int parse_sizes(struct cursor *c, uint32_t version, uint32_t table, struct net *net, const char *name,
	struct err *err)
{
	uint32_t blind, map[ROW_COLUMNS], columns = map_columns(table, map);
	struct net_size *s = &net->size;

	s->width = cursor_u32(c);
	s->head = cursor_u32(c);
	s->layers = cursor_u32(c);
	blind = cursor_u32(c);
	s->blind = blind == 1;
	s->advised = version > VERSION_TREES ? cursor_u32(c) : 0;
	if (version > VERSION_ADVISED)
		ramps_parse(&net->ramps, map, columns, ROW_COLUMNS, c);
	s->ramped = net->ramps.width;
	s->dtypes = FEATURE_DTYPES;
	s->node_features = feature_map(table, false, map);
	s->flip_features = feature_map(table, true, map) + s->advised + s->ramped;
	if (c->bad || s->width < 1 || s->width > LAYER_WIDTH || s->head < 1 || s->head > LAYER_WIDTH ||
		s->layers < 1 || s->layers > NET_LAYERS || blind > 1 ||
		(s->advised != 0 && s->advised != OUT_COUNT))
		return err_set(err, "%s: the sizes of its network are out of range", name);
	return 0;
}

/* Their opcodes by our numbers: map[i] is where row i goes, OP_COUNT + 1 for nowhere. */
static int parse_opcodes(struct cursor *c, uint16_t **map, uint32_t *n, const char *name, struct err *err)
{
	*n = cursor_count(c, 4);
	if (c->bad || *n > OPCODE_LIMIT)
		return err_set(err, "%s: its list of operations makes no sense", name);
	*map = MEM_NEW(*n + 1, uint16_t);
	for (uint32_t i = 0; i < *n; i++) {
		char *word = cursor_str(c);
		uint16_t op = opcode_of(word);
		(*map)[i] = op < OP_COUNT ? op : OP_COUNT + 1;
		mem_free(word);
	}
	(*map)[*n] = OP_COUNT; /* all others */
	return 0;
}

static int parse_table(struct cursor *c, const struct net *net, const char *name, struct err *err)
{
	bool same = cursor_u32(c) == net->n_params;

	for (uint32_t i = 0; same && i < net->n_params; i++) {
		char *word = cursor_str(c);
		same = strcmp(word, net->param[i].name) == 0;
		same &= cursor_u32(c) == net->param[i].rows;
		same &= cursor_u32(c) == net->param[i].cols;
		mem_free(word);
	}
	same = same && cursor_u64(c) == net->n_weights && cursor_left(c) == 4 * net->n_weights;
	return c->bad || !same ? err_set(err, "%s: its parameters are not those of this network", name) : 0;
}

static int parse_weights(struct cursor *c, struct net *net, const char *name, struct err *err)
{
	for (size_t i = 0; i < net->n_weights; i++) {
		float f = cursor_f32(c);
		if (!isfinite(f))
			return err_set(err, "%s: a weight is not a number; train it again", name);
		net->weight[i] = (real)f;
	}
	return 0;
}

/* Maps each of their rows of a parameter to ours, because opcodes and features have other numbers in other versions. */
static void map_rows(const struct param *p, const struct net_size *theirs, const uint16_t *opcode, uint32_t table,
	uint32_t *map)
{
	bool node = strcmp(p->name, "input.weight") == 0, skip = strcmp(p->name, "out.skip") == 0;
	bool head = strcmp(p->name, "head1.weight") == 0;
	uint32_t first = head ? theirs->width : 0; /* the nodes' states come before the flip's features */
	uint32_t more = theirs->advised + theirs->ramped, n = theirs->flip_features - more;

	for (uint32_t k = 0; k < p->rows; k++)
		map[k] = strcmp(p->name, "opcode") == 0 ? opcode[k] : k;
	if (node || skip || head)
		feature_map(table, !node, map + first);
	for (uint32_t k = 0; (skip || head) && k < more; k++)
		map[first + n + k] = FLIP_FEATURES + k;
	for (uint32_t k = first; head && k < p->rows; k++)
		map[k] += first;
}

/* Writes the network in this program's numbers; features and opcodes that it does not know get weights of 0. */
static void adopt(struct net *ours, struct net *theirs, const uint16_t *opcode, uint32_t table)
{
	struct net_size size = theirs->size;

	size.opcodes = OP_COUNT + 1;
	size.node_features = NODE_FEATURES;
	size.flip_features = FLIP_FEATURES + size.advised + size.ramped;
	net_init(ours, &size);
	ours->ramps = theirs->ramps;
	theirs->ramps = (struct ramps){0};
	for (uint32_t i = 0; i < ours->n_params; i++) {
		const struct param *p = &ours->param[i], *q = &theirs->param[i];
		uint32_t *map = MEM_NEW(q->rows + ROW_COLUMNS, uint32_t);
		map_rows(q, &theirs->size, opcode, table, map);
		for (uint32_t k = 0; k < q->rows; k++)
			if (map[k] < p->rows)
				memcpy(ours->weight + p->at + (size_t)map[k] * p->cols,
					theirs->weight + q->at + (size_t)k * q->cols, p->cols * sizeof(real));
		mem_free(map);
	}
}

/* The network, moved to our opcodes; a model of trees alone has none. */
static int parse_net(struct cursor *c, struct net *out, uint32_t version, uint32_t table, const char *name,
	struct err *err)
{
	static const uint32_t none[4] = {0};
	struct net theirs = {0}, head = {0}; /* the sizes and ramps; then with room for the weights */
	uint16_t *map = NULL;
	int rc = -1;

	if (version > VERSION_QUANTITY && cursor_left(c) == sizeof none && memcmp(c->p, none, sizeof none) == 0)
		return 0;
	if (parse_sizes(c, version, table, &head, name, err) < 0 ||
		parse_opcodes(c, &map, &head.size.opcodes, name, err) < 0)
		goto out;
	head.size.opcodes++;
	net_init(&theirs, &head.size);
	theirs.ramps = head.ramps;
	head.ramps = (struct ramps){0};
	if (parse_table(c, &theirs, name, err) < 0 || parse_weights(c, &theirs, name, err) < 0)
		goto out;
	adopt(out, &theirs, map, table);
	rc = 0;
out:
	net_release(&head);
	net_release(&theirs);
	mem_free(map);
	return rc;
}

/* What format 4 added. Trees of an older table of features ask about the columns of that table. */
static int parse_trees(struct cursor *c, struct model *m, uint32_t table, const char *name, struct err *err)
{
	uint32_t column[ROW_COLUMNS], columns = map_columns(table, column);

	m->unit = cursor_f64(c);
	if (!c->bad)
		trees_parse(&m->trees, column, columns, c);
	if (c->bad || !(m->unit >= 0 && m->unit < INFINITY))
		return err_set(err, "%s: its trees make no sense; train it again", name);
	return 0;
}

struct model *model_parse(const void *p, size_t n, const char *name, struct err *err)
{
	struct model *m = NULL;
	struct cursor c;
	uint32_t version, table;
	uint64_t features;

	if (check_envelope(p, n, name, err) < 0)
		return NULL;
	m = MEM_NEW(1, struct model);
	memcpy(m->sum.byte, (const uint8_t *)p + n - 32, 32);
	c = cursor_of((const uint8_t *)p + 8, n - 8 - 32);
	version = cursor_u32(&c);
	features = cursor_u64(&c);
	if (parse_facts(&c, &m->facts, version, name, err) < 0)
		goto fail;
	if (!(table = feature_table(features, own_features(&m->facts)))) {
		err_set(err, "%s was trained on another table of features than this program's; train it again", name);
		goto fail;
	}
	if ((version > VERSION_QUANTITY && parse_trees(&c, m, table, name, err) < 0) ||
		parse_net(&c, &m->net, version, table, name, err) < 0)
		goto fail;
	if (m->net.size.advised && !m->trees.n_columns) {
		err_set(err, "%s lacks the trees that its network corrects; train it again", name);
		goto fail;
	}
	if (!m->net.size.layers && !m->trees.n_columns) {
		err_set(err, "%s holds neither a network nor trees; train it again", name);
		goto fail;
	}
	return m;
fail:
	model_free(m);
	return NULL;
}

struct model *model_read(const char *path, struct err *err)
{
	struct buf b = {0};
	struct model *m = NULL;

	if (io_read_file(path, FILE_LIMIT, &b, err) == 0)
		m = model_parse(b.data, b.len, path, err);
	buf_release(&b);
	return m;
}

int model_write(const struct model *m, const char *path, struct err *err)
{
	struct buf b = {0};
	int rc;

	model_pack(m, &b);
	rc = io_write_file(path, b.data, b.len, err);
	buf_release(&b);
	return rc;
}

void model_facts_release(struct model_facts *f)
{
	for (uint32_t i = 0; i < f->n_programs; i++)
		mem_free(f->program[i].name);
	mem_free(f->program);
	mem_free(f->backend);
	mem_free(f->space);
	mem_free(f->provenance);
	mem_free(f->machine);
	mem_free(f->apart);
	*f = (struct model_facts){0};
}

void model_release(struct model *m)
{
	model_facts_release(&m->facts);
	net_release(&m->net);
	trees_release(&m->trees);
	*m = (struct model){0};
}

void model_free(struct model *m)
{
	if (!m)
		return;
	model_release(m);
	mem_free(m);
}

/* Is it about hardware of this backend, whose compiler estimated what is measured here? */
static bool foresees(const struct model *m, const char *backend, enum cost_kind kind)
{
	size_t n = strlen(backend);

	return kind == COST_MEASURED && m->facts.kind == COST_ESTIMATED && strncmp(m->facts.backend, backend, n) == 0 &&
		m->facts.backend[n] == ':';
}

int model_fits(const struct model *m, const char *backend, const char *space_kind, enum cost_kind kind,
	enum quantity quantity, struct err *err)
{
	size_t family = strcspn(space_kind, "/:");

	if (strlen(m->facts.space) != family || strncmp(m->facts.space, space_kind, family) != 0)
		return err_set(err, "the model was trained on decisions of kind %s, not %.*s", m->facts.space,
			(int)family, space_kind);
	if (foresees(m, backend, kind) && m->facts.quantity == quantity)
		return 0;
	if (strcmp(m->facts.backend, backend) != 0)
		return err_set(err, "the model was trained for %s, not for %s; collect and learn there",
			m->facts.backend, backend);
	if (m->facts.kind != kind)
		return err_set(err, "the model was trained on %s costs, not on %s ones", cost_kind_name(m->facts.kind),
			cost_kind_name(kind));
	if (m->facts.quantity != quantity)
		return err_set(err, "the model was trained on costs in %s, not in %s", quantity_name(m->facts.quantity),
			quantity_name(quantity));
	return 0;
}
