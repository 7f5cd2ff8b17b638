/*
 * ids.h - ids and names for what is added to a module.
 *
 * There are two manners. In newer programs the high half of an id is its computation's and the low half counts within
 * it; but an instruction that a pass moved may keep the high half it had, and the compiler tells instructions of a
 * computation apart by their low halves alone. In older programs there are no high halves, and ids count through the
 * module. A low half above all others of the module, with the high half of an instruction that stands beside, is free
 * in both.
 *
 * The compiler refuses a module in which two instructions, or two computations, have the same name. What vantage adds
 * has a mark and a number in its name, and a module may be one that vantage wrote before.
 */
#ifndef HLO_IDS_H
#define HLO_IDS_H

#include "hlo/module.h"

struct ids {
	int64_t low; /* the next low half */
};

struct ids ids_of(const Hlo__HloModuleProto *m);
/* A new id for the computation that the instruction `like` is in. */
int64_t ids_next(struct ids *ids, const Hlo__HloInstructionProto *like);
/* An id above those of all computations; at least 1. */
int64_t ids_next_comp(const Hlo__HloModuleProto *m);

/*
 * The first number that is larger than all that stand behind this mark in the names of instructions and computations; 0
 * if none does. Numbers above IDS_NAMED are left out: nobody counts so far.
 */
#define IDS_NAMED (UINT32_MAX / 2)
uint32_t ids_unnamed(const Hlo__HloModuleProto *m, const char *mark);

#endif
