"""A few hundred small programs in HLO text that between them use every operation and attribute.

programs() yields (name, text). Each is one line put into a frame of parameters and computations, so a
line may refer to what FRAME names. `loose` programs are compared after XLA has brought both sides into
its normal form, because ours keeps what the text says (shardings).
"""

FRAME = """HloModule corpus{header}

add {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}}
iadd {{
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = s32[] add(a, b)
}}
ge {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE
}}
both {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  e = f32[] add(a, c)
  f = f32[] multiply(b, d)
  ROOT r = (f32[], f32[]) tuple(e, f)
}}
negative {{
  a = f32[] parameter(0)
  ROOT r = f32[] negate(a)
}}
fused {{
  a = f32[4]{{0}} parameter(0)
  b = f32[4]{{0}} parameter(1)
  s = f32[4]{{0}} subtract(a, b)
  ROOT r = f32[4]{{0}} exponential(s)
}}
branch {{
  a = f32[4]{{0}} parameter(0)
  ROOT r = f32[4]{{0}} abs(a)
}}
branch2 {{
  a = f32[4]{{0}} parameter(0)
  ROOT r = f32[4]{{0}} negate(a)
}}
below {{
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(9)
  ROOT r = pred[] compare(i, n), direction=LT
}}
round {{
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[4] get-tuple-element(t), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4] tanh(x)
  ROOT r = (s32[], f32[4]) tuple(j, y)
}}
{comps}
ENTRY main {{
  x = f32[4]{{0}} parameter(0)
  y = f32[4]{{0}} parameter(1)
  m = f32[4,8]{{1,0}} parameter(2)
  n = f32[8,4]{{1,0}} parameter(3)
  i = s32[4]{{0}} parameter(4)
  u = u32[4]{{0}} parameter(5)
  p = pred[4]{{0}} parameter(6)
  c = c64[4]{{0}} parameter(7)
  s = f32[] parameter(8)
  k = s32[] parameter(9)
  q = pred[] parameter(10)
  t = (s32[], f32[4]{{0}}) parameter(11)
  img = f32[1,6,6,3]{{3,2,1,0}} parameter(12)
  ker = f32[2,2,3,5]{{3,2,1,0}} parameter(13)
  sq = f32[4,4]{{1,0}} parameter(14)
  bm = f32[3,4,5]{{2,1,0}} parameter(15)
  bn = f32[3,5,6]{{2,1,0}} parameter(16)
  h = bf16[4]{{0}} parameter(17)
  w = u64[2]{{0}} parameter(18)
  done = token[] after-all()
  {line}
}}
"""

UNARY = """abs acos acosh asin asinh atanh ceil cbrt cosine cosh erf exponential exponential-minus-one floor log
log-plus-one logistic negate round-nearest-afz round-nearest-even rsqrt sign sine sinh sqrt tan tanh copy
opt-barrier""".split()
PRECISE = """exponential-minus-one exponential log log-plus-one logistic sqrt cbrt rsqrt tanh sine cosine tan erf""".split()
BINARY = "add divide multiply subtract atan2 maximum minimum power remainder".split()
INTEGER = "and or xor shift-left shift-right-arithmetic shift-right-logical add multiply".split()

