"""Held out: convolutional networks for small devices, MNasNet and SSD-MobileNet."""
import jax
import jax.numpy as jnp
from jax import lax

from nn import RMSProp, batch_norm, conv, cross_entropy, dense, f32, i32, lookup, train


def normal(p, x, n, k=1, stride=1, groups=1, act=jax.nn.relu6):
    return act(batch_norm(p, conv(p, x, n, k, stride, groups)))


def depthwise(p, x, k=3, stride=1):
    return normal(p, x, x.shape[-1], k, stride, groups=x.shape[-1])


def inverted(p, x, n, wider, k, stride, squeezed):
    """Inverted residual: wider, depthwise, perhaps squeeze and excite, narrow again without activation."""
    y = depthwise(p, normal(p, x, x.shape[-1] * wider), k, stride)
    if squeezed:
        short = jax.nn.relu(dense(p, jnp.mean(y, (1, 2)), max(2, x.shape[-1] // 4)))
        y = y * jax.nn.sigmoid(dense(p, short, y.shape[-1]))[:, None, None]
    y = normal(p, y, n, act=lambda v: v)
    return x + y if x.shape == y.shape else y


# MNasNet-A1: width, how much wider inside, kernel, stride, squeeze and excite, repeats.
A1 = [(24, 6, 3, 2, False, 2), (40, 3, 5, 2, True, 3), (80, 6, 3, 2, False, 4), (112, 6, 3, 1, True, 2),
      (160, 6, 5, 2, True, 3), (320, 6, 3, 1, False, 1)]


def mnasnet(p, image, label, width=1 / 8, classes=16):
    scale = lambda n: max(2, int(n * width))
    x = normal(p, image, scale(32), k=3, stride=2)
    x = normal(p, depthwise(p, x), scale(16), act=lambda v: v)
    for n, wider, k, stride, squeezed, repeats in A1:
        for i in range(repeats):
            x = inverted(p, x, scale(n), wider, k, stride if i == 0 else 1, squeezed)
    x = jnp.mean(normal(p, x, scale(1280)), (1, 2))
    logits = dense(p, x, classes)
    smooth = -jnp.mean(jax.nn.log_softmax(logits), -1)
    return jnp.mean(0.9 * cross_entropy(logits, label) + 0.1 * smooth)


# SSD: boxes are centre and size (y, x, h, w) in parts of the image.

def anchors(sides, shapes):
    """All anchors of all levels: the grids are computed in the program, as detectors do."""
    levels = []
    for level, side in enumerate(sides):
        size = 0.2 + 0.75 * level / (len(sides) - 1)
        at = (jnp.arange(side) + 0.5) / side
        y, x = (a[..., None] for a in jnp.meshgrid(at, at, indexing="ij"))
        ratio = jnp.asarray([1.0, 2.0, 0.5, 3.0, 1 / 3, 1.0])[:shapes[level]]
        h, w = size / jnp.sqrt(ratio), size * jnp.sqrt(ratio)
        grid = jnp.broadcast_arrays(y, x, h, w)
        levels.append(jnp.stack([g.reshape(-1) for g in grid], -1))
    return jnp.concatenate(levels)


def corners(box):
    return box[..., :2] - box[..., 2:] / 2, box[..., :2] + box[..., 2:] / 2


def centred(low, high):
    return jnp.concatenate([(low + high) / 2, high - low], -1)


def overlap(a, b):
    """Intersection over union of every box of a with every box of b."""
    (a0, a1), (b0, b1) = corners(a[:, None]), corners(b[None])
    size = jnp.maximum(jnp.minimum(a1, b1) - jnp.maximum(a0, b0), 0)
    both = size[..., 0] * size[..., 1]
    return both / (jnp.abs(a[:, None, 2] * a[:, None, 3] + b[None, :, 2] * b[None, :, 3] - both) + 1e-6)


def hue_saturation_value(image):
    r, g, b = jnp.moveaxis(image, -1, 0)
    value = jnp.maximum(jnp.maximum(r, g), b)
    spread = value - jnp.minimum(jnp.minimum(r, g), b)
    by = spread + 1e-6
    sector = jnp.where(value == r, (g - b) / by, jnp.where(value == g, (b - r) / by + 2, (r - g) / by + 4))
    return sector / 6, spread / (value + 1e-6), value


def red_green_blue(hue, saturation, value):
    hue = 6 * (hue - jnp.floor(hue))

    def channel(n):
        k = hue + n
        k = jnp.where(k >= 6, k - 6, k)
        return value * (1 - saturation * jnp.clip(jnp.minimum(k, 4 - k), 0, 1))

    return jnp.stack([channel(5.0), channel(3.0), channel(1.0)], -1)


def distort(image, dice):
    """Changes of light and colour, each made or not by chance, the contrast before or after the others."""
    maybe = lambda chance, new, old: jnp.where(chance > 0, new, old)

    def contrast(x):
        mean = jnp.mean(x, (0, 1))
        return maybe(dice[1], jnp.clip((x - mean) * (1 + dice[2]) + mean, 0, 1), x)

    image = jnp.clip(image + 0.5, 0, 1)
    image = maybe(dice[0], jnp.clip(image + dice[0] / 4, 0, 1), image)
    early = dice[3] > 0
    image = jnp.where(early, contrast(image), image)
    hue, saturation, value = hue_saturation_value(image)
    saturation = maybe(dice[4], jnp.clip(saturation * (0.5 + 2 * dice[4]), 0, 1), saturation)
    hue = maybe(dice[5], hue + dice[6] / 10, hue)
    image = red_green_blue(hue, saturation, value)
    image = jnp.where(early, image, contrast(image))
    return image * 2 - 1


def move(image, boxes, dice):
    """Mirrors and shifts one image; a box whose centre leaves the image no longer counts."""
    mirrored = dice[0] > 0
    image = jnp.where(mirrored, image[:, ::-1], image)
    y, x, h, w = jnp.moveaxis(boxes, -1, 0)
    boxes = jnp.stack([y + 0.5, jnp.where(mirrored, 0.5 - x, x + 0.5), jnp.abs(h), jnp.abs(w)], -1)

    n, edge = image.shape[0], image.shape[0] // 8
    shift = ((dice[1:3] + 0.5) * 2 * edge).astype(jnp.int32)
    wide = jnp.pad(image, ((edge, edge), (edge, edge), (0, 0)))
    image = lax.dynamic_slice(wide, (shift[0], shift[1], 0), (n, n, 3))
    low, high = (x - (shift - edge) / n for x in corners(boxes))
    middle = (low + high) / 2
    inside = jnp.all((middle > 0) & (middle < 1), -1)
    return image, centred(jnp.clip(low, 0, 1), jnp.clip(high, 0, 1)), inside


def assign(anchor, boxes, labels, valid):
    """What each anchor of one image should say: class (0: background) and box; whether it has one, and
    whether it has none (between the two thresholds neither is asked of it)."""
    iou = jnp.where(valid, overlap(anchor, boxes), -1.0)
    best, which = jnp.max(iou, 1), jnp.argmax(iou, 1)
    closest = jnp.argmax(iou, 0)
    for g in range(boxes.shape[0]):  # each box gets the anchor that fits it best, whatever the overlap
        forced = (jnp.arange(anchor.shape[0]) == closest[g]) & valid[g]
        best, which = jnp.where(forced, 1.0, best), jnp.where(forced, g, which)
    found, empty = best > 0.5, best < 0.4
    box = lookup(boxes, which)
    shift = (box[:, :2] - anchor[:, :2]) / anchor[:, 2:] / 0.1
    stretch = jnp.log(jnp.maximum(box[:, 2:], 1e-3) / anchor[:, 2:]) / 0.2
    return jnp.where(found, lookup(labels, which) + 1, 0), jnp.concatenate([shift, stretch], -1), found, empty


def decoded(anchor, offsets):
    middle = offsets[:, :2] * 0.1 * anchor[:, 2:] + anchor[:, :2]
    return jnp.concatenate([middle, jnp.exp(jnp.clip(offsets[:, 2:] * 0.2, -4, 4)) * anchor[:, 2:]], -1)


def hardest(anchor, offsets, loss, candidates, wanted):
    """The anchors of highest loss, at most `wanted`, leaving out those that nearly repeat a worse one."""
    twins = overlap(*[decoded(anchor, offsets)] * 2) > 0.8
    score = jnp.where(candidates, loss, -1.0)
    repeats = twins & (score[None] > score[:, None])
    score = jnp.where(jnp.any(repeats, 1), -1.0, score)
    limit = lax.dynamic_index_in_dim(jnp.sort(score)[::-1], jnp.minimum(wanted, score.shape[0] - 1), keepdims=False)
    return (score > limit) & (score > 0)


def detection_loss(anchor, logits, offsets, target, box, found, empty):
    """One image: boxes where there is one; classes there, and at three times as many hard examples of none."""
    loss = cross_entropy(logits, target)
    error = jnp.abs(offsets - box)
    smooth = jnp.sum(jnp.where(error < 1, 0.5 * error * error, error - 0.5), -1)
    n = jnp.sum(found)
    hard = lax.stop_gradient(hardest(anchor, offsets, loss, empty, 3 * n))
    scale = jnp.maximum(n, 1).astype(jnp.float32)
    return jnp.sum(jnp.where(found, smooth, 0)) / scale, jnp.sum(jnp.where(found | hard, loss, 0)) / scale


# MobileNet: width, stride. The levels for detection are taken after number 11, the last, and four more.
BLOCKS = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1)] + [(512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]
EXTRA = [(256, 512), (128, 256), (128, 256), (64, 128)]


def ssd(p, images, boxes, labels, dice, width=1 / 16, classes=12):
    """A detector's training step. As detectors commonly do, what differs from image to image
    (augmentation, assigning boxes to anchors, mining of hard examples) is done image by image."""
    b = images.shape[0]
    scale = lambda n: max(4, int(n * width))
    moved = [move(distort(images[i], dice[i]), boxes[i], dice[i, 7:]) for i in range(b)]
    x = normal(p, jnp.stack([image for image, _, _ in moved]), scale(32), k=3, stride=2)
    levels = []
    for i, (n, stride) in enumerate(BLOCKS):
        x = normal(p, depthwise(p, x, stride=stride), scale(n))
        if i in (10, 12):
            levels.append(x)
    for narrow, n in EXTRA:
        x = normal(p, normal(p, x, scale(narrow)), scale(n), k=3, stride=2)
        levels.append(x)

    shapes = [3] + [6] * 5
    logits, offsets = [], []
    for level, k in zip(levels, shapes):
        y = conv(p, depthwise(p, level), k * classes, k=1) + p(k * classes)
        logits.append(y.reshape(b, -1, classes))
        y = conv(p, depthwise(p, level), k * 4, k=1) + p(k * 4)
        offsets.append(y.reshape(b, -1, 4))
    logits, offsets = jnp.concatenate(logits, 1), jnp.concatenate(offsets, 1)

    anchor = anchors([level.shape[1] for level in levels], shapes)
    total = 0
    for i in range(b):
        _, truth, valid = moved[i]
        where, what = detection_loss(anchor, logits[i], offsets[i], *assign(anchor, truth, labels[i], valid))
        total = total + where + what
    return total / b


GRAPHS = {
    "mnasnet": lambda: train(mnasnet, RMSProp(), f32(2, 32, 32, 3), i32(2)),
    "ssd-mobilenet": lambda: train(ssd, RMSProp(), f32(32, 40, 40, 3), f32(32, 8, 4),
                                   i32(32, 8), f32(32, 10)),
}
