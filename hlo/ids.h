/*
 * ids.h - ids for instructions that are added to a module.
 *
 * There are two manners. In newer programs the high half of an id is its computation's and the low half counts within
 * it; but an instruction that a pass moved may keep the high half it had, and the compiler tells instructions of a
 * computation apart by their low halves alone. In older programs there are no high halves, and ids count through the
 * module. A low half above all others of the module, with the high half of an instruction that stands beside, is free
 * in both.
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

#endif
