/*
 * taken.c - a list that is searched from end to end: there are one or two of them.
 */
#include "base/taken.h"

#include <sys/stat.h>
#include <unistd.h>
#include "base/mem.h"

static struct taken *all;
static size_t n_all, cap;

struct taken *taken_find(int fd)
{
	struct stat st;

	for (size_t i = 0; i < n_all && fstat(fd, &st) == 0; i++)
		if (all[i].device == st.st_dev && all[i].inode == st.st_ino)
			return &all[i];
	return NULL;
}

void taken_keep(struct taken *known, int fd, const void *p, size_t n)
{
	struct stat st;

	if (n == 0 || fstat(fd, &st) < 0 || (S_ISREG(st.st_mode) && fd != STDIN_FILENO))
		return;
	if (!known) {
		MEM_GROW(&all, &cap, n_all + 1);
		known = &all[n_all++];
		*known = (struct taken){st.st_dev, st.st_ino, {0}};
	}
	buf_reset(&known->bytes);
	buf_add(&known->bytes, p, n);
}
