/*
 * given.c - see the header. A .npz file is a zip archive of .npy files, each a line of text about the array and then
 * its bytes. numpy.savez stores them as they are; numpy.savez_compressed does not. Whatever the file says about places
 * and lengths in it is compared with its size before anything is read there.
 */
#include "device/given.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "graph/describe.h"
#include "hlo/op.h"

#define RANK 32
#define SAYS_64 0xffffffffu /* a 32-bit field whose value stands in a zip64 record */

struct array {
	uint8_t dtype;	/* DT_INVALID: NumPy does not know it (bfloat16 and the like), only its size */
	uint32_t bytes; /* of an element */
	size_t rank;
	int64_t dims[RANK];
	const uint8_t *values;
	size_t size;
};

struct given {
	const uint8_t *file;
	size_t n;
	char *path;
	struct array *array;
	size_t n_arrays, cap;
};

static uint64_t number(const uint8_t *p, int bytes)
{
	uint64_t v = 0;

	for (int i = bytes; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

/* So many bytes from a place on, or NULL if the file ends before. */
static const uint8_t *at(const struct given *g, uint64_t place, uint64_t n)
{
	return place <= g->n && n <= g->n - place ? g->file + place : NULL;
}

static const struct {
	const char *word; /* NumPy's */
	uint8_t dtype;
} known[] = {{"b1", DT_PRED}, {"i1", DT_S8}, {"i2", DT_S16}, {"i4", DT_S32}, {"i8", DT_S64}, {"u1", DT_U8},
	{"u2", DT_U16}, {"u4", DT_U32}, {"u8", DT_U64}, {"f2", DT_F16}, {"f4", DT_F32}, {"f8", DT_F64},
	{"c8", DT_C64}, {"c16", DT_C128}};

static bool numpy_knows(uint8_t dtype)
{
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].dtype == dtype)
			return true;
	return false;
}

/* What NumPy's word for an element type means; false: it is none that a parameter can have. */
static bool read_type(const char *word, size_t n, struct array *a)
{
	if (n < 3 || !strchr("<|", word[0]))
		return false;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strlen(known[i].word) == n - 1 && memcmp(known[i].word, word + 1, n - 1) == 0) {
			a->dtype = known[i].dtype;
			a->bytes = dtype_bits(a->dtype) / 8;
			return true;
		}
	a->dtype = DT_INVALID;
	a->bytes = word[1] == 'V' && n == 3 && word[2] >= '1' && word[2] <= '9' ? (uint32_t)(word[2] - '0') : 0;
	return a->bytes > 0;
}

/* What stands behind a name in the line of text, which looks like a dictionary of Python's. */
static const char *after(const char *text, const char *name)
{
	const char *p = strstr(text, name);

	return p ? p + strlen(name) + strspn(p + strlen(name), "': ") : NULL;
}

static bool read_shape(const char *p, struct array *a)
{
	char *end;

	if (!p || *p++ != '(')
		return false;
	for (a->rank = 0; p += strspn(p, ", "), *p != ')'; p = end) {
		int64_t d = strtoll(p, &end, 10);
		if (end == p || d < 0 || a->rank == RANK)
			return false;
		a->dims[a->rank++] = d;
	}
	return true;
}

/* The line of text about an array. */
static int read_text(const char *text, struct array *a, const char *name, struct err *err)
{
	const char *type = after(text, "'descr'"), *order = after(text, "'fortran_order'");

	if (!type || !order || !read_shape(after(text, "'shape'"), a))
		return err_set(err, "%s says nothing of its type or shape", name);
	if (!read_type(type, strcspn(type, "'"), a))
		return err_set(err, "%s is of the type %.*s, which no parameter has", name, (int)strcspn(type, "'"),
			type);
	if (*order != 'F' && a->rank > 1) /* False */
		return err_set(err, "%s is not row-major: save numpy.ascontiguousarray of it", name);
	return 0;
}

