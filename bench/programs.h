/*
 * programs.h - makes a program to measure with, as StableHLO: an elementwise chain whose time is proportional to its
 * length.
 */
#ifndef BENCH_PROGRAMS_H
#define BENCH_PROGRAMS_H

#include "base/buf.h"

/* tanh(exp(tanh(exp(x)))) and a sum over it, of n floats: about 1 ms for 300,000 on the machine of
 * README.md. */
static inline void chain_program(int n, struct buf *out)
{
	buf_reset(out);
	buf_addf(out,
		"module @chain {\n"
		"  func.func @main(%%a: tensor<%dxf32>) -> (tensor<%dxf32>, tensor<f32>) {\n"
		"    %%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
		"    %%0 = stablehlo.exponential %%a : tensor<%dxf32>\n"
		"    %%1 = stablehlo.tanh %%0 : tensor<%dxf32>\n"
		"    %%2 = stablehlo.exponential %%1 : tensor<%dxf32>\n"
		"    %%3 = stablehlo.tanh %%2 : tensor<%dxf32>\n"
		"    %%4 = stablehlo.reduce(%%3 init: %%z) applies stablehlo.add across dimensions "
		"= [0]\n"
		"      : (tensor<%dxf32>, tensor<f32>) -> tensor<f32>\n"
		"    return %%3, %%4 : tensor<%dxf32>, tensor<f32>\n"
		"  }\n"
		"}\n",
		n, n, n, n, n, n, n, n);
}

#endif
