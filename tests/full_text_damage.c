/*
 * full_text_damage.c - one real text is cut short at every 97th byte, and four have bits flipped. LONG_TESTS=1 tries
 * four times as many.
 */
#include "tests/text_damage.h"

static unsigned more(void)
{
	return getenv("LONG_TESTS") ? 4 : 1;
}

static void cuts_are_seen(void)
{
	damage_cuts("diffrax.b380012920.hlo", 97 / more());
}

static void flips_of_diffrax(void)
{
	damage_flips("diffrax.b380012920.hlo", 100 * more());
}

static void flips_of_dlrm(void)
{
	damage_flips("dlrm_keras_jax_f32_train_step.hlo", 75 * more());
}

static void flips_of_mass_matrix(void)
{
	damage_flips("bench_mass_matrix_35.hlo", 75 * more());
}

static void flips_of_resnet(void)
{
	damage_flips("resnet50_keras_jax_f32.hlo", 100 * more());
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
