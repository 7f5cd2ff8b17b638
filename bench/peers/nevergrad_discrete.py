"""Nevergrad's discrete (1+1) with Lengler's schedule of mutation rates: of its discrete optimisers the one with the most proofs.

needs: nevergrad==1.0.12
"""
import nevergrad

from ground import Ground, Over


def play(arena, rng):
    ground = Ground(arena)
    choices = [nevergrad.p.Choice(list(range(n)), deterministic=True) for n in ground.choices]
    space = nevergrad.p.Tuple(*choices)
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
