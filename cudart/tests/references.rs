//! Texture and surface references, and other functions that differ in CUDA 11.

mod support;

use std::ffi::c_void;

use support::{Dim3, HOST_TO_DEVICE, KernelNode, Runtime, address, call, ok, param};

/// `read` and `linear` copy a row of a texture to memory. `write` writes a row of a surface.
const KERNELS: &[u8] = b"
.version 6.0
.target sm_60
.address_size 64
.global .texref sky;
.global .surfref ground;
.visible .entry read(.param .u64 to) {
    .reg .u64 %t, %o;
    .reg .u32 %x, %y, %a, %b, %c, %d;
    ld.param.u64 %t, [to];
    mov.u32 %x, %tid.x;
    mov.u32 %y, 1;
    tex.2d.v4.u32.s32 {%a, %b, %c, %d}, [sky, {%x, %y}];
    mul.wide.u32 %o, %x, 4;
    add.u64 %t, %t, %o;
    st.global.u32 [%t], %a;
    exit;
}
.visible .entry linear(.param .u64 to) {
    .reg .u64 %t, %o;
    .reg .u32 %x, %a, %b, %c, %d;
    ld.param.u64 %t, [to];
    mov.u32 %x, %tid.x;
    tex.1d.v4.u32.s32 {%a, %b, %c, %d}, [sky, {%x}];
    mul.wide.u32 %o, %x, 4;
    add.u64 %t, %t, %o;
    st.global.u32 [%t], %a;
    exit;
}
.visible .entry write() {
    .reg .u32 %x, %y, %a;
    mov.u32 %x, %tid.x;
    add.u32 %a, %x, 500;
    shl.b32 %x, %x, 2;
    mov.u32 %y, 1;
    sust.b.2d.b32.trap [ground, {%x, %y}], {%a};
    exit;
}
\0";

static READ: u8 = 0;
static LINEAR: u8 = 1;
static WRITE: u8 = 2;

/// A `textureReference` with integer coordinates and clamped edges, and the surface's structure.
static SKY: [u32; 31] = {
    let mut sky = [0; 31];
    (sky[2], sky[3], sky[4]) = (1, 1, 1);
    sky
};
static GROUND: [u32; 5] = [0; 5];

const INVALID_TEXTURE: i32 = 18;
const INVALID_TEXTURE_BINDING: i32 = 19;
/// `cudaChannelFormatDesc`: one unsigned number of 32 bits.
const WORDS: [i32; 5] = [32, 0, 0, 0, 1];

fn registered(r: &Runtime) {
    const PTX: u16 = 1;
    let binary = r.register(PTX, 60, KERNELS);
    for (stub, name) in
        [(address(&READ), c"read"), (address(&LINEAR), c"linear"), (address(&WRITE), c"write")]
    {
        r.register_kernel(binary, stub, name);
    }
    call!(r, __cudaRegisterTexture(
        binary => u64, address(&SKY) => u64, 0 => u64, c"sky".as_ptr() => *const i8, 2 => i32, 0 => i32, 0 => i32,
    ));
    call!(r, __cudaRegisterSurface(
        binary => u64, address(&GROUND) => u64, 0 => u64, c"ground".as_ptr() => *const i8, 2 => i32, 0 => i32,
    ));
}

/// Returns the texels that a kernel reads.
fn read(r: &Runtime, stub: u64) -> Vec<u32> {
    let to = r.alloc(32);
    assert_eq!(r.launch(stub, 32, &[param(&to)], 0), 0);
    r.words(to, 32)
}

#[test]
fn memory_is_bound_to_textures_and_surfaces() {
    let r = Runtime::get();
    registered(r);
    let sky = address(&SKY);
    let mut offset = 9_usize;
    assert_eq!(
        call!(r, cudaGetTextureAlignmentOffset(&mut offset => *mut usize, sky => u64)),
        INVALID_TEXTURE_BINDING
    );
    assert_eq!(call!(r, cudaUnbindTexture(address(&offset) => u64)), INVALID_TEXTURE);

    let numbers: Vec<u32> = (0..96).map(|i| i * i).collect();
    let (mut array, format) = (0_u64, WORDS.as_ptr());
    ok!(r, cudaMallocArray(&mut array => *mut u64, format => *const i32, 32 => usize, 2 => usize, 0 => u32));
    ok!(r, cudaMemcpyToArray(
        array => u64, 0 => usize, 0 => usize, numbers.as_ptr() => *const u32, 256 => usize, HOST_TO_DEVICE => i32,
    ));
    ok!(r, cudaBindTextureToArray(sky => u64, array => u64, format => *const i32));
    assert_eq!(read(r, address(&READ)), numbers[32..64]);

    ok!(r, cudaBindSurfaceToArray(address(&GROUND) => u64, array => u64, format => *const i32));
    assert_eq!(r.launch(address(&WRITE), 32, &[], 0), 0);
    let written: Vec<u32> = (500..532).collect();
    assert_eq!(read(r, address(&READ)), written);

    let (mut rows, mut pitch) = (0_u64, 0_usize);
    ok!(r, cudaMallocPitch(&mut rows => *mut u64, &mut pitch => *mut usize, 128 => usize, 2 => usize));
    ok!(r, cudaMemcpy2D(
        rows => u64, pitch => usize, numbers[32..].as_ptr() => *const u32, 128 => usize, 128 => usize, 2 => usize,
        HOST_TO_DEVICE => i32,
    ));
    ok!(r, cudaBindTexture2D(
        &mut offset => *mut usize, sky => u64, rows => u64, format => *const i32, 32 => usize, 2 => usize, pitch => usize,
    ));
    assert_eq!((read(r, address(&READ)), offset), (numbers[64..].to_vec(), 0));

    // The default size in C++.
    let all = u32::MAX as usize;
    ok!(r, cudaMemcpy(rows => u64, numbers.as_ptr() => *const u32, 128 => usize, HOST_TO_DEVICE => i32));
    ok!(r, cudaBindTexture(0 => u64, sky => u64, rows => u64, format => *const i32, all => usize));
    assert_eq!(read(r, address(&LINEAR)), numbers[..32]);
    ok!(r, cudaGetTextureAlignmentOffset(&mut offset => *mut usize, sky => u64));
    ok!(r, cudaUnbindTexture(sky => u64));
    assert_eq!(
        call!(r, cudaGetTextureAlignmentOffset(&mut offset => *mut usize, sky => u64)),
        INVALID_TEXTURE_BINDING
    );
}