LINES = [
	# element by element
	"popcnt|s32[4] popcnt(i)", "clz|s32[4] count-leading-zeros(i)", "not|pred[4] not(p)", "not int|s32[4] not(i)",
	"is-finite|pred[4] is-finite(x)", "real|f32[4] real(c)", "imag|f32[4] imag(c)", "complex|c64[4] complex(x, y)",
	"convert|s32[4] convert(x)", "convert small|f8e4m3fn[4] convert(x)", "bitcast|s32[4] bitcast(x)",
	"bitcast-convert|u32[4] bitcast-convert(x)", "stochastic-convert|s32[4] stochastic-convert(x, u)",
	"reduce-precision|f32[4] reduce-precision(x), exponent_bits=5, mantissa_bits=10",
	"select|f32[4] select(p, x, y)", "clamp|f32[4] clamp(x, y, x)",
	"compare total|pred[4] compare(x, y), direction=EQ, type=TOTALORDER",
	"compare unsigned|pred[4] compare(u, u), direction=LE", "compare signed|pred[4] compare(i, i), direction=GT",
	"compare pred|pred[4] compare(p, p), direction=NE", "compare complex|pred[4] compare(c, c), direction=EQ",
	"compare typed|pred[4] compare(i, i), direction=GT, type=SIGNED",
	# moving
	"broadcast|f32[4,3] broadcast(x), dimensions={0}", "broadcast scalar|f32[2,3] broadcast(s), dimensions={}",
	"broadcast none|f32[2,3] broadcast(s)", "concatenate|f32[8] concatenate(x, y), dimensions={0}",
	"reshape|f32[2,2] reshape(x)", "reshape inferred|f32[2,2] reshape(x), inferred_dimension=1",
	"transpose|f32[8,4] transpose(m), dimensions={1,0}", "transpose layout|f32[8,4]{0,1} transpose(m), dimensions={1,0}",
	"reverse|f32[4,8] reverse(m), dimensions={0,1}", "slice|f32[2,3] slice(m), slice={[1:3], [0:8:3]}",
	"pad|f32[7,13] pad(m, s), padding=1_2_0x-1_2_1".replace("13", "16"), "pad short|f32[7,9] pad(m, s), padding=1_2x0_1",
	"iota|s32[3,4] iota(), iota_dimension=1", "dynamic-slice|f32[2] dynamic-slice(x, k), dynamic_slice_sizes={2}",
	"dynamic-update-slice|f32[4] dynamic-update-slice(x, y, k)",
	"get-dimension-size|s32[] get-dimension-size(m), dimensions={1}",
	"set-dimension-size|f32[4,<=8] set-dimension-size(m, k), dimensions={1}",
	"dynamic-reshape|f32[4] dynamic-reshape(x, k)",
	"gather|f32[4,8] gather(m, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
	"index_vector_dim=1, slice_sizes={1,8}",
	"gather sorted|f32[4,1,8] gather(m, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}, "
	"index_vector_dim=1, slice_sizes={1,8}, indices_are_sorted=true",
	"gather batch|f32[4,1] gather(m, i), offset_dims={1}, collapsed_slice_dims={}, start_index_map={1}, "
	"index_vector_dim=1, slice_sizes={1,1}, operand_batching_dims={0}, start_indices_batching_dims={0}",
	"scatter|f32[4,8] scatter(m, i, m), update_window_dims={1}, inserted_window_dims={0}, "
	"scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
	"scatter flags|f32[4,8] scatter(m, i, m), update_window_dims={1}, inserted_window_dims={0}, "
	"scatter_dims_to_operand_dims={0}, index_vector_dim=1, indices_are_sorted=true, unique_indices=true, to_apply=add",
	"scatter batch|f32[4,8] scatter(m, i, x), update_window_dims={}, inserted_window_dims={1}, "
	"scatter_dims_to_operand_dims={1}, index_vector_dim=1, input_batching_dims={0}, "
	"scatter_indices_batching_dims={0}, to_apply=add",
	# applied computations
	"reduce|f32[4] reduce(m, s), dimensions={1}, to_apply=add", "reduce all|f32[] reduce(m, s), dimensions={0,1}, to_apply=add",
	"reduce two|(f32[4], f32[4]) reduce(m, m, s, s), dimensions={1}, to_apply=both",
	"reduce-window|f32[3,8] reduce-window(m, s), window={size=2x1}, to_apply=add",
	"reduce-window full|f32[3,10] reduce-window(m, s), window={size=2x3 stride=2x1 pad=1_1x2_2 lhs_dilate=1x1 "
	"rhs_dilate=1x1}, to_apply=add",
	"reduce-window dilated|f32[4,15] reduce-window(m, s), window={size=1x1 lhs_dilate=1x2}, to_apply=add",
	"reduce-window 1d|f32[3] reduce-window(x, s), window={size=2 stride=1}, to_apply=add",
	"reduce-window scalar|f32[] reduce-window(s, s), window={}, to_apply=add",
	"reduce-window two|(f32[3], f32[3]) reduce-window(x, y, s, s), window={size=2}, to_apply=both",
	"select-and-scatter|f32[4,8] select-and-scatter(m, part, s), window={size=2x2 stride=2x2}, select=ge, scatter=add"
	"|part = f32[2,4] constant({...})",
	"map|f32[4] map(x, y), dimensions={0}, to_apply=add", "map bare|f32[4,8] map(m), to_apply=negative",
	"sort|f32[4] sort(x), dimensions={0}, to_apply=ge", "sort stable|f32[4] sort(x), dimensions={0}, is_stable=true, to_apply=ge",
	"sort pair|(f32[4], f32[4]) sort(x, y), dimensions={0}, to_apply={ a = f32[] parameter(0)\n b = f32[] parameter(1)\n "
	"c = f32[] parameter(2)\n d = f32[] parameter(3)\n ROOT r = pred[] compare(a, b), direction=LT }",
	"loose topk|(f32[2], s32[2]) topk(x), k=2", "loose topk smallest|(f32[2], s32[2]) topk(x), k=2, largest=false",
	# products
	"dot|f32[4,4] dot(m, n), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
	"dot precision|f32[4,4] dot(m, n), lhs_contracting_dims={1}, rhs_contracting_dims={0}, operand_precision={highest,high}",
	"dot algorithm|f32[4,4] dot(m, n), lhs_contracting_dims={1}, rhs_contracting_dims={0}, algorithm=dot_bf16_bf16_f32_x3",
	"dot batch|f32[3,4,6] dot(bm, bn), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "
	"rhs_contracting_dims={1}",
	"dot outer|f32[4,4] dot(x, y)",
	"ragged-dot|f32[4,4] ragged-dot(m, n3, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, "
	"rhs_group_dims={0}|n3 = f32[2,8,4] broadcast(s), dimensions={}\n  g = s64[2] constant({1, 3})",
	"convolution|f32[1,5,5,5] convolution(img, ker), window={size=2x2}, dim_labels=b01f_01io->b01f",
	"convolution full|f32[1,7,4,5] convolution(img, ker), window={size=2x2 stride=1x2 pad=1_1x1_2 lhs_dilate=1x1 "
	"rhs_dilate=1x2 rhs_reversal=1x0}, dim_labels=b01f_01io->b01f, operand_precision={high,default}",
	"convolution groups|f32[1,5,5,6] convolution(img, k2), window={size=2x2}, dim_labels=b01f_01io->b01f, "
	"feature_group_count=3|k2 = f32[2,2,1,6] broadcast(s), dimensions={}",
	"convolution batches|f32[1,5,5,4] convolution(im2, k2), window={size=2x2}, dim_labels=b01f_01io->b01f, "
	"batch_group_count=2|im2 = f32[2,6,6,3] broadcast(s), dimensions={}\n  k2 = f32[2,2,3,4] broadcast(s), dimensions={}",
	"convolution labels|f32[5,1,5,5] convolution(img, ker), window={size=2x2}, dim_labels=b01f_01io->fb10",
	"convolution none|f32[4,4] convolution(m, n), window={}, dim_labels=bf_io->bf",
	"fft|c64[4] fft(c), fft_type=FFT, fft_length={4}", "ifft|c64[4] fft(c), fft_type=IFFT, fft_length={4}",
	"rfft|c64[3] fft(x), fft_type=RFFT, fft_length={4}", "irfft|f32[6] fft(c), fft_type=IRFFT, fft_length={6}",
	"cholesky|f32[4,4] cholesky(sq), lower=true", "cholesky upper|f32[4,4] cholesky(sq)",
	"triangular-solve|f32[4,8] triangular-solve(sq, m), left_side=true, lower=true, unit_diagonal=true, transpose_a=ADJOINT",
	"triangular-solve bare|f32[4,8] triangular-solve(sq, m), left_side=true, transpose_a=NO_TRANSPOSE",
	"batch-norm-inference|f32[4,8] batch-norm-inference(m, e, e, e, e), epsilon=0.001, feature_index=1|"
	"e = f32[8] broadcast(s), dimensions={}",
	"batch-norm-training|(f32[4,8], f32[8], f32[8]) batch-norm-training(m, e, e), epsilon=0.001, feature_index=1|"
	"e = f32[8] broadcast(s), dimensions={}",
	"batch-norm-grad|(f32[4,8], f32[8], f32[8]) batch-norm-grad(m, e, e, e, m), epsilon=1e-5, feature_index=1|"
	"e = f32[8] broadcast(s), dimensions={}",
	# structure
	"tuple|(f32[4], (s32[], f32[4]{0}), f32[]) tuple(x, t, s)", "empty tuple|() tuple()",
	"get-tuple-element|f32[4] get-tuple-element(t), index=1", "add-dependency|f32[4] add-dependency(x, done)",
	"after-all|token[] after-all(done, d2)|d2 = token[] after-all()", "partition-id|u32[] partition-id()",
	"replica-id|u32[] replica-id()", "domain|f32[4] domain(x), domain={kind=\"sharding\", entry={maximal device=0}, "
	"exit={maximal device=1}}",
	"while|(s32[], f32[4]) while(t), condition=below, body=round",
	"while known|(s32[], f32[4]) while(t), body=round, condition=below, backend_config={\"known_trip_count\":{\"n\":\"9\"}}",
	"conditional pred|f32[4] conditional(q, x, y), true_computation=branch, false_computation=branch2",
	"conditional index|f32[4] conditional(k, x, y, x), branch_computations={branch, branch2, branch}",
	"call|f32[4] call(x), to_apply=branch", "fusion|f32[4] fusion(x, y), kind=kLoop, calls=fused",
	"fusion input|f32[4] fusion(x, y), kind=kInput, calls=fused", "fusion output|f32[4] fusion(x, y), kind=kOutput, calls=fused",
	"fusion custom|f32[4] fusion(x, y), kind=kCustom, calls=fused, backend_config={\"kind\":\"mine\",\"n\":{\"a\":[1,2]}}",
	"fusion aliased|f32[4] fusion(x, y), kind=kLoop, calls=fused, output_to_operand_aliasing={{}: (1, {})}",
	"inline|f32[4] reduce(m, s), dimensions={1}, to_apply={ l = f32[] parameter(0)\n o = f32[] parameter(1)\n "
	"ROOT v = f32[] maximum(l, o) }",
	# random numbers and the world
	"rng uniform|f32[4] rng(s, s), distribution=rng_uniform", "rng normal|f32[4] rng(s, s), distribution=rng_normal",
	"rng bits|(u64[2], u32[8]) rng-bit-generator(w), algorithm=rng_three_fry",
	"rng default|(u64[2], u32[8]) rng-bit-generator(w), algorithm=rng_default",
	"rng philox|(u64[2], u32[8]) rng-bit-generator(w), algorithm=rng_philox",
	"rng state|u64[2] rng-get-and-update-state(), delta=7",
	"infeed|((f32[4], s32[]), token[]) infeed(done)", "infeed config|(f32[4], token[]) infeed(done), infeed_config=\"a\\tb\"",
	"outfeed|token[] outfeed(x, done), outfeed_shape=f32[4]{0}", "outfeed config|token[] outfeed(t, done), outfeed_config=\"c\"",
	"send|(f32[4], u32[], token[]) send(x, done), channel_id=3",
	"send host|(f32[4], u32[], token[]) send(x, done), channel_id=3, is_host_transfer=true, "
	"frontend_attributes={_xla_host_transfer_rendezvous=\"r\"}",
	"send-done|token[] send-done(z), channel_id=3|z = (f32[4], u32[], token[]) send(x, done), channel_id=3",
	"recv|(f32[4], u32[], token[]) recv(done), channel_id=4",
	"recv-done|(f32[4], token[]) recv-done(z), channel_id=4|z = (f32[4], u32[], token[]) recv(done), channel_id=4",
	"copy-start|(f32[4], f32[4], u32[]) copy-start(x)",
	"copy-start prefetch|(f32[4], f32[4]{0:S(1)}, u32[]) copy-start(x), cross_program_prefetch_index=0",
	"copy-done|f32[4] copy-done(z)|z = (f32[4], f32[4], u32[]) copy-start(x)",
	# groups of devices
	"all-reduce|f32[4] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=add",
	"all-reduce empty|f32[4] all-reduce(x), replica_groups={}, to_apply=add",
	"all-reduce none|f32[4] all-reduce(x), to_apply=add",
	"all-reduce all|f32[4] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, "
	"constrain_layout=true, to_apply=add",
	"all-reduce iota|f32[4] all-reduce(x), replica_groups=[2,4]<=[8], to_apply=add",
	"all-reduce iota transposed|f32[4] all-reduce(x), replica_groups=[2,4]<=[4,2]T(1,0), to_apply=add",
	"all-reduce two|(f32[4], f32[4]) all-reduce(x, y), replica_groups={{0}}, to_apply=add",
	"all-reduce-start|f32[4] all-reduce-start(x), replica_groups={{0,1}}, to_apply=add",
	"all-reduce-done|f32[4] all-reduce-done(z)|z = f32[4] all-reduce-start(x), replica_groups={{0,1}}, to_apply=add",
	"all-gather|f32[8] all-gather(x), replica_groups={{0,1}}, dimensions={0}",
	"all-gather global|f32[8] all-gather(x), channel_id=5, replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true",
	"all-gather-start|(f32[4], f32[8]) all-gather-start(x), replica_groups={{0,1}}, dimensions={0}",
	"all-gather-done|f32[8] all-gather-done(z)|z = (f32[4], f32[8]) all-gather-start(x), replica_groups={{0,1}}, dimensions={0}",
	"reduce-scatter|f32[2] reduce-scatter(x), replica_groups={{0,1}}, dimensions={0}, to_apply=add",
	"all-to-all|f32[4] all-to-all(x), replica_groups={{0,1}}, dimensions={0}",
	"all-to-all tuple|(f32[4], f32[4]) all-to-all(x, y), replica_groups={{0,1}}",
	"ragged-all-to-all|f32[4] ragged-all-to-all(x, y, j, j, j, j), replica_groups={{0,1}}|j = s32[2] constant({0, 1})",
	"collective-broadcast|f32[4] collective-broadcast(x), replica_groups={{0,1}}",
	"collective-permute|f32[4] collective-permute(x), source_target_pairs={{0,1},{1,0}}",
	"collective-permute channel|f32[4] collective-permute(x), channel_id=2, source_target_pairs={{0,1}}",
	"collective-permute-start|(f32[4], f32[4]) collective-permute-start(x), source_target_pairs={{0,1}}",
	"collective-permute-done|f32[4] collective-permute-done(z)|z = (f32[4], f32[4]) collective-permute-start(x), "
	"source_target_pairs={{0,1}}",
	# async
	"async|f32[4] async-done(z2)|z = ((f32[4]), f32[4], s32[]) async-start(x), calls=branch\n  "
	"z2 = ((f32[4]), f32[4], s32[]) async-update(z)",
	"async sugar|f32[4] negate-done(z)|z = ((f32[4]), f32[4], s32[]) negate-start(x)",
	"async sugar update|f32[4] add-done(z2)|z = ((f32[4], f32[4]), f32[4], s32[]) add-start(x, y)\n  "
	"z2 = ((f32[4], f32[4]), f32[4], s32[]) add-update(z)",
	"async sugar attrs|f32[8,4] transpose-done(z)|z = ((f32[4,8]), f32[8,4], s32[]) transpose-start(m), dimensions={1,0}, "
	"metadata={op_name=\"a\"}, frontend_attributes={f=\"g\"}, backend_config=\"b\"",
	"async call|f32[4] call-done(z)|z = ((f32[4]), f32[4], s32[]) call-start(x), to_apply=branch",
	"async fusion|f32[4] fusion-done(z)|z = ((f32[4], f32[4]), f32[4], s32[]) fusion-start(x, y), kind=kLoop, calls=fused",
	"async custom|f32[4] custom-call-done(z)|z = ((f32[4]), f32[4], s32[]) custom-call-start(x), custom_call_target=\"f\"",
	"async thread|f32[4] custom-call-done(z)|z = ((f32[4]), f32[4], s32[]) custom-call-start(x), "
	"async_execution_thread=\"other\", custom_call_target=\"f\"",
	# custom calls
	"custom-call|f32[4] custom-call(x), custom_call_target=\"f\"",
	"custom-call all|(f32[4], f32[2]) custom-call(x, y), custom_call_target=\"f.g\", custom_call_has_side_effect=true, "
	"api_version=API_VERSION_TYPED_FFI, schedule=SCHEDULE_LATEST, padding_type=PADDING_SAME, "
	"output_to_operand_aliasing={{0}: (0, {})}, operand_precision={highest,default}, backend_config=\"opaque \\001 text\"",
	"custom-call layouts|f32[4,8]{0,1} custom-call(m, t), custom_call_target=\"f\", "
	"operand_layout_constraints={f32[4,8]{0,1}, (s32[], f32[4]{0})}",
	"custom-call calls|f32[4] custom-call(x), custom_call_target=\"f\", called_computations={branch, negative}",
	"custom-call applies|f32[4] custom-call(x), custom_call_target=\"f\", to_apply=branch",
	"custom-call conv|f32[1,5,5,5] custom-call(img, ker), custom_call_target=\"c\", window={size=2x2}, "
	"dim_labels=b01f_01io->b01f, feature_group_count=2, batch_group_count=3",
	"custom-call version|f32[4] custom-call(x), custom_call_target=\"f\", api_version=API_VERSION_STATUS_RETURNING",
	"custom-call literal|f32[4] custom-call(x), custom_call_target=\"f\", literal=s32[2]{0} {1, 2}",
	"custom-call nothing|() custom-call(), custom_call_target=\"\"",
	"custom-call opaque|opaque[] custom-call(), custom_call_target=\"f\"",
	# what any operation can carry
	"metadata|f32[4] abs(x), metadata={op_type=\"T\" op_name=\"jit(f)/abs\" source_file=\"f.py\" source_line=12 "
	"source_end_line=13 source_column=2 source_end_column=9 deduplicated_name=\"d\" scheduling_name=\"s\"}",
	"metadata commas|f32[4] abs(x), metadata={op_type=\"T\", op_name=\"a \\\"b\\\" \\\\ c\"}",
	"metadata profile|f32[4] abs(x), metadata={profile_type={1} op_name=\"a\"}", "metadata empty|f32[4] abs(x), metadata={}",
	"frontend|f32[4] abs(x), frontend_attributes={b=\"2\",a=\"1\",j={\"k\":{\"l\":[]}}}", "frontend empty|f32[4] abs(x), frontend_attributes={}",
	"statistics|f32[4] abs(x), statistics={visualizing_index=1,a=1.5,b=3}",
	"predecessors|f32[4] abs(x), control-predecessors={z, z2}|z = f32[4] negate(y)\n  z2 = f32[4] negate(x)",
	"predecessors of another|f32[4] add(z3, z)|z = f32[4] negate(y)\n  z2 = f32[4] negate(x)\n  z3 = f32[4] abs(x), control-predecessors={z2, z}",
	"backend text|f32[4] abs(x), backend_config=\"a \\\"b\\\" \\n\\x41\\101\"", "backend json|f32[4] abs(x), backend_config={\"a\": \"}\\\"{\"}",
	"backend single|f32[4] abs(x), backend_config='{\"a\":1}'",
	"origin|f32[4] abs(x), origin={{\"x\"}}", "origin index|f32[4] abs(x), origin={{\"x\" {1,0}}}",
	"origin tuple|(s32[], f32[4]) copy(t), origin={({\"a\"}, {\"b\" {2}})}",
	"replication|s32[3] parameter(19), parameter_replication={true}", "replication tuple|(s32[], f32[2]) parameter(19), parameter_replication={true,false}",
	# shapes and layouts
	"tiles|f32[4,8]{1,0:T(8,128)(2,1)} copy(m)", "tiles combined|f32[4,8]{1,0:T(*,128)} copy(m)", "memory|f32[4,8]{1,0:S(5)} copy(m)",
	"element bits|s4[4]{0:E(4)} convert(x)", "other bits|f32[4]{0:E(16)} copy(x)", "tail|f32[4]{0:L(8)} copy(x)",
	"all of a layout|f32[4,8]{0,1:T(2,2)E(16)S(1)} copy(m)", "prefix|f32[4]{0:M(8)} copy(x)",
	"split|f32[4,8]{1,0:SC(0:2,3)} copy(m)", "index types|f32[4]{0:#(u8)*(u16)} copy(x)", "dense|f32[4,8]{1,0:D(D,D)} copy(m)",
	"dynamic|f32[<=4] copy(x)", "unbounded|f32[?] custom-call(x), custom_call_target=\"f\"", "zero|f32[0,3] broadcast(s), dimensions={}",
	"scalar layout|f32[]{:S(1)} negate(s)",
	"nested tuple|((f32[4]{0}, ()), (token[])) tuple(z, z3)|z2 = () tuple()\n  z = (f32[4]{0}, ()) tuple(x, z2)\n  z3 = (token[]) tuple(done)",
	# short forms
	"no shape|add(x, y)", "no shape compare|compare(x, y), direction=LT", "no shape tuple|tuple(x, k)", "no shape gte|get-tuple-element(t), index=1",
	"no shape while|while(t), condition=below, body=round", "no shape call|call(x), to_apply=branch", "no shape select|select(p, x, y)",
	"nested|f32[4] add(negate(x), f32[4] multiply(x, y))", "nested twice|f32[4] add(negate(abs(x)), abs(y))", "operand shapes|f32[4] add(f32[4]{0} x, f32[4] y)",
	"percent|f32[4] add(%x, %y)", "comments|f32[4] add(x, /*second*/y) // so\n", "names|f32[4] add(x.1, x-2)|x.1 = f32[4] negate(x)\n  x-2 = f32[4] abs(x)\n  x.3.7 = f32[4] abs(x)\n  x.1.1 = f32[4] abs(y)",
]

