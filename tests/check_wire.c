/*
 * check_wire.c - frames between host and worker that are whole, cut off, or nonsense.
 */
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/io.h"
#include "device/wire.h"
#include "tests/test.h"

static void there_and_back(void)
{
	int s[2];
	struct err err = {{0}};
	struct buf out = {0};
	struct frame f = {0};
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
	for (size_t n = 0; n < 5000; n += 999) {
		buf_reset(&out);
		for (size_t i = 0; i < n; i++)
			buf_addch(&out, (int)(i % 251));
		CHECK(wire_send(s[0], WIRE_COMPILE, (uint32_t)n, &out, &err) == 0);
		CHECK_INT(wire_receive(s[1], &f, &err), 1);
		CHECK_INT(f.type, WIRE_COMPILE);
		CHECK_INT(f.id, n);
		CHECK_INT(f.payload.len, n);
		CHECK(n == 0 || memcmp(f.payload.data, out.data, n) == 0);
	}
	close(s[0]);
	CHECK_INT(wire_receive(s[1], &f, &err), 0);
	close(s[1]);
	buf_release(&out);
	buf_release(&f.payload);
}

static void half_frames_are_errors(void)
{
	uint8_t header[WIRE_HEADER];
	wire_header(header, WIRE_DROP, 7, 100);
	for (size_t cut = 1; cut < WIRE_HEADER + 100; cut += 13) {
		int s[2];
		struct err err = {{0}};
		struct frame f = {0};
		uint8_t body[WIRE_HEADER + 100] = {0};
		memcpy(body, header, sizeof header);
		CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
		CHECK(write(s[0], body, cut) == (ssize_t)cut);
		close(s[0]);
		CHECK_INT(wire_receive(s[1], &f, &err), -1);
		CHECK(err.text[0] != 0);
		close(s[1]);
		buf_release(&f.payload);
	}
}

static void wild_headers_are_refused(void)
{
	static const struct {
		uint32_t length, type;
		int want;
	} cases[] = {{0, 1, 0}, {WIRE_LIMIT, 5, 0}, {WIRE_LIMIT + 1, 1, -1}, {0xffffffff, 1, -1},
		{0, 0, -1}, {0, WIRE_TYPES, -1}, {0, 0xffffffff, -1}, {0x20202020, 0x20202020, -1}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		uint8_t h[WIRE_HEADER] = {0};
		struct frame f = {0};
		struct err err = {{0}};
		for (int k = 0; k < 4; k++) {
			h[k] = (uint8_t)(cases[i].length >> 8 * k);
			h[4 + k] = (uint8_t)(cases[i].type >> 8 * k);
		}
		CHECK_INT(wire_parse_header(h, &f, &err), cases[i].want);
		CHECK((err.text[0] != 0) == (cases[i].want < 0));
	}
}

static void texts_are_cut(void)
{
	struct buf b = {0};
	char small[5];
	buf_str(&b, "abcdefgh");
	buf_str(&b, "");
	struct cursor c = cursor_of(b.data, b.len);
	wire_text(&c, small, sizeof small);
	CHECK_STR(small, "abcd");
	wire_text(&c, small, sizeof small);
	CHECK_STR(small, "");
	wire_text(&c, small, sizeof small);
	CHECK(c.bad);
	CHECK_STR(small, "");
	buf_release(&b);
}

/* schemas/worker.md describes the protocol that our worker speaks. */
static void the_protocol_is_written_down(void)
{
	struct buf text = {0};
	struct err err = {{0}};
	char want[40];

	snprintf(want, sizeof want, "u32 protocol (%u)", WIRE_PROTOCOL);
	if (!CHECK(io_read_file("schemas/worker.md", 1 << 20, &text, &err) == 0))
		return;
	buf_addch(&text, 0);
	CHECK(strstr(text.data, want) != NULL);
	buf_release(&text);
}

int main(void)
{
	RUN(there_and_back);
	RUN(half_frames_are_errors);
	RUN(wild_headers_are_refused);
	RUN(texts_are_cut);
	RUN(the_protocol_is_written_down);
	return test_done();
}
