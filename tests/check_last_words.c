/*
 * check_last_words.c - the cause of a worker's death, found in what plugins, libraries and tools really print.
 */
#include <stdlib.h>

#include "device/last_words.h"
#include "tests/test.h"

/* The CPU plugin prints this in any case. */
#define START                                                                                          \
	"WARNING: All log messages before absl::InitializeLog() is called are written to STDERR\n"         \
	"I0000 00:00:1795351495.072903   22963 pjrt_c_api_cpu_internal.cc:59] " \
	"cpu_device_count set via create_options: 1\n"
#define TRACE                                                                                          \
	"*** Check failure stack trace: ***\n"                                                             \
	"    @     0x7f2b1c0a3b5d  (unknown)\n"                                                            \
	"    @     0x7f2b1bd1a0c9  PJRT_Client_Compile\n"

static const struct sample {
	const char *name, *text, *cause;
} samples[] = {
	{"nothing", "", ""},
	{"only what every start prints", START, ""},
	{"an unknown flag in the environment",
		START "F0000 00:00:1795351495.074193   22963 parse_flags_from_env.cc:234] "
		"Unknown flag in XLA_FLAGS: --xla_foo=1\n",
		"parse_flags_from_env.cc:234] Unknown flag in XLA_FLAGS: --xla_foo=1"},
	{"a failed check, its second line, and the stack",
		START "F0000 00:00:1795351712.200451    1207 shape.h:214] Check failed: has_layout() f32[2,3]\n"
		      "while visiting %add.4\n" TRACE,
		"shape.h:214] Check failed: has_layout() f32[2,3] while visiting %add.4"},
	{"a failed check after errors that were none",
		"E0000 00:00:1795351712.100000    1207 cuda_dnn.cc:8310] Unable to register cuDNN factory\n"
		"W0000 00:00:1795351712.100001    1207 cpu_client.cc:12] falling back\n"
		"F0000 00:00:1795351712.200451    1207 a.cc:1] Check failed: x == y (1 vs. 2)\n",
		"a.cc:1] Check failed: x == y (1 vs. 2)"},
	{"the first failed check of two",
		"F0000 00:00:1.1 1 a.cc:1] Check failed: first\nF0000 00:00:1.2 1 b.cc:2] Check failed: second\n",
		"a.cc:1] Check failed: first"},
	{"LLVM's verifier, then a segmentation fault",
		START "Both operands to a binary operator are not of the same type!\n  %23 = add i8 %22, i1 %20\n",
		"Both operands to a binary operator are not of the same type! %23 = add i8 %22, i1 %20"},
	{"LLVM gives up",
		START "warning: something harmless\nLLVM ERROR: Cannot select: t12: v8f16 = fadd t3, t5\n"
		      "PLEASE submit a bug report to https://github.com/llvm/llvm-project/issues/ "
		      "and include the crash backtrace.\n"
		      "Stack dump:\n0.\tRunning pass 'X86 DAG->DAG Instruction Selection'\n",
		"LLVM ERROR: Cannot select: t12: v8f16 = fadd t3, t5"},
	{"an exception", START "terminate called after throwing an instance of 'std::runtime_error'\n"
			       "  what():  vector::_M_range_check\n",
		"terminate called after throwing an instance of 'std::runtime_error' what():  vector::_M_range_check"},
	{"free", START "free(): invalid pointer\n", "free(): invalid pointer"},
	{"free twice", "free(): double free detected in tcache 2\n", "free(): double free detected in tcache 2"},
	{"malloc", "malloc(): corrupted top size\n", "malloc(): corrupted top size"},
	{"a smashed stack", "*** stack smashing detected ***: terminated\n",
		"*** stack smashing detected ***: terminated"},
	{"assert", "a: a.cc:6: int main(int, char**): Assertion `c==7' failed.\n",
		"a: a.cc:6: int main(int, char**): Assertion `c==7' failed."},
	{"a library that prints over several lines", START "DUCC FFT c2c failed: "
		"\nfftnd_impl.h: 129 (sanity_check):\n\nAssertion failure\n",
		"DUCC FFT c2c failed: fftnd_impl.h: 129 (sanity_check):"},
	{"our own worker", START "vantage: out of memory: 40000000008 more bytes were refused by the system\n",
		"vantage: out of memory: 40000000008 more bytes were refused by the system"},
	{"the sanitizer", START "==================================================================\n"
			        "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x60200000 at pc 0x55\n"
			        "READ of size 8 at 0x60200000 thread T0\n    #0 0x55 in main a.c:3\n",
		"==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x60200000 at "
		"pc 0x55 READ of size 8 at 0x60200000 thread T0"},
	{"a signal that the plugin catches and reports", START "*** SIGSEGV received at time=1795351712 on cpu 1 ***\n"
			"PC: @     0x7f2b1c0a3b5d  (unknown)\n    @     0x7f2b1bd1a0c9   1234  (unknown)\n"
			"[failure_signal_handler.cc : 345] RAW: Signal 11 raised at PC=0x7f\n",
		""},
	{"a slow compilation that was ended",
		START "E0000 00:00:1795351495.074193   22963 slow_operation_alarm.cc:73] \n"
		      "********************************\n"
		      "[Compiling module jit_step] Very slow compile? If you want to file a bug, run with envvar "
		      "XLA_FLAGS=--xla_dump_to=/tmp/foo and attach the results.\n"
		      "********************************\n",
		""},
	{"an error line where there is nothing else",
		START "E0000 00:00:1795351495.074193   22963 client.cc:73] the device is gone\n" TRACE,
		"client.cc:73] the device is gone"},
	{"what looks like a log line and is not", "F000 is not a level\n", "F000 is not a level"},
	{"a log line cut short", "F0000 00:00", ""},
	{"control characters", "free(): in\tva\001lid\r\n", "free(): in va lid"},
};

static void real_samples(void)
{
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
		char out[512];
		last_words(samples[i].text, strlen(samples[i].text), out, sizeof out);
		if (!CHECK_STR(out, samples[i].cause))
			printf("  of %s\n", samples[i].name);
	}
}

/* Every sample is cut everywhere, and written into every small size: nothing goes beyond, and what fits is whole. */
static void cut_anywhere(void)
{
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
		for (size_t n = 0; n <= strlen(samples[i].text); n++) {
			char *text = malloc(n + 1), room[40];
			size_t size = n % sizeof room;
			memcpy(text, samples[i].text, n);
			memset(room, 'x', sizeof room);
			last_words(text, n, room, size);
			for (size_t k = size; k < sizeof room; k++)
				CHECK(room[k] == 'x');
			CHECK(!size || memchr(room, 0, size) != NULL);
			free(text);
		}
}

int main(void)
{
	RUN(real_samples);
	RUN(cut_anywhere);
	return test_done();
}
