#!/usr/bin/env python3
"""An HLO file out of TensorFlow: a training step of a small network.

    pip install tensorflow-cpu
    from_tensorflow.py model.pb

Only `save` matters: copy it. It runs nothing, so arguments may be tensors or tf.TensorSpec. Variables
that the function reads become parameters, those it assigns become results.
"""
import pathlib
import sys

import tensorflow as tf


def save(path, function, *arguments):
    compiled = tf.function(function, jit_compile=True)
    module = compiled.experimental_get_compiler_ir(*arguments)(stage="hlo_serialized")
    pathlib.Path(path).write_bytes(module)


weights = [tf.Variable(tf.random.normal(shape)) for shape in ((64, 256), (256,), (256, 8), (8,))]


def step(x, y):
    w1, b1, w2, b2 = weights
    with tf.GradientTape() as tape:
        guess = tf.matmul(tf.nn.gelu(tf.matmul(x, w1) + b1), w2) + b2
        loss = tf.reduce_mean(tf.square(guess - y))
    for w, g in zip(weights, tape.gradient(loss, weights)):
        w.assign_sub(0.01 * g)
    return loss


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: from_tensorflow.py FILE")
    save(sys.argv[1], step, tf.TensorSpec((128, 64)), tf.TensorSpec((128, 8)))
