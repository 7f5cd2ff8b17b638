/*
 * machine.c - see machine.h and schemas/machine.md.
 *
 * The short form is the description with everything that has only one meaning left out: classes and links with '/'
 * between their figures and ':' between them, as in "gpu/2/1e13/9e11/16e9/5e-06:0-0/5e10/2e-06:synchronous".
 */
#include "space/place/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/quantity.h"

struct reader { /* of one line of a description */
	struct machine *m;
	const char *name;
	uint32_t line;
	char word[20][64];
	uint32_t n;
	struct err *err;
};

static int complain(const struct reader *r, const char *what, const char *which)
{
	return err_set(r->err, "%s, line %u: %s%s; schemas/machine.md says how a machine is described", r->name,
		r->line, what, which);
}

static uint32_t find_class(const struct machine *m, const char *name)
{
	uint32_t k = 0;

	while (k < m->n_classes && strcmp(m->class[k].name, name) != 0)
		k++;
	return k;
}

static int read_figure(const struct reader *r, const char *text, enum quantity q, double *v)
{
	char *end;

	if (q == QUANTITY_BYTES)
		return quantity_read(q, text, v, NULL) == 0 && *v > 0 && *v < 1e30 ? 0 :
			complain(r, "no number of bytes: ", text);
	*v = strtod(text, &end);
	return *end == 0 && end != text && *v >= 0 && *v < 1e30 ? 0 :
		complain(r, "no number that is 0 or more: ", text);
}

/* Reads "key value" pairs after the words that begin the line. */
static int read_pairs(const struct reader *r, uint32_t from, const char *const *keys, double *const *values, uint32_t n)
{
	for (uint32_t i = from; i < r->n; i += 2) {
		uint32_t k = 0;
		while (k < n && strcmp(keys[k], r->word[i]) != 0)
			k++;
		if (k == n)
			return complain(r, "nothing is called ", r->word[i]);
		if (i + 1 == r->n)
			return complain(r, "there is no value after ", r->word[i]);
		if (read_figure(r, r->word[i + 1], strcmp(keys[k], "memory") == 0 ? QUANTITY_BYTES : QUANTITY_FORMULA,
			values[k]) < 0)
			return -1;
	}
	return 0;
}

static int check_class(const struct reader *r, const struct machine_class *c, double count)
{
	if (!(count >= 1 && count <= PLACE_DEVICES) || count != floor(count) ||
		r->m->n_devices + (uint32_t)count > PLACE_DEVICES)
		return complain(r, "a machine has 1 to 64 devices", "");
	if (!(c->flops > 0) || !(c->bandwidth > 0))
		return complain(r, "a device needs flops and bandwidth above 0", "");
	return 0;
}

static int read_device(const struct reader *r)
{
	static const char *const keys[] = {"count", "flops", "bandwidth", "memory", "start"};
	struct machine *m = r->m;
	struct machine_class *c = &m->class[m->n_classes];
	double count = 1;

	if (r->n < 2 || strlen(r->word[1]) >= MACHINE_NAME || strpbrk(r->word[1], "/:,-"))
		return complain(r, "a device needs a name of at most 15 letters or digits", "");
	if (m->n_classes == MACHINE_CLASSES || find_class(m, r->word[1]) < m->n_classes)
		return complain(r, m->n_classes == MACHINE_CLASSES ? "more than 8 sorts of devices"
			: "this device was described before: ", m->n_classes == MACHINE_CLASSES ? "" : r->word[1]);
	*c = (struct machine_class){.memory = INFINITY};
	memcpy(c->name, r->word[1], strlen(r->word[1]) + 1);
	if (read_pairs(r, 2, keys, (double *const[]){&count, &c->flops, &c->bandwidth, &c->memory, &c->start}, 5) < 0 ||
		check_class(r, c, count) < 0)
		return -1;
	c->count = (uint32_t)count;
	m->n_devices += c->count;
	m->n_classes++;
	return 0;
}

static int read_link(const struct reader *r)
{
	static const char *const keys[] = {"bandwidth", "latency"};
	struct machine *m = r->m;
	uint32_t a = r->n > 2 ? find_class(m, r->word[1]) : m->n_classes, b = r->n > 2 ? find_class(m, r->word[2]) : 0;
	double rate = 0, latency = 0;

	if (a == m->n_classes || b == m->n_classes)
		return complain(r, "a link needs two devices that were described above it", "");
	if (read_pairs(r, 3, keys, (double *const[]){&rate, &latency}, 2) < 0)
		return -1;
	if (!(rate > 0))
		return complain(r, "a link needs a bandwidth above 0", "");
	m->rate[a][b] = m->rate[b][a] = rate;
	m->latency[a][b] = m->latency[b][a] = latency;
	return 0;
}

static int read_line(const struct reader *r)
{
	if (strcmp(r->word[0], "device") == 0)
		return read_device(r);
	if (strcmp(r->word[0], "link") == 0)
		return read_link(r);
	if (strcmp(r->word[0], "transfers") != 0 || r->n != 2)
		return complain(r, "no line begins with ", r->word[0]);
	if (strcmp(r->word[1], "synchronous") != 0 && strcmp(r->word[1], "asynchronous") != 0)
		return complain(r, "transfers are synchronous or asynchronous, not ", r->word[1]);
	r->m->synchronous = r->word[1][0] == 's';
	return 0;
}

