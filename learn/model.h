/*
 * model.h - a trained model: a network's weights, trees, or both, with everything that says what they are good for.
 *
 * The file format is schemas/model.md. Reading is all or nothing: a file that is truncated, damaged,
 * of a newer version, or trained on another feature table is refused with a sentence.
 *
 *	struct model *m = model_read("cpu.vm", &err);
 *	if (!m || model_fits(m, "cpu", s->kind, COST_MEASURED, QUANTITY_SECONDS, &err) < 0) ...
 *	struct infer *f = infer_new(m, s, &err);	// infer.h
 *	... infer_free(f); model_free(m);
 *
 * A model is not changed by predicting: many threads may share one.
 */
#ifndef LEARN_MODEL_H
#define LEARN_MODEL_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/outcome.h"
#include "base/quantity.h"
#include "learn/trees.h"

struct model_program { /* one that decisions were read of */
	char *name;
	struct digest content;	/* of the program, not of its file (graph/graph.h) */
	uint64_t samples;
	bool held_out;		/* as a whole: read, and not trained on */
};

/*
 * What the weights were trained on. Strings belong to the model. The times are those of the measurements,
 * not of the training: the same data give the same bytes. Files of format 1 say nothing of what stands
 * below `steps`: there it is 0, NULL or empty.
 */
struct model_facts {
	char *backend;		/* what the device calls itself (device_info) */
	char *space;		/* name of the kind of decision (space_kind) */
	enum cost_kind kind;
	enum quantity quantity; /* of its costs; seconds in files of formats 1 and 2 */
	char *provenance;	/* JSON: databases, runs, graphs, held out, options, program version */
	uint64_t seed;
	uint64_t samples, steps; /* samples in the data; optimiser steps taken */
	uint64_t since, until;	/* Unix seconds: when the first and the last run that was read began and ended */
	char *machine;		/* what it was measured on; several are joined by "; " */
	char *apart;		/* the rule by which decisions were kept from training (apart.h); "": none were */
	struct model_program *program;
	uint32_t n_programs;
};
void model_facts_release(struct model_facts *f);

struct model {
	struct model_facts facts;
	struct net net;		/* no layers: there is none */
	struct trees trees;	/* no columns: there are none; with both, see model_mixes */
	/*
	 * What the outputs count in: so many seconds (or bytes, ...) for one execution of a site, times the
	 * program's grain (space.h). 0, as in models of
	 * formats 1 to 3: the median |advantage| of the graph, for all its executions.
	 */
	double unit;
	struct digest sum;	/* of the file it was read from: names these weights */
};

/*
 * Are the model's predictions the mean of its network and its trees? If not, and it has both, the network takes the
 * trees' outputs and corrects them.
 */
static inline bool model_mixes(const struct model *m)
{
	return m->net.size.layers && m->trees.n_columns && !m->net.size.advised;
}

struct model *model_read(const char *path, struct err *err);
int model_write(const struct model *m, const char *path, struct err *err);
void model_release(struct model *m); /* what it holds */
void model_free(struct model *m); /* accepts NULL */

/* The same from and to memory; `name` is used in sentences. */
struct model *model_parse(const void *p, size_t n, const char *name, struct err *err);
void model_pack(const struct model *m, struct buf *out);

/*
 * Refuses, with a sentence, a model trained for another backend, kind of space, kind of cost or quantity. What a
 * compiler estimates for hardware ("cuda:h100") may guide measurements on such hardware ("cuda").
 */
int model_fits(const struct model *m, const char *backend, const char *space_kind,
	enum cost_kind kind, enum quantity quantity, struct err *err);

#endif
