/*
 * send.h - gives a client its answer, even if it does not read.
 *
 * If a client does not read its answers, the server waits, and all other clients wait with it. While there is no other
 * client, that harms nobody: the server keeps the one line, and reads no further request. Once another client waits to
 * be accepted, the first one has `patience` seconds to read each piece of its answer; then it is given up. A signal
 * that asks the program to stop ends the waiting, too.
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