/* Cuts a line into words, without its comment. */
static int cut_words(struct reader *r, const char *p, const char *end)
{
	r->n = 0;
	for (;;) {
		size_t n = 0;
		while (p < end && strchr(" \t\r", *p))
			p++;
		if (p == end || *p == '#')
			return 0;
		while (p + n < end && !strchr(" \t\r#", p[n]))
			n++;
		if (n >= sizeof r->word[0] || r->n == sizeof r->word / sizeof *r->word)
			return complain(r, "too long", "");
		memcpy(r->word[r->n], p, n);
		r->word[r->n++][n] = 0;
		p += n;
	}
}

static int check_machine(const struct machine *m, const char *name, struct err *err)
{
	if (m->n_devices == 0)
		return err_set(err, "%s describes no device; schemas/machine.md says how a machine is described", name);
	for (uint32_t a = 0; a < m->n_classes; a++)
		for (uint32_t b = 0; b <= a; b++)
			if (!(m->rate[a][b] > 0) && (a != b || m->class[a].count > 1))
				return err_set(err, "%s: there is no link between %s and %s", name, m->class[b].name,
					m->class[a].name);
	return 0;
}

int machine_parse(struct machine *m, const char *text, size_t n, const char *name, struct err *err)
{
	struct reader r = {.m = m, .name = name, .err = err};
	const char *p = text, *end = text + n;

	*m = (struct machine){0};
	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));
		r.line++;
		if (cut_words(&r, p, stop ? stop : end) < 0 || (r.n && read_line(&r) < 0))
			return -1;
		p = stop ? stop + 1 : end;
	}
	return check_machine(m, name, err);
}

void machine_short(const struct machine *m, struct buf *out)
{
	for (uint32_t k = 0; k < m->n_classes; k++) {
		const struct machine_class *c = &m->class[k];
		buf_addf(out, "%s%s/%u/%.9g/%.9g/%.9g/%.9g", k ? ":" : "", c->name, c->count, c->flops, c->bandwidth,
			isfinite(c->memory) ? c->memory : 0, c->start);
	}
	for (uint32_t a = 0; a < m->n_classes; a++)
		for (uint32_t b = a; b < m->n_classes; b++)
			if (m->rate[a][b] > 0)
				buf_addf(out, ":%u-%u/%.9g/%.9g", a, b, m->rate[a][b], m->latency[a][b]);
	if (m->synchronous)
		buf_adds(out, ":synchronous");
}

/* The short form becomes the long one, which has one reader. */
int machine_from_short(struct machine *m, const char *text, struct err *err)
{
	struct buf all = {0};
	char name[MACHINE_CLASSES][MACHINE_NAME] = {""};
	uint32_t n = 0;
	int rc;

	for (const char *p = text; *p; p += strcspn(p, ":"), p += *p == ':') {
		double v[5];
		uint32_t a, b, count;
		if (n < MACHINE_CLASSES && sscanf(p, "%15[^/:-]/%u/%lf/%lf/%lf/%lf", name[n], &count, &v[0], &v[1],
			&v[2], &v[3]) == 6) {
			buf_addf(&all, "device %s count %u flops %.9g bandwidth %.9g start %.9g", name[n++], count,
				v[0], v[1], v[3]);
			if (v[2] > 0)
				buf_addf(&all, " memory %.9g", v[2]);
			buf_addch(&all, '\n');
		} else if (sscanf(p, "%u-%u/%lf/%lf", &a, &b, &v[0], &v[1]) == 4 && a < n && b < n) {
			buf_addf(&all, "link %s %s bandwidth %.9g latency %.9g\n", name[a], name[b], v[0], v[1]);
		} else if (strncmp(p, "synchronous", 11) == 0) {
			buf_adds(&all, "transfers synchronous\n");
		} else {
			buf_release(&all);
			return err_set(err, "%.60s is no machine; --machine FILE writes this part of the name", text);
		}
	}
	rc = machine_parse(m, all.data ? all.data : "", all.len, "the machine in the name", err);
	buf_release(&all);
	return rc;
}

uint32_t machine_class_of(const struct machine *m, uint32_t device)
{
	uint32_t k = 0;

	while (k + 1 < m->n_classes && device >= m->class[k].count)
		device -= m->class[k++].count;
	return k;
}

void machine_device_name(const struct machine *m, uint32_t device, struct buf *out)
{
	uint32_t k = machine_class_of(m, device), number = device;

	for (uint32_t i = 0; i < k; i++)
		number -= m->class[i].count;
	buf_adds(out, m->class[k].name);
	if (m->class[k].count > 1)
		buf_addf(out, " %u", number);
}

double machine_send(const struct machine *m, double bytes, uint32_t from, uint32_t to)
{
	uint32_t a = machine_class_of(m, from), b = machine_class_of(m, to);

	return from == to ? 0 : m->latency[a][b] + bytes / m->rate[a][b];
}
