"""Training set: models of images (ResNet, MLP-mixer, VAE)."""
import jax
import jax.numpy as jnp

from nn import Adam, Momentum, batch_norm, conv, cross_entropy, dense, f32, grow, i32, layer_norm, mlp, train


def resnet(p, image, label, widths=(8, 16, 32), blocks=3):
    """Twenty layers for small images, with a projection where the shape changes."""
    x = jax.nn.relu(batch_norm(p, conv(p, image, widths[0])))
    for width in widths:
        for i in range(blocks):
            stride = 2 if i == 0 and width != widths[0] else 1
            y = jax.nn.relu(batch_norm(p, conv(p, x, width, stride=stride)))
            y = batch_norm(p, conv(p, y, width))
            if x.shape != y.shape:
                x = batch_norm(p, conv(p, x, width, k=1, stride=stride))
            x = jax.nn.relu(x + y)
    return jnp.mean(cross_entropy(dense(p, jnp.mean(x, (1, 2)), 10), label))


def mixer(p, image, label, layers=6, patch=4, d=48):
    """MLP-mixer: one perceptron over places, one over channels, alternating."""
    b, h, w, c = image.shape
    x = image.reshape(b, h // patch, patch, w // patch, patch, c).transpose(0, 1, 3, 2, 4, 5)
    x = dense(p, x.reshape(b, h * w // patch ** 2, patch * patch * c), d)
    for _ in range(layers):
        y = layer_norm(p, x).swapaxes(1, 2)
        x = x + mlp(p, y, 2 * y.shape[-1], y.shape[-1], act=jax.nn.gelu).swapaxes(1, 2)
        x = x + mlp(p, layer_norm(p, x), 3 * d, d, act=jax.nn.gelu)
    loss = cross_entropy(dense(p, jnp.mean(layer_norm(p, x), 1), 10), label)
    return jnp.mean(loss)


def gauss(key, mean, log_deviation):
    return mean + jnp.exp(log_deviation) * jax.random.normal(key, mean.shape)


def divergence(mean, log_deviation, mean2=0.0, log_deviation2=0.0):
    """Kullback-Leibler, of two Gaussians, per example."""
    d = log_deviation2 - log_deviation
    spread = (jnp.exp(-2 * d) + jnp.square(mean - mean2) * jnp.exp(-2 * log_deviation2)) / 2
    return jnp.sum(d + spread - 0.5, -1)


def vae(p, image, key, d=64, latent=16):
    """Two layers of latent variables, convolutions in and out, noise drawn in the program."""
    key1, key2 = jax.random.split(key)
    b = image.shape[0]
    x = image
    for width in (8, 16, 32):
        x = jax.nn.elu(conv(p, x, width, stride=2) + p(width))
    side, deep = x.shape[1], x.shape[-1]
    x = jax.nn.elu(dense(p, x.reshape(b, -1), d))
    mean1, dev1 = jnp.split(dense(p, x, 2 * latent), 2, -1)
    z1 = gauss(key1, mean1, jnp.tanh(dev1))
    mean2, dev2 = jnp.split(mlp(p, z1, d, 2 * latent, act=jax.nn.elu), 2, -1)
    z2 = gauss(key2, mean2, jnp.tanh(dev2))
    prior, prior_dev = jnp.split(mlp(p, z2, d, 2 * latent, act=jax.nn.elu), 2, -1)
    kl = divergence(mean1, jnp.tanh(dev1), prior, jnp.tanh(prior_dev)) + divergence(mean2, jnp.tanh(dev2))

    y = jax.nn.elu(mlp(p, jnp.concatenate([z1, z2], -1), d, side * side * deep, act=jax.nn.elu))
    y = y.reshape(b, side, side, deep)
    for width in (16, 8, 8):
        y = jax.nn.elu(conv(p, grow(y), width) + p(width))
    logits = conv(p, y, image.shape[-1]) + p(image.shape[-1])
    error = jnp.maximum(logits, 0) - logits * (image + 0.5) + jnp.log1p(jnp.exp(-jnp.abs(logits)))
    return jnp.mean(jnp.sum(error, (1, 2, 3)) + kl)


GRAPHS = {
    "resnet": lambda: train(resnet, Momentum(decay=5e-4), f32(4, 16, 16, 3), i32(4)),
    "mixer": lambda: train(mixer, Adam(), f32(4, 32, 32, 3), i32(4)),
    "vae": lambda: train(vae, Adam(), f32(8, 16, 16, 1), jax.ShapeDtypeStruct((2,), jnp.uint32)),
}