/* Takes over the .npy file in these bytes. */
static int read_array(struct given *g, const uint8_t *p, size_t n, const char *name, struct err *err)
{
	size_t head = n >= 12 && p[6] == 1 ? 10 : 12, text;
	uint64_t elements = 1;
	struct array a = {0};
	char *line;
	int rc;

	if (n < 12 || memcmp(p, "\x93NUMPY", 6) != 0)
		return err_set(err, "%s is no array", name);
	text = (size_t)number(p + 8, (int)head - 8);
	if (text > n - head)
		return err_set(err, "%s is cut off", name);
	line = MEM_NEW(text + 1, char);
	memcpy(line, p + head, text);
	rc = read_text(line, &a, name, err);
	mem_free(line);
	if (rc < 0)
		return -1;
	for (size_t i = 0; i < a.rank; i++)
		if (__builtin_mul_overflow(elements, (uint64_t)a.dims[i], &elements))
			elements = UINT64_MAX / 16;
	a.values = p + head + text;
	a.size = n - head - text;
	if (elements > a.size / a.bytes || elements * a.bytes != a.size)
		return err_set(err, "%s has other bytes than its shape needs", name);
	MEM_GROW(&g->array, &g->cap, g->n_arrays + 1);
	g->array[g->n_arrays++] = a;
	return 0;
}

/* Replaces what is said to stand in a zip64 record, which has these fields in this order, if they need it. */
static void read_64(const uint8_t *extra, size_t n, uint64_t *field[3])
{
	while (n >= 4) {
		size_t id = number(extra, 2), size = number(extra + 2, 2), next = 4;
		if (size > n - 4)
			return;
		for (int i = 0; id == 1 && i < 3; i++)
			if (*field[i] == SAYS_64 && next + 8 <= size + 4) {
				*field[i] = number(extra + next, 8);
				next += 8;
			}
		extra += size + 4;
		n -= size + 4;
	}
}

/* Reads the array of a directory's entry, which begins at *place; moves that to the next one. */
static int read_entry(struct given *g, uint64_t *place, struct err *err)
{
	const uint8_t *e = at(g, *place, 46), *local, *rest, *values;
	uint64_t whole, packed, offset, begins;
	size_t name, extra;
	char said[80];

	if (!e || number(e, 4) != 0x02014b50)
		return err_set(err, "its directory is damaged");
	packed = number(e + 20, 4);
	whole = number(e + 24, 4);
	offset = number(e + 42, 4);
	name = number(e + 28, 2);
	extra = number(e + 30, 2);
	if (!(rest = at(g, *place + 46, name + extra)))
		return err_set(err, "its directory is cut off");
	snprintf(said, sizeof said, "%.*s", (int)(name < 70 ? name : 70), (const char *)rest);
	read_64(rest + name, extra, (uint64_t *[]){&whole, &packed, &offset});
	*place += 46 + name + extra + number(e + 32, 2);
	if (number(e + 10, 2) != 0)
		return err_set(err, "%s is compressed: numpy.savez writes what can be read here", said);
	local = at(g, offset, 30);
	begins = local ? offset + 30 + number(local + 26, 2) + number(local + 28, 2) : 0;
	values = local && number(local, 4) == 0x04034b50 ? at(g, begins, packed) : NULL;
	return values ? read_array(g, values, (size_t)packed, said, err) : err_set(err, "%s is cut off", said);
}

/* Where the directory begins, and how many entries it has; false: there is none. */
static bool find_directory(const struct given *g, uint64_t *place, uint64_t *n)
{
	const uint8_t *end = NULL, *wide;

	for (size_t back = 22; !end && back <= g->n && back <= 22 + UINT16_MAX; back++)
		if (number(g->file + g->n - back, 4) == 0x06054b50)
			end = g->file + g->n - back;
	if (!end)
		return false;
	*n = number(end + 10, 2);
	*place = number(end + 16, 4);
	if (end - g->file >= 20 && number(end - 20, 4) == 0x07064b50 &&
		(wide = at(g, number(end - 12, 8), 56)) && number(wide, 4) == 0x06064b50) {
		*n = number(wide + 32, 8);
		*place = number(wide + 48, 8);
	}
	return true;
}

static int map(struct given *g, struct err *err)
{
	int fd = open(g->path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED) {
		err_set(err, "%s cannot be read: %s", g->path, fd >= 0 && errno == 0 ? "it is empty" : strerror(errno));
	} else {
		g->file = p;
		g->n = (size_t)st.st_size;
	}
	if (fd >= 0)
		close(fd);
	return p == MAP_FAILED ? -1 : 0;
}

