/*
 * overhead.c - measures what vantage adds to a measurement: the share of a request's wall time, as the caller sees
 * it, outside the plugin's execute. The program takes about 1 ms.
 */
#include <stdio.h>
#include "base/stat.h"
#include "bench/programs.h"
#include "device/device.h"

#define REQUESTS 20

int main(void)
{
	struct device_options o = {.wait = true};
	struct precision p = {.even_identical = true, .target = 1e-9, .max_seconds = 0.2};
	struct err err = {{0}};
	struct buf chain = {0};
	struct compiled a, b;
	double share[REQUESTS], ms = 0;
	struct device *d = device_open(&o, &err);
	if (!d)
		return err_exit(&err);
	chain_program(300000, &chain);
	if (device_compile(d, COMPILE_DEFAULT, "mlir", chain.data, chain.len, 0, &a, &err) < 0 ||
		device_compile(d, COMPILE_DEFAULT, "mlir", chain.data, chain.len, 0, &b, &err) < 0)
		return err_exit(&err);
	for (int i = 0; i < REQUESTS; i++) {
		struct timing t;
		if (device_pair(d, &a, &b, &p, &t, &err) < 0 || t.outcome != OUTCOME_OK)
			return err_exit(&err);
		share[i] = 1 - t.inside / t.wall;
		ms = t.seconds_a * 1e3;
	}
	printf("program of %.3f ms, %d requests of 0.2 s: outside the plugin %.2f%% of the wall "
	       "time (median; largest %.2f%%)\n",
		ms, REQUESTS, 100 * stat_median(share, REQUESTS),
		100 * stat_quantile(share, REQUESTS, 1));
	buf_release(&chain);
	device_close(d);
	return 0;
}
