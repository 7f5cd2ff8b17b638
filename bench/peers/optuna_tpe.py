"""Optuna's TPE: a density of good and one of bad values for each class alone, or, with few classes, for all together.

needs: optuna==5.0.0
"""
import optuna

from ground import Ground, Over

optuna.logging.set_verbosity(optuna.logging.ERROR)


def sampler(seed, ground):
    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=min(10, ground.left() // 4))


def play(arena, rng, sampler=sampler):
    ground = Ground(arena)
    kinds = {f"c{i}": optuna.distributions.CategoricalDistribution(list(range(n))) for i,
             n in enumerate(ground.choices)}
    study = optuna.create_study(sampler=sampler(rng.randrange(2 ** 31), ground))
    study.add_trial(optuna.trial.create_trial(params={f"c{i}": c for i, c in enumerate(ground.start)},
                                              distributions=kinds, value=0.0))
    try:
        while True:
            trial = study.ask(kinds)
            study.tell(trial, ground.cost([trial.params[name] for name in kinds]))
    except Over:
        pass