struct given *given_open(const char *path, struct err *err)
{
	struct given *g = MEM_NEW(1, struct given);
	uint64_t place = 0, n = 0;
	int rc;

	errno = 0;
	g->path = mem_strdup(path);
	rc = map(g, err);
	if (rc == 0 && !find_directory(g, &place, &n))
		rc = err_set(err, "%s is no .npz file, as numpy.savez writes it", path);
	else if (rc == 0)
		for (uint64_t i = 0; i < n && rc == 0; i++)
			if ((rc = read_entry(g, &place, err)) < 0)
				err_prefix(err, "%s", path);
	if (rc == 0)
		return g;
	given_close(g);
	return NULL;
}

void given_close(struct given *g)
{
	if (!g)
		return;
	if (g->file)
		munmap((void *)(uintptr_t)g->file, g->n);
	mem_free(g->array);
	mem_free(g->path);
	mem_free(g);
}

uint64_t given_hash(const struct given *g)
{
	return hash64(g->file, g->n, 0);
}

size_t given_count(const struct given *g)
{
	return g->n_arrays;
}

/*
 * May an array be of this element type? A type that NumPy does not know is only told by its size; people also keep its
 * bits as whole numbers without a sign.
 */
static bool may_be(const struct array *a, uint8_t dtype)
{
	uint32_t bytes = (dtype_bits(dtype) + 7) / 8;
	bool bits = a->dtype == DT_U8 || a->dtype == DT_U16;

	if (a->dtype == DT_INVALID || dtype_bits(dtype) < 8 || (bits && !numpy_knows(dtype)))
		return a->bytes == bytes && bytes > 0;
	return a->dtype == dtype;
}

const void *given_values(const struct given *g, size_t i, uint8_t dtype, size_t rank, const int64_t *dims)
{
	const struct array *a = i < g->n_arrays ? &g->array[i] : NULL;

	if (!a || !may_be(a, dtype) || a->rank != rank || (rank && memcmp(a->dims, dims, rank * sizeof *dims) != 0))
		return NULL;
	return a->values;
}

static void describe(const struct array *a, struct buf *out)
{
	if (a->dtype == DT_INVALID)
		buf_addf(out, "%u-byte elements[", a->bytes);
	else
		buf_addf(out, "%s[", dtype_name(a->dtype));
	for (size_t i = 0; i < a->rank; i++)
		buf_addf(out, "%s%lld", i ? "," : "", (long long)a->dims[i]);
	buf_adds(out, "]");
}

/* Says why array i is not what parameter i is. */
static int differs(const struct given *g, size_t i, const Hlo__ShapeProto *shape, struct err *err)
{
	struct buf is = {0}, wants = {0};

	describe(&g->array[i], &is);
	describe_shape(shape, &wants);
	err_set(err, "%s: array %zu is %s, and parameter %zu of the program %s", g->path, i, is.data, i, wants.data);
	buf_release(&is);
	buf_release(&wants);
	return -1;
}

int given_fits(const struct given *g, const struct graph *program, struct err *err)
{
	const struct comp *entry = &program->comp[program->entry];
	size_t n = 0;

	for (uint32_t v = entry->first; v < entry->first + entry->n_nodes; v++)
		n += program->node[v].opcode == OP_PARAMETER;
	if (n != g->n_arrays)
		return err_set(err, "%s: %zu array%s, and the program has %zu parameter%s", g->path, g->n_arrays,
			g->n_arrays == 1 ? "" : "s", n, n == 1 ? "" : "s");
	for (uint32_t v = entry->first; v < entry->first + entry->n_nodes; v++) {
		const Hlo__HloInstructionProto *in = program->node[v].proto;
		const Hlo__ShapeProto *s = in->shape;
		size_t i = (size_t)in->parameter_number;
		if (program->node[v].opcode == OP_PARAMETER &&
			!given_values(g, i, (uint8_t)s->element_type, s->n_dimensions, s->dimensions))
			return differs(g, i, s, err);
	}
	return 0;
}
