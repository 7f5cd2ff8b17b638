/*
 * fuzz.h - a fuzz target: one function that must survive any bytes.
 *
 * tests/fuzz_NAME.c defines it. `make fuzz` links it with libFuzzer; `make check` links it with
 * replay.c, which feeds it every file of tests/corpus/NAME. A crash that fuzzing finds is put into
 * that folder, so it is never forgotten.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
