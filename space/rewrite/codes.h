/*
 * codes.h - the rules that need code: each a `NAME_code` in one of the files beside this one. A row in
 * schemas/rewrite_code.def brings it to those who read rule files.
 */
#ifndef SPACE_REWRITE_CODES_H
#define SPACE_REWRITE_CODES_H

#include "space/rewrite/rule.h"

#define CODE(name) extern const struct rule_code name##_code;
#include "schemas/rewrite_code.def"
#undef CODE

#endif
