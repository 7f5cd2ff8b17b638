"""CMA-ES, separable since there are hundreds of keys (ground.py), begun at the default: the package behind Optuna's
sampler of that name.

needs: cmaes==0.13.1
"""
import cmaes
import numpy

from ground import KEEP, Ground, Over


def play(arena, rng):
    ground = Ground(arena)
    n = len(ground.choices)
    if not n:
        return
    optimiser = cmaes.SepCMA(mean=numpy.full(n, KEEP / 2), sigma=KEEP / 4, bounds=numpy.array([[0.0, 1.0]] * n),
                             seed=rng.randrange(2 ** 31))
    try:
        while True:
            asked = [optimiser.ask() for _ in range(optimiser.population_size)]
            optimiser.tell([(keys, ground.cost(ground.of_keys(keys))) for keys in asked])
    except Over:
        pass
