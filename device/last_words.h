/*
 * last_words.h - why did a worker die? The cause, found in what it and its plugin printed.
 */
#ifndef DEVICE_LAST_WORDS_H
#define DEVICE_LAST_WORDS_H

#include <stddef.h>

/*
 * Writes the cause on one line into `out`, as far as it fits, and ends it with NUL. The line is empty
 * where the text names no cause: then the signal, or the status, is all there is to say. `text` need
 * not end with NUL and may begin in the middle of a line.
 */
void last_words(const char *text, size_t n, char *out, size_t size);

#endif
