"""Surfaces, textures and samplers as arguments."""

import numpy as np
import pytest

import warploom

COPY = """
.version 7.0
.target sm_50
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 into)
{
    .reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .f32 %f<4>;
    ld.param.u64 %rd0, [from];
    ld.param.u64 %rd1, [into];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %tid.y;
    tex.2d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%rd0, {%r0, %r1}];
    mov.b32 %r2, %f0;
    shl.b32 %r3, %r0, 2;
    sust.b.2d.b32.trap [%rd1, {%r3, %r1}], {%r2};
    ret;
}
"""


def test_a_texture_and_a_surface():
    kernel = warploom.load(COPY.encode()).kernels["copy"]
    texels = np.random.default_rng(1).random((5, 8), np.float32)
    for layout in ("pitch", "block_linear"):
        for _ in range(2):
            into = np.zeros((5, 8), np.float32)
            kernel[1, (8, 5)](warploom.Texture(texels), warploom.Surface(into, layout=layout))
            assert np.array_equal(into, texels)
    # Repeated texels beyond the edge, and an array that is not contiguous.
    wide = np.zeros((5, 16), np.float32)
    target = wide[:, ::2]
    texture = warploom.Texture(texels[:, ::-1], address="repeat", normalized=False)
    kernel[1, (8, 5)](texture, warploom.Surface(target))
    assert np.array_equal(target, texels[:, ::-1]) and not wide[:, 1::2].any()


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: warploom.Surface(np.zeros((4, 4))), "an array of float64: name the format"),
        (lambda: warploom.Surface(np.zeros((4, 4), np.float32), "r32"), "format `r32`: expected a name"),
        (
            lambda: warploom.Surface(np.zeros((4, 4), np.float32), "r32_uint"),
            "elements of uint32: the array has float32",
        ),
        (lambda: warploom.Surface(np.zeros((4, 3), np.uint8), "rgba8_unorm"), "a last axis of 4"),
        (lambda: warploom.Surface(np.zeros((0, 4), np.float32)), "no empty one"),
        (lambda: warploom.Surface(3.5), "a surface of float: expected an array"),
    ],
)
def test_wrong_surfaces(make, message):
    with pytest.raises(warploom.Error, match=message):
        make()


def test_wrong_names():
    kernel = warploom.load(COPY.encode()).kernels["copy"]
    texels = np.zeros((4, 4), np.float32)
    with pytest.raises(warploom.Error, match="texture 0: .*nearest"):
        kernel[1, 1](warploom.Texture(texels, filter="cubic"), warploom.Surface(texels.copy()))
    with pytest.raises(warploom.Error, match="surface 0: .*2d"):
        kernel[1, 1](warploom.Surface(texels, dim="4d"), warploom.Surface(texels.copy()))

