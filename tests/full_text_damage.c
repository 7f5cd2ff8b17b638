/* full_text_damage.c - one real text cut short at every 23rd byte; four with bits flipped. */
#include "tests/text_damage.h"

static void cuts_are_seen(void)
{
	damage_cuts("diffrax.b380012920.hlo", 23);
}

static void flips_of_diffrax(void)
{
	damage_flips("diffrax.b380012920.hlo", 400);
}

static void flips_of_dlrm(void)
{
	damage_flips("dlrm_keras_jax_f32_train_step.hlo", 300);
}

static void flips_of_mass_matrix(void)
{
	damage_flips("bench_mass_matrix_35.hlo", 300);
}

static void flips_of_resnet(void)
{
	damage_flips("resnet50_keras_jax_f32.hlo", 400);
}

int main(void)
{
	RUN(flips_of_diffrax);
	RUN(flips_of_dlrm);
	RUN(flips_of_mass_matrix);
	RUN(flips_of_resnet);
	RUN(cuts_are_seen);
	return test_done();
}
