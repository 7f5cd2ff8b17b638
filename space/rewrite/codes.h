/*
 * codes.h - declares the code of rules that need code: a `NAME_code` for each row of schemas/rewrite_code.def, defined
 * in one of the files beside this one. Rule files name them.
 */
#ifndef SPACE_REWRITE_CODES_H
#define SPACE_REWRITE_CODES_H

#include "space/rewrite/rule.h"

#define CODE(name) extern const struct rule_code name##_code;
#include "schemas/rewrite_code.def"
#undef CODE

#endif
