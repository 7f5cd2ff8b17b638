/* sort.h - lists of numbers in ascending order. */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* v may be NULL where n is 0 */
void sort_u32(uint32_t *v, size_t n);
void sort_f32(float *v, size_t n); /* no NANs */

#endif