CONSTANTS = [
	"f32[] 0", "f32[] -0", "f32[] -0.0", "f32[] 1e-45", "f32[] 3.4028235e38", "f32[] inf", "f32[] -inf", "f32[] nan", "f32[] -nan",
	"f32[] nan(0x1)", "f32[] -nan(0x7)", "f32[] 0.1", "f32[] 16777217", "f32[] 1.00000017881393433", "f32[] 5.",
	"f32[] 1E5", "f64[] 0.1", "f64[] 1e308", "f64[] nan(0x123)", "f64[] 5e-324",
	"f16[5] {1, -2.5, 65504, 6e-8, nan}", "f16[4] {65519, 2049, 2051, inf}", "bf16[5] {1, 1.00390625, 1.01171875, -inf, nan}",
	"bf16[3] {3.38e38, 1e-40, -0}", "f8e5m2[8] {1, 1.125, 1.375, 57344, inf, nan, -nan, 1e-5}", "f8e4m3[6] {1, 1.0625, 240, inf, nan, 0.001}",
	"f8e4m3fn[8] {1, 1.0625, 1.1875, 448, nan, -nan, inf, 0.001}", "f8e4m3b11fnuz[6] {1, -0.0, 30, nan, inf, 0.0001}",
	"f8e5m2fnuz[6] {1, -0.0, 57344, nan, -inf, 0.00001}", "f8e4m3fnuz[6] {1, -0.0, 240, nan, inf, 0.001}", "f8e3m4[6] {1, 1.03125, 15.5, inf, nan, 0.01}",
	"f8e8m0fnu[8] {1, 1.5, 2.9, 3, 0.75, 1e38, 1e-38, nan}", "f4e2m1fn[9] {0, -0.0, 0.25, 0.75, 1.25, 1.75, 5, 6, -6}",
	"s8[3] {-128, 127, 0}", "u8[2] {255, 0}", "s16[2] {-32768, 32767}", "u16[1] {65535}", "s32[2] {-2147483648, 2147483647}",
	"u32[1] {4294967295}", "s64[2] {-9223372036854775808, 9223372036854775807}", "u64[2] {18446744073709551615, -1}", "s4[4] {-8, 7, -1, 0}", "u4[2] {15, 1}",
	"s2[4] {-2, -1, 0, 1}", "u2[2] {3, 0}", "s1[2] {-1, 0}", "u1[2] {1, 0}", "pred[] true", "pred[4] {true, false, 1, 0}", "pred[2] {5, 0}",
	"c64[] (1, -2)", "c64[3] {(0, 0), (-inf, inf), (1.5, nan)}", "c128[2] {(0.1, 0.2), (-0.0, 1e300)}",
	"f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "f32[2,3]{0,1} {{1, 2, 3}, {4, 5, 6}}", "f32[2,3]{1,0} { { 1, 2, 3 }, { 4, 5, 6 } }",
	"s32[2,2,2]{0,2,1} {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}", "s8[2,2,2]{1,0,2} {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}", "f32[0] {}", "f32[2,0] {{}, {}}", "f32[0,2] {}",
	"s32[3] {/*i0=0*/1, 2, 3}", "(f32[], s32[2]) (1, {2, 3})", "((f32[]), pred[]) ((1.5), true)", "() ()",
	"f32[2]{0:T(128)} {1, 2}", "s4[2]{0:E(4)} {1, 2}",
]

