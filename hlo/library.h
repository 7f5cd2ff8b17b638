/*
 * library.h - products and convolutions that a program hands to oneDNN itself.
 *
 * XLA:CPU multiplies by Eigen and YNNPACK, and has oneDNN in it, too. Its compiler calls that only where an option says
 * so for the whole program. But a program in which such a call stands already is compiled like any other, by jaxlib as
 * well. The call tells in its settings (backend_config) what each dimension means. Both directions are here: the call
 * that an instruction becomes, and what a call computes.
 */
#ifndef HLO_LIBRARY_H
#define HLO_LIBRARY_H

#include <stdbool.h>
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "schemas/hlo.pb-c.h"

#define LIBRARY_CALL "__onednn$" /* what the target of each call begins with */

/*
 * Turns an instruction into a call. It is a dot whose sides have, besides dimensions that both share, one that is
 * summed over and one that stays; or a convolution without batch groups whose input is neither spread nor cropped, and
 * whose window is not reversed. Both read and write arrays row by row.
 */
void library_call(struct arena *mem, Hlo__HloInstructionProto *in);
/* Is it a call of oneDNN's products or convolutions, whatever it says? */
bool library_is_call(const Hlo__HloInstructionProto *in);
/*
 * Turns a call back into the instruction, which keeps the settings of the call. False: it is none, or one of those
 * that do more than library_call asks for.
 */
bool library_spell(struct arena *mem, Hlo__HloInstructionProto *in);
/* Appends the module (any form that hlo_unpack reads) with all such calls turned back. -1 with a sentence. */
int library_spell_all(const void *p, size_t n, struct buf *out, struct err *err);
/* Does a call of the module read or give numbers of 16 bits? */
bool library_in_16_bits(const void *p, size_t n);
/* Was this instruction a call? */
bool library_spelt(const Hlo__HloInstructionProto *in);

#endif