/// Before CUDA 13 the target is the last argument. Executable graphs of CUDA 11 have other
/// parameters.
#[test]
fn graphs_of_cuda_11() {
    let r = Runtime::get();
    r.register_kernels();
    let (words, more, mut nodes) = (r.alloc(64), 3_u32, [0_u64; 2]);
    let (graph, parameters) = (r.graph(), [param(&words), param(&more)]);
    let launch = KernelNode {
        function: address(&support::ADD),
        grid: Dim3(1, 1, 1),
        block: Dim3(64, 1, 1),
        parameters: address(&parameters),
        ..KernelNode::default()
    };
    for node in &mut nodes {
        ok!(r, cudaGraphAddKernelNode(
            node => *mut u64, graph => u64, 0 => u64, 0 => usize, &launch => *const KernelNode,
        ));
    }
    // The second node waits for the first.
    ok!(r, cudaGraphAddDependencies(graph => u64, &nodes[0] => *const u64, &nodes[1] => *const u64, 1 => usize));
    const COOPERATIVE: i32 = 2;
    let mut value = [1_u64, 0, 0, 0, 0, 0, 0, 0];
    ok!(r, cudaGraphKernelNodeSetAttribute(nodes[0] => u64, COOPERATIVE => i32, value.as_ptr() => *const u64));
    ok!(r, cudaGraphKernelNodeCopyAttributes(nodes[0] => u64, nodes[1] => u64));
    value[0] = 0;
    ok!(r, cudaGraphKernelNodeGetAttribute(nodes[1] => u64, COOPERATIVE => i32, value.as_mut_ptr() => *mut u64));
    assert_eq!(value[0], 1);
    let (mut exec, mut wrong, mut log, mut result) = (0_u64, 9_u64, [1_u8; 8], 9);
    ok!(r, cudaGraphInstantiate(
        &mut exec => *mut u64, graph => u64, &mut wrong => *mut u64, log.as_mut_ptr() => *mut u8, 8 => usize,
    ));
    assert_eq!((wrong, log[0]), (0, 0));
    ok!(r, cudaGraphExecUpdate(exec => u64, graph => u64, &mut wrong => *mut u64, &mut result => *mut i32));
    assert_eq!(result, 0);
    r.run(exec);
    assert_eq!(r.words(words, 1), [6]);
}

/// A texture's structure ends before the field that CUDA 12 added. A `_v2` function takes this
/// field.
#[test]
fn structures_of_textures_have_their_size() {
    let r = Runtime::get();
    let (mut array, mut object) = (0_u64, 0_u64);
    ok!(r, cudaMallocArray(&mut array => *mut u64, WORDS.as_ptr() => *const i32, 32 => usize, 1 => usize, 0 => u32));
    let (mut resource, mut texture, mut shown) = ([0_u64; 9], [0_u32; 18], [7_u32; 18]);
    resource[1] = array;
    texture[17] = 1;
    let create = |texture: &[u32; 18], object: &mut u64, is_new: bool| {
        let (resource, texture) = (resource.as_ptr(), texture.as_ptr().cast::<c_void>());
        if is_new {
            ok!(r, cudaCreateTextureObject_v2(
                object => *mut u64, resource => *const u64, texture => *const c_void, 0 => u64,
            ));
        } else {
            ok!(r, cudaCreateTextureObject(
                object => *mut u64, resource => *const u64, texture => *const c_void, 0 => u64,
            ));
        }
    };
    create(&texture, &mut object, false);
    ok!(r, cudaGetTextureObjectTextureDesc(shown.as_mut_ptr() => *mut u32, object => u64));
    assert_eq!(shown[16..], [0, 7]);
    create(&texture, &mut object, true);
    ok!(r, cudaGetTextureObjectTextureDesc_v2(shown.as_mut_ptr() => *mut u32, object => u64));
    assert_eq!(shown[16..], [0, 1]);
}
