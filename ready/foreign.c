/*
 * foreign.c - tells calls of routines that the compiler does not have from other refusals.
 *
 * A program may call routines by name (custom calls) that a framework adds to the compiler in its own process: JAX's
 * are LAPACK's on a processor, and functions of Python. Our worker adds LAPACK's as well (device/worker/lapack.c), if
 * the plugin lets it and JAX of today calls them. A plugin has none of the others, and says so in words that name its
 * own tables. These words are XLA's of November 2025 to October 2026; of other words the user gets all.
 *
 * Where LAPACK is missing all the same, there is another way. JAX asks for it only if it lowers for a processor.
 * Lowered for a TPU, the same function has XLA's own operations for triangular systems and Cholesky's, QR's and
 * eigenvalue decompositions, and singular values made of these, which XLA:CPU compiles. For LU there is none.
 */
#include "ready/foreign.h"

#include <string.h>

/* The name of what is called comes after these words, up to the next space. */
static const char *const words[] = {"No FFI handler registered for ", "custom call to "};

/* What is called, by the compiler's words; NULL if these say something else. */
static const char *called(const char *detail)
{
	const char *at = NULL;

	for (size_t i = 0; i < sizeof words / sizeof *words && !at; i++)
		if ((at = strstr(detail, words[i])))
			at += strlen(words[i]);
	return at && *at == '"' ? at + 1 : at;
}

bool foreign_told(const char *name, const char *detail, struct err *err)
{
	const char *at = called(detail);

	if (at)
		err_set(err, "%s cannot be compiled: it calls %.*s, which is no part of the compiler but of the "
			"framework's own process%s", name, (int)strcspn(at, " \""), at,
			strncmp(at, "lapack_", 7) == 0 ? "; for JAX, examples/export/README.md says how to have XLA's "
				"own operations instead" : "");
	return at != NULL;
}

int refused_by_compiler(const char *name, const struct extracted *e, struct err *err)
{
	if (e->outcome != OUTCOME_REFUSED || !foreign_told(name, e->detail, err))
		err_set(err, "%s cannot be compiled: %s: %.500s", name, outcome_meaning(e->outcome), e->detail);
	return -1;
}
