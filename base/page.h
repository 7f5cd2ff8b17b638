/*
 * page.h - reports for people: one HTML file without scripts or references, plots drawn inline as SVG,
 * so it can be mailed and opened years later.
 *
 *	page_begin(&b, "vantage: resnet", "resnet");
 *	struct plot p = {.out = &b, .x = {0, 100}, .y = {0, 5}, .x_label = "evaluations", .y_unit = "%"};
 *	plot_begin(&p); plot_line(&p, x, y, n, PAGE_GREEN); plot_end(&p);
 *	page_table(&b); page_row(&b, "Machine", name); page_table_end(&b);
 *	page_end(&b);
 *
 * page_text escapes, and so do titles and the values of rows, which go through it. All else is the caller's own HTML.
 */
#ifndef BASE_PAGE_H
#define BASE_PAGE_H

#include "base/buf.h"

#define PAGE_GREEN "#1a7f4b"
#define PAGE_BLUE "#2463ad"
#define PAGE_GREY "#8a94a2"

void page_begin(struct buf *b, const char *title, const char *heading);
void page_end(struct buf *b);
void page_text(struct buf *b, const char *s); /* NULL is empty */
void page_table(struct buf *b);		      /* of two columns: what, value */
void page_row(struct buf *b, const char *what, const char *value);
void page_table_end(struct buf *b);

struct axis {
	double low, high; /* low < high, or plot_begin makes it so */
};

struct plot {
	struct buf *out;
	struct axis x, y;
	const char *x_label, *y_label; /* y_label may be NULL */
	const char *y_unit;	       /* after the numbers; NULL: none */
};
void plot_begin(struct plot *p);
/* Where a value is drawn; a value beyond an end of its axis is drawn at that end. */
double plot_x(const struct plot *p, double v);
double plot_y(const struct plot *p, double v);
/* Values that are not numbers are left out. */
void plot_line(const struct plot *p, const double *x, const double *y, size_t n, const char *colour);
void plot_dots(const struct plot *p, const double *x, const double *y, size_t n, double radius, const char *colour);
void plot_end(const struct plot *p);

#endif
