/*
 * send.h - gives a client its answer, even if it does not read.
 *
 * A client that has not read its earlier answers makes a writer wait, and with it everybody else. As long as nobody
 * else wants to be served, that harms nobody: the server waits, keeps the one line, and reads no further request. When
 * another client waits to be accepted, the reading one has `patience` seconds for each piece of its answer, and is
 * given up after that. A signal that asks the program to stop ends the waiting, too.
 */
#ifndef ARENA_SEND_H
#define ARENA_SEND_H

#include <stddef.h>

struct sender {
	int fd;
	int listens; /* the socket at which others wait, and `fd` is a socket, too; -1: there are no others */
	double patience;
};

enum sent { SENT, SENT_GONE, SENT_TOO_SLOW }; /* gone: the client is, or the program was asked to stop */
enum sent send_line(const struct sender *s, const void *p, size_t n);

#endif
