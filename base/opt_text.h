/*
 * opt_text.h - what a table of options looks like in print: help, man page, completion.
 * Only opt.c calls these; programs use opt.h.
 */
#ifndef BASE_OPT_TEXT_H
#define BASE_OPT_TEXT_H

#include "base/buf.h"
#include "base/opt.h"

/* May a number be "auto"? */
bool opt_takes_auto(const struct opt *o);
void opt_text_help(const struct opt_program *prog, struct buf *out);
void opt_text_man(const struct opt_program *prog, struct buf *out);
/* One word per line: every option, and for those with fixed words --name=word. */
void opt_text_completion(const struct opt_program *prog, struct buf *out);

#endif
