/*
 * pack.h - protobuf messages to bytes, in one pass.
 *
 * The same bytes as protobuf_c_message_pack, several times faster: a program is written for every
 * configuration that is tried, and protobuf-c asks for the size of a message anew at every level above it.
 */
#ifndef HLO_PACK_H
#define HLO_PACK_H

#include <protobuf-c/protobuf-c.h>
#include "base/buf.h"

/* Appends the message. */
void pack_message(const ProtobufCMessage *m, struct buf *out);

#endif
