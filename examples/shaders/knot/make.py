#!/usr/bin/env python3
"""A torus knot for the programs here, and what they should make of it: NumPy in doubles, a picture by a depth buffer of its own. Writes into this folder."""
import pathlib, struct, zlib
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
AROUND, ACROSS, WIDTH, HEIGHT = 160, 12, 480, 360
f32, u32 = np.float32, np.uint32


def knot():
    """Places, normals and texture coordinates of a tube around a (2, 3) torus knot."""
    t = np.linspace(0, 2 * np.pi, AROUND + 1)
    centre = lambda t: np.stack([(2 + np.cos(3 * t)) * np.cos(2 * t), (2 + np.cos(3 * t)) * np.sin(2 * t), 1.3 * np.sin(3 * t)], 1)
    along = centre(t + 1e-4) - centre(t - 1e-4)
    along /= np.linalg.norm(along, axis=1)[:, None]
    side = np.cross(along, [0, 0, 1.0])
    side /= np.linalg.norm(side, axis=1)[:, None]
    up = np.cross(side, along)
    s = np.linspace(0, 2 * np.pi, ACROSS + 1)
    normal = np.cos(s)[None, :, None] * side[:, None] + np.sin(s)[None, :, None] * up[:, None]
    place = centre(t)[:, None] + 0.55 * normal
    coordinate = np.stack(np.broadcast_arrays(t[:, None] / (2 * np.pi), s[None, :] / (2 * np.pi)), 2)
    return place.reshape(-1, 3), normal.reshape(-1, 3), coordinate.reshape(-1, 2)


def indices():
    i, j = np.meshgrid(np.arange(AROUND), np.arange(ACROSS), indexing="ij")
    a = i * (ACROSS + 1) + j
    b, c, d = a + 1, a + ACROSS + 1, a + ACROSS + 2
    return np.stack([a, c, b, b, c, d], 2).reshape(-1).astype(u32)


def camera():
    """The matrix from the knot to clip coordinates (Vulkan's: y down, depths 0 to 1), and one that turns directions."""
    x, z = np.radians(-35), np.radians(20)
    turn = np.array([[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]]) @ np.array([[np.cos(z), -np.sin(z), 0], [np.sin(z), np.cos(z), 0], [0, 0, 1]])
    view = np.eye(4)
    view[:3, :3], view[2, 3] = turn, -8.5
    near, far, scale = 2.0, 20.0, 1 / np.tan(np.radians(25))
    projection = np.zeros((4, 4))
    projection[0, 0], projection[1, 1], projection[3, 2] = scale * HEIGHT / WIDTH, -scale, -1
    projection[2, 2], projection[2, 3] = far / (near - far), near * far / (near - far)
    turned = np.eye(4)
    turned[:3, :3] = turn
    return projection @ view, turned


def clamped(colour):
    return np.clip(colour, 0, 1), np.ones(len(colour), bool)


def picture(clip, attributes, triangles, shade=clamped):
    """Nearest first, of pixels' centres. `shade` makes colours of attributes, and says which pixels are kept."""
    image, depth = np.zeros((HEIGHT, WIDTH, 4), np.uint8), np.full((HEIGHT, WIDTH), np.inf)
    w = clip[:, 3]
    x, y, z = (clip[:, 0] / w + 1) * WIDTH / 2, (clip[:, 1] / w + 1) * HEIGHT / 2, clip[:, 2] / w
    for t in triangles.reshape(-1, 3):
        px, py = x[t], y[t]
        x0, x1, y0, y1 = int(max(px.min(), 0)), int(min(px.max() + 1, WIDTH)), int(max(py.min(), 0)), int(min(py.max() + 1, HEIGHT))
        if x0 >= x1 or y0 >= y1:
            continue
        gx, gy = np.meshgrid(np.arange(x0, x1) + 0.5, np.arange(y0, y1) + 0.5)
        area = (px[1] - px[0]) * (py[2] - py[0]) - (py[1] - py[0]) * (px[2] - px[0])
        if area == 0:
            continue
        l1 = ((gx - px[0]) * (py[2] - py[0]) - (gy - py[0]) * (px[2] - px[0])) / area
        l2 = ((px[1] - px[0]) * (gy - py[0]) - (py[1] - py[0]) * (gx - px[0])) / area
        l = np.stack([1 - l1 - l2, l1, l2], -1)
        d = l @ z[t]
        inside = (l >= 0).all(-1) & (d < depth[y0:y1, x0:x1])
        over = l / w[t]
        weights = over / over.sum(-1, keepdims=True)
        c, kept = shade((weights @ attributes[t])[inside])
        inside[inside] = kept
        depth[y0:y1, x0:x1][inside] = d[inside]
        image[y0:y1, x0:x1][inside] = np.concatenate([np.rint(c[kept] * 255), np.full((inside.sum(), 1), 255)], 1)
    return image


def png(path, image):
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], 8, 6, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


place, normal, coordinate = knot()
matrix, turn = camera()
count = len(place)
vertices = np.zeros((count, 32), np.uint8)
place = place.astype(f32)
bytes_of_normal = np.rint(normal * 127).astype(np.int8)
vertices[:, 0:12] = place.view(np.uint8).reshape(count, 12)
vertices[:, 12:15] = bytes_of_normal.view(np.uint8)
vertices[:, 16:24] = coordinate.astype(f32).view(np.uint8).reshape(count, 8)
matrices = np.stack([matrix.T, turn.T]).astype(f32)
clip = np.concatenate([place.astype(float), np.ones((count, 1))], 1) @ matrices[0].astype(float)
direction = (bytes_of_normal / 127.0) @ matrices[1, :3, :3].astype(float)
direction /= np.linalg.norm(direction, axis=1)[:, None]
uv = coordinate.astype(f32).astype(float) * [2, 3] + [0.25, -0.5]
triangles = indices()
for name, array in {
    "vertices": vertices, "indices": triangles, "camera": matrices.reshape(-1), "pos0": clip.astype(f32),
    "param0": np.concatenate([direction, uv[:, :1]], 1).astype(f32), "param1": uv[:, 1:].astype(f32),
}.items():
    np.save(HERE / f"{name}.npy", array)
png(HERE / "knot.png", picture(clip, direction * 0.5 + 0.5, triangles))
