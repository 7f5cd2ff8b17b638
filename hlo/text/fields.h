/*
 * fields.h - reads the text form of protobuf messages, field by field.
 *
 * Such a text is a list of fields: "name: value" or "name { fields }". A value may be a list in brackets. Fields may be
 * separated by "," or ";", and "#" begins a comment. Nothing here knows which fields a message has.
 *
 *	char name[FIELDS_WORD];
 *	while (!fields_take(&f, '}'))
 *		if (fields_name(&f, name) < 0 || fields_skip(&f) < 0)
 *			return -1;
 *
 * Functions that return an int return -1 with a sentence that names the line, where the text is not as it should be.
 */
#ifndef HLO_TEXT_FIELDS_H
#define HLO_TEXT_FIELDS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"

#define FIELDS_WORD 200 /* bytes of a word: longer ones are cut */
#define FIELDS_DEPTH 60 /* of messages within messages */

struct fields {
	const char *p, *end;
	const char *name; /* of the file */
	int line, depth;  /* the first line is 1 */
	struct err *err;
};

/* Sets the error "FILE, line N: what word"; returns -1. */
int fields_fail(struct fields *f, int line, const char *what, const char *word);
/* Goes on to what is no white space, separator or comment. */
void fields_blank(struct fields *f);
/* Takes a character if it is the next one. */
bool fields_take(struct fields *f, char c);
/* Takes a name, a number or a word; "" if there is none. */
void fields_word(struct fields *f, char out[FIELDS_WORD]);
/* Takes a string in quotes. Characters other than letters, digits and "_./-" become "_". */
int fields_string(struct fields *f, char out[FIELDS_WORD]);
int fields_integer(struct fields *f, int64_t *out);
/* Takes the name of a field; that of an extension, which stands in brackets, is "[". */
int fields_name(struct fields *f, char out[FIELDS_WORD]);
/* Takes what follows a name: ": 3". */
int fields_number(struct fields *f, int64_t *out);
/* Opens the message that follows a name; returns what closes it, or 0 with a sentence. */
char fields_open(struct fields *f);
/* Passes over what follows a name, whatever it is. */
int fields_skip(struct fields *f);

#endif
