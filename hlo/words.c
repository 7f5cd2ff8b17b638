/*
 * words.c - puts the tables of hlo/words.h together, once per process.
 */
#include "hlo/words.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "base/err.h"

static const struct attr_row rows[] = {
#define ATTR(key, form, words, fallback, path) {key, key, FORM_##form, WORDS_##words, fallback, path},
#include "schemas/hlo_attr.def"
#undef ATTR
};
enum { N_ROWS = sizeof(rows) / sizeof(*rows) };
_Static_assert(N_ROWS <= ATTR_LIMIT, "more attributes than ATTR_LIMIT");

struct op_source {
	bool known;
	int operands;
	enum shape_rule shape;
	const char *attrs;
};
#define ANY (-1)
static const struct op_source ops[OP_COUNT + 1] = {
#define HLO_OP(id, operands, shape, attrs) [OP_##id] = {true, operands, SHAPE_##shape, attrs},
#include "schemas/hlo_op.def"
#undef HLO_OP
};
#undef ANY

static struct hlo_words words;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int row_of(const char *key, size_t n)
{
	for (int i = 0; i < N_ROWS; i++)
		if (strlen(rows[i].key) == n && memcmp(rows[i].key, key, n) == 0)
			return i;
	BUG("schemas/hlo_op.def names an attribute that hlo_attr.def does not have: %.*s", (int)n, key);
}

/* Reads a list such as "dimensions! is_stable": the keys of a set, with "!" after those that are required. */
static struct attr_set set_of(const char *list)
{
	struct attr_set s = {0};
	while (*list) {
		size_t n = strcspn(list, " "), key = list[n - 1] == '!' ? n - 1 : n;
		BUG_ON(s.n == sizeof(s.row));
		if (key < n)
			s.required |= UINT64_C(1) << s.n;
		s.row[s.n++] = (uint8_t)row_of(list, key);
		list += n + (list[n] == ' ');
	}
	return s;
}

/* How many computations an operation with these attributes calls; -1 if one is optional or in a list. */
static int calls_of(const struct attr_set *set)
{
	int n = 0;
	for (int i = 0; i < set->n; i++) {
		enum attr_form form = rows[set->row[i]].form;
		if (form == FORM_COMPUTATIONS || (form == FORM_COMPUTATION && !(set->required >> i & 1)))
			return -1;
		n += form == FORM_COMPUTATION;
	}
	return n;
}

static void fill(void)
{
	memcpy(words.attr, rows, sizeof(rows));
	words.n_attr = N_ROWS;
	for (int i = 0; i < N_ROWS; i++) {
		const char *colon = strchr(rows[i].key, ':');
		if (colon)
			words.attr[i].name = colon + 1;
	}
	for (int i = 0; i < OP_COUNT; i++)
		if (ops[i].known)
			words.op[i] = (struct op_row){.known = true, .operands = ops[i].operands, .shape = ops[i].shape,
				.attrs = set_of(ops[i].attrs)};
	for (int i = 0; i < OP_COUNT; i++)
		words.op[i].calls = calls_of(&words.op[i].attrs);
	words.common = set_of("metadata sharding frontend_attributes backend_config control-predecessors "
			      "parameter_replication statistics origin");
	words.metadata = set_of("op_type op_name source_file source_line source_end_line source_column "
				"source_end_column profile_type deduplicated_name scheduling_name "
				"stack_frame_id metadata_payload");
	words.location = set_of("file_name_id! function_name_id! line! end_line! column! end_column!");
	words.frame = set_of("file_location_id! parent_frame_id!");
	words.module = set_of("is_scheduled replica_count num_partitions input_output_alias buffer_donor "
			      "alias_passthrough_params entry_computation_layout frontend_attributes "
			      "allow_spmd_sharding_propagation_to_parameters "
			      "allow_spmd_sharding_propagation_to_output origin_recovery_table debug_attributes");
	words.comp = set_of("execution_thread");
}

const struct hlo_words *hlo_words(void)
{
	pthread_once(&once, fill);
	return &words;
}

const struct attr_row *hlo_attr(const char *key)
{
	return &hlo_words()->attr[row_of(key, strlen(key))];
}

static const struct {
	enum word_kind kind;
	const char *word;
	int number;
} list[] = {
#define WORD(kind, word, number) {WORDS_##kind, word, number},
#include "schemas/hlo_enum.def"
#undef WORD
};
#define N_LIST (sizeof(list) / sizeof(*list))

int hlo_word_number(enum word_kind kind, const char *s, size_t n)
{
	for (size_t i = 0; i < N_LIST; i++)
		if (list[i].kind == kind && strlen(list[i].word) == n && memcmp(list[i].word, s, n) == 0)
			return list[i].number;
	return -1;
}

const char *hlo_word(enum word_kind kind, int64_t number)
{
	for (size_t i = 0; i < N_LIST; i++)
		if (list[i].kind == kind && list[i].number == number)
			return list[i].word;
	return NULL;
}

void hlo_word_list(enum word_kind kind, char *out, size_t size)
{
	const char *last = NULL;
	size_t used = 0;
	*out = '\0';
	for (size_t i = 0; i <= N_LIST && used < size; i++) {
		if (i < N_LIST && list[i].kind != kind)
			continue;
		if (last)
			used += (size_t)snprintf(out + used, size - used, "%s%s", used == 0 ? "" : i < N_LIST ? ", "
				: " or ", last);
		last = i < N_LIST ? list[i].word : NULL;
	}
}
