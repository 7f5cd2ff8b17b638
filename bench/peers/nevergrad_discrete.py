"""Nevergrad's discrete (1+1) with Lengler's schedule of mutation rates: of its discrete optimisers the one with the
most proofs.

needs: nevergrad==1.0.12
"""
import nevergrad

from ground import Ground, Over


def play(arena, rng):
    ground = Ground(arena)
    # One parameter with many values: a parameter for each class makes an ask take a second.
    space = nevergrad.p.Choice(list(range(max(ground.choices, default=1))), repetitions=max(len(ground.choices), 1),
                               deterministic=True)
    space.random_state.seed(rng.randrange(2 ** 31))
    optimiser = nevergrad.optimizers.registry["DiscreteLenglerOnePlusOne"](space, budget=max(ground.left(), 1))
    begin = space.spawn_child(new_value=tuple(ground.start))
    optimiser.tell(begin, 0.0)
    try:
        while True:
            asked = optimiser.ask()
            optimiser.tell(asked, ground.cost(asked.value))
    except Over:
        pass