SHARDINGS = [
	"{replicated}", "{maximal device=3}", "{manual}", "{unknown}", "{devices=[4]0,1,2,3}", "{devices=[4]<=[4]}", "{devices=[4]3,1,2,0}",
	"{devices=[2,2]<=[4] last_tile_dim_replicate}", "{devices=[2,2]0,1,2,3 last_tile_dim_replicate}", "{devices=[2,2,2]<=[8] last_tile_dims={manual,replicated}}",
	"{devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}", "{devices=[2,4]<=[4,2]T(1,0) last_tile_dim_replicate metadata={op_name=\"a\"}}",
	"{replicated metadata={{op_name=\"a\"}, {op_name=\"b\"}}}", "{replicated shard_as 3}", "{devices=[2]<=[2] shard_like 4}", "{unreduced}",
	"{devices=[1,2]0,1 last_tile_dims={replicated}}",
]
NAMED = [
	"{mesh['x'=4], [{'x'}]}", "{mesh['x'=2,'y'=2], [{'y', 'x'}]}", "{mesh['x'=4,'y'=2], [{'x':(2)2, ?}], replicated={'y'}}",
	"{mesh['x'=2,'y'=2], device_ids=(3,2,1,0), [{'x'}], unreduced={'y'}}", "{mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)), [{}]}",
	"{maximal_mesh[device_id=2]}", "{mesh['x'=2], replicated}",
]
HEADERS = [
	", is_scheduled=true", ", replica_count=2, num_partitions=4", ", input_output_alias={ {}: (0, {}, may-alias) }",
	", input_output_alias={ {}: (1, {}, must-alias) }, buffer_donor={ (0, {}), (11, {1}) }", ", alias_passthrough_params=true",
	", frontend_attributes={a=\"b\",c={\"d\":1}}", ", allow_spmd_sharding_propagation_to_parameters={true,false}, allow_spmd_sharding_propagation_to_output=true",
]
WHOLE = [
	("entry only", "ENTRY e { ROOT x = f32[] parameter(0) }"),
	("last is entry", "HloModule m\na { x = f32[] parameter(0) }\nb { y = f32[2]{0} parameter(0)\n ROOT z = f32[2]{0} map(y), to_apply=a }"),
	("entry not last", "HloModule m\nENTRY a { x = f32[] parameter(0) }\nb { y = f32[] parameter(0) }"),
	("entry layout", "HloModule m, entry_computation_layout={(f32[2,3]{0,1}, (s32[], f32[4]{0:T(8)}))->f32[2,3]{1,0}}\n"
	 "ENTRY a { x = f32[2,3]{1,0} parameter(0)\n t = (s32[], f32[4]) parameter(1)\n ROOT y = f32[2,3]{1,0} copy(x) }"),
	("entry layout default", "HloModule m, entry_computation_layout={(f32[2,3])->f32[2,3]}\n"
	 "ENTRY a { x = f32[2,3]{0,1} parameter(0)\n ROOT y = f32[2,3]{0,1} copy(x) }"),
	("no root", "HloModule m\nENTRY a { x = f32[] parameter(0)\n y = f32[] negate(x)\n z = f32[] abs(x) }"),
	("root first", "HloModule m\nENTRY a { x = f32[] parameter(0)\n ROOT y = f32[] negate(x)\n z = f32[] abs(x)\n w = f32[] abs(z) }"),
	("parameters out of order", "HloModule m\nENTRY a { x = f32[] parameter(1)\n y = s32[] parameter(0)\n ROOT z = (f32[], s32[]) tuple(x, y) }"),
	("threads", "HloModule m\nw { a = f32[] parameter(0)\n ROOT b = f32[] negate(a) }, execution_thread=\"host\"\n"
	 "ENTRY e { x = f32[] parameter(0)\n s = ((f32[]), f32[], u32[]) async-start(x), async_execution_thread=\"host\", calls=w\n ROOT d = f32[] async-done(s) }"),
	("signature", "HloModule m\n%f (a.1: f32[2], b: (f32[], s32[])) -> (f32[2], f32[]) {\n  %a.1 = f32[2]{0} parameter(0)\n  %b = (f32[], s32[]) parameter(1)\n"
	 "  %c = f32[] get-tuple-element((f32[], s32[]) %b), index=0\n  ROOT %r = (f32[2]{0}, f32[]) tuple(f32[2]{0} %a.1, f32[] %c)\n}\n"
	 "ENTRY %e (p: f32[2], q: (f32[], s32[])) -> (f32[2], f32[]) {\n %p = f32[2]{0} parameter(0)\n %q = (f32[], s32[]) parameter(1)\n"
	 " ROOT %r.1 = (f32[2]{0}, f32[]) call(f32[2]{0} %p, (f32[], s32[]) %q), to_apply=%f\n}"),
	("names again", "HloModule m\nf { x = f32[] parameter(0)\n x.1 = f32[] negate(x)\n ROOT x.2 = f32[] abs(x.1) }\ng { x = f32[] parameter(0)\n"
	 " x.1 = f32[] negate(x)\n ROOT y.0 = f32[] abs(x.1) }\nENTRY e { x = f32[] parameter(0)\n y = f32[] call(x), to_apply=f\n ROOT y.1 = f32[] call(y), to_apply=g }"),
	("scheduled fusions", "HloModule m, is_scheduled=true\nf { a = f32[2]{0} parameter(0)\n ROOT b = f32[2]{0} negate(a) }\n"
	 "ENTRY e { x = f32[2]{0} parameter(0)\n u = f32[2]{0} abs(x)\n y = f32[2]{0} fusion(x), kind=kLoop, calls=f\n ROOT z = f32[2]{0} add(y, u) }"),
	("frames", "HloModule m\n\nFileNames\n1 \"a.py\"\n2 \"b.py\"\n\nFunctionNames\n1 \"f\"\n2 \"g\"\n\nFileLocations\n"
	 "1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=2}\n2 {file_name_id=2 function_name_id=2 line=3 end_line=4 column=5 end_column=6}\n"
	 "3 {file_name_id=2 function_name_id=1 line=3 end_line=4 column=5 end_column=6}\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=1}\n"
	 "2 {file_location_id=3 parent_frame_id=2}\n3 {file_location_id=2 parent_frame_id=2}\n4 {file_location_id=2 parent_frame_id=2}\n\n"
	 "ENTRY e { x = f32[] parameter(0), metadata={op_name=\"x\" stack_frame_id=4}\n y = f32[] negate(x), metadata={stack_frame_id=3}\n"
	 " z = f32[] negate(x), metadata={stack_frame_id=9}\n ROOT w = f32[] add(y, x), metadata={stack_frame_id=1} }"),
]


