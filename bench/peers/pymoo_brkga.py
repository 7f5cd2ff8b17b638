"""BRKGA, the genetic algorithm with random keys that REGAL searches with, as pymoo has it; keys are decoded by
ground.py.

A tenth of the budget is a generation, at least 10: a quarter of it elite, a tenth mutants. The default is in the first
one.

needs: pymoo==0.6.2
"""
import numpy
from pymoo.algorithms.soo.nonconvex.brkga import BRKGA
from pymoo.core.problem import ElementwiseProblem
from pymoo.optimize import minimize

from ground import KEEP, Ground, Over


class Decisions(ElementwiseProblem):
    def __init__(self, ground):
        super().__init__(n_var=len(ground.choices), n_obj=1, xl=0.0, xu=1.0)
        self.ground = ground

    def _evaluate(self, x, out, *args, **kwargs):
        default = (x < KEEP).all()
        out["F"] = 0.0 if default else self.ground.cost(self.ground.of_keys(x))


def play(arena, rng):
    ground = Ground(arena)
    if not ground.choices:
        return
    people = max(10, ground.left() // 10)
    elite, mutants = max(2, people // 4), max(1, people // 10)
    first = numpy.random.default_rng(rng.randrange(2 ** 31)).random((people, len(ground.choices)))
    first[0] = KEEP / 2
    algorithm = BRKGA(n_elites=elite, n_offsprings=people - elite - mutants, n_mutants=mutants, sampling=first)
    try:
        minimize(Decisions(ground), algorithm, ("n_gen", 10 ** 6), seed=rng.randrange(2 ** 31))
    except Over:
        pass
