/* full_text_damage.c - one real text cut short at every byte; all of them with bits flipped. */
#include "tests/text_damage.h"

static void every_cut_is_seen(void)
{
	damage_cuts("diffrax.b380012920.hlo", 1);
}

static void flips_of_diffrax(void)
{
	damage_flips("diffrax.b380012920.hlo", 3000);
}

static void flips_of_dlrm(void)
{
	damage_flips("dlrm_keras_jax_f32_train_step.hlo", 2000);
}

static void flips_of_mass_matrix(void)
{
	damage_flips("bench_mass_matrix_35.hlo", 2000);
}

static void flips_of_resnet(void)
{
	damage_flips("resnet50_keras_jax_f32.hlo", 1000);
}

int main(void)
{
	RUN(flips_of_diffrax);
	RUN(flips_of_dlrm);
	RUN(flips_of_mass_matrix);
	RUN(flips_of_resnet);
	RUN(every_cut_is_seen);
	return test_done();
}