def framed(line, before="", header="", comps=""):
	text = (before + "\n  " if before else "") + "ROOT out = " + line
	return FRAME.format(header=header, comps=comps, line=text.replace("\n ", "\n "))


def programs():
	for op in UNARY:
		yield op, framed(f"f32[4] {op}(x)")
	for op in PRECISE:
		yield op + " highest", framed(f"f32[4] {op}(x), result_accuracy={{mode=highest}}")
	yield "accuracy default", framed("f32[4] sqrt(x), result_accuracy={mode=default}")
	yield "accuracy tolerance", framed("f32[4] sqrt(x), result_accuracy={tolerance={atol=0.5,rtol=1e-3,ulps=4}}")
	for op in BINARY:
		yield op, framed(f"f32[4] {op}(x, y)")
	for op in INTEGER:
		yield op + " int", framed(f"s32[4] {op}(i, i)")
	for direction in "EQ NE GE GT LE LT".split():
		yield "compare " + direction, framed(f"pred[4] compare(x, y), direction={direction}")
	for line in LINES:
		name, text, *before = line.split("|")
		yield name, framed(text, before[0] if before else "")
	for text in CONSTANTS:
		depth = 0
		for at, ch in enumerate(text):  # the space between the shape and the value
			depth += ch in "([{"
			depth -= ch in ")]}"
			if ch == " " and depth == 0:
				break
		yield "constant " + text, framed(f"{text[:at]} constant({text[at + 1:]})")
	for text in SHARDINGS:
		yield "loose sharding " + text, framed(f"f32[4] abs(x), sharding={text}")
		yield "loose tuple sharding " + text, framed(f"(f32[4], s32[]) tuple(x, k), sharding={{{text}, {{replicated}}}}")
		yield "loose single sharding " + text, framed(f"(f32[4], s32[]) tuple(x, k), sharding={text}")
	for text in NAMED:
		yield "newer sharding " + text, framed(f"f32[4] abs(x), sharding={text}")
	for header in HEADERS:
		yield "header " + header, framed("f32[4] abs(x)", header=header)
	for name, text in WHOLE:
		yield name, text
	yield "newer scan", framed("(f32[4], f32[]) scan(x, s), dimensions={0}, num_carries=1, is_reverse=true, is_associative=true, to_apply=sc",
		comps="sc {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] add(a, b)\n ROOT r = (f32[], f32[]) tuple(c, c)\n}")
	yield "newer mulhi", framed("s32[4] mulhi(i, i)")
	yield "newer scaled-dot", framed("f32[4,4] scaled-dot(m, n, m, n), lhs_contracting_dims={1}, rhs_contracting_dims={0}")
	yield "newer dynamic root", framed("f32[4] collective-broadcast(x), has_dynamic_root=true, replica_groups={{0,1}}")
	yield "newer composite", framed("f32[4] call(x), to_apply=branch, is_composite=true")
	yield "newer mesh groups", framed("f32[4] all-reduce(x), replica_groups=mesh['x'=2,'y'=2] {'x'}, to_apply=add")
	yield "newer convolution kind", framed("f32[1,5,5,5] convolution(img, ker), window={size=2x2}, dim_labels=b01f_01io->b01f, convolution_kind=fprop")


if __name__ == "__main__":
	print(len(list(programs())), "programs")
