"""The programs, with what they are launched with: a full size of some 5 ms of the plain loop, and a small one for tests."""
import array
import dataclasses
import random
import struct
import typing

BLOCK = 128
# NumPy's names of types, and those of Python's arrays and of manifests.
TYPES = {"u1": ("B", "u8"), "u2": ("H", "u16"), "u4": ("I", "u32"), "i4": ("i", "i32"), "u8": ("Q", "u64"), "i8": ("q", "i64"),
         "f4": ("f", "f32"), "f8": ("d", "f64")}


@dataclasses.dataclass
class Buffer:
    """An array; if `result`, compared after the launch."""
    dtype: str
    data: bytes
    result: bool = False


@dataclasses.dataclass
class Scalar:
    dtype: str
    value: float

    def pack(self):
        return struct.pack("<" + TYPES[self.dtype][0], self.value)


@dataclasses.dataclass
class Launch:
    grid: list
    block: list
    arguments: list
    # Of a lane's stack, for calls whose depth the compiler could not know.
    stack: int = 0


@dataclasses.dataclass
class Program:
    name: str
    kind: str
    make: typing.Callable
    full: int
    small: int
    rtol: float = 0.0
    atol: float = 0.0
    # The host rounds upward while it runs.
    upward: bool = False

    def launch(self, size):
        return self.make(Draw(self.name), size)


def i32(value):
    return Scalar("i4", value)


def u32(value):
    return Scalar("u4", value)


def u64(value):
    return Scalar("u8", value)


def f32(value):
    return Scalar("f4", value)


def buffer(dtype, values):
    return Buffer(dtype, array.array(TYPES[dtype][0], values).tobytes())


def out(dtype, count):
    return Buffer(dtype, bytes(count * array.array(TYPES[dtype][0]).itemsize), True)


def changed(given):
    return Buffer(given.dtype, given.data, True)


class Draw(random.Random):
    """Random arrays, the same ones for each name."""

    def bits(self, dtype, count):
        return Buffer(dtype, self.randbytes(count * array.array(TYPES[dtype][0]).itemsize))

    def below(self, dtype, count, end):
        return buffer(dtype, (int(self.random() * end) for _ in range(count)))

    def floats(self, dtype, count, low, high):
        return buffer(dtype, (low + self.random() * (high - low) for _ in range(count)))


def lanes(n, *arguments, block=BLOCK):
    """A lane for each of n items, whose number is the last argument."""
    return Launch([-(-n // block), 1], [block, 1], [*arguments, i32(n)])


def blocks(count, block, *arguments):
    return Launch([count, 1], [block, 1], [*arguments])


def gcd(draw, n):
    return lanes(n, draw.bits("u4", n), draw.bits("u4", n), out("u4", n))


def digits(draw, n):
    return lanes(n, draw.bits("u4", n), out("u4", n), u32(10))


def power64(draw, n):
    modulus = 0xE95C_1D3B_A62F_8C4D
    return lanes(n, draw.bits("u8", n), draw.bits("u4", n), out("u8", n), u64(modulus), u64(2**64 % modulus),
                 u64(pow(modulus, -1, 2**64)))


def divide64(draw, n):
    return lanes(n, draw.bits("i8", n), draw.below("i8", n, 2**40), out("i8", n), i32(20))


def fraction(draw, n):
    return lanes(n, draw.floats("f4", n, -1.5, 1.5), out("f4", n), i32(12))


def lengths(draw, n):
    window = 16
    return lanes(n, draw.floats("f4", 2 * (n + window), -1, 1), out("f4", n), i32(window))


def newton(draw, n):
    return lanes(n, draw.floats("f8", n, -9, 9), out("f8", n), i32(12))


def agm(draw, n):
    return lanes(n, draw.floats("f8", n, 1, 2), draw.floats("f8", n, 1e-3, 1), out("f8", n))


def softmax(draw, n):
    columns = 20
    return lanes(n, draw.floats("f4", n * columns, -4, 4), out("f4", n * columns), i32(columns))


def wave(draw, n):
    return lanes(n, draw.floats("f4", 4 * 16, 0.1, 1.5), out("f4", n), i32(16), f32(10 / n))


def interval(draw, n):
    degree = 15
    bounds = []
    for _ in range(n):
        low = draw.uniform(-1, 1)
        bounds += [low, low + draw.random() * 0.01]
    return lanes(n, buffer("f4", bounds), draw.floats("f4", degree + 1, -2, 2), out("f4", 2 * n), i32(degree))


def quantize(draw, n):
    return lanes(n, draw.floats("f4", 8 * n, -0.1, 1.1), out("u4", n), f32(15))


def insertion(draw, n):
    return lanes(n, draw.bits("i4", n + 24), out("i4", n))


def distance(draw, n):
    return lanes(n, draw.below("u1", 24 * (n + 1), 4), out("i4", n))


def elimination(draw, n):
    return lanes(n, draw.bits("u2", 144 * n), out("u4", n))


def mersenne(draw, n):
    return lanes(n, draw.bits("u4", n), out("u4", n), i32(700))


def queens(draw, n):
    size = 9
    return lanes(n, buffer("u4", (draw.randrange(size) | draw.randrange(size) << 4 for _ in range(n))), out("u4", n), i32(size))


def aes(draw, n):
    return lanes(n, draw.bits("u4", 1024), draw.bits("u4", 44), changed(draw.bits("u4", 4 * n)), u32(0x1234567))


def crc(draw, n):
    length = 64
    return lanes(n, draw.bits("u1", n * length), out("u4", n), i32(length))


def base64(draw, n):
    groups = 12
    return lanes(n, draw.bits("u1", n * groups * 3), out("u1", n * groups * 4), i32(groups))


def sha256(draw, n):
    length = 48
    return lanes(n, draw.bits("u1", n * length), out("u4", 8 * n), i32(length))


def bytecode(draw, n):
    # Adds up, mixes, and goes round as long as the low bits say, or the number is negative; then again from the beginning.
    code = [0, 17, 1, 5, 2, 0, 3, 0, 11, 99, 6, 3, 7, 7, 8, 0, 4, 0, 10, 0, 0, 1, 9, 8, 5, 0, 12, 0]
    return lanes(n, buffer("u1", code), draw.bits("i4", n), out("i4", n), i32(150))


def calls(draw, n):
    return lanes(n, draw.bits("u4", n), out("i4", n), i32(60))


def recursion(draw, n):
    coins = [5, 10, 20, 50, 100, 200]
    amounts = buffer("i4", (5 * draw.randrange(10, 20) for _ in range(n)))
    return dataclasses.replace(lanes(n, buffer("i4", coins), amounts, out("i4", n), i32(len(coins))), stack=8192)


def quicksort(draw, n):
    length = 64
    return lanes(n, changed(draw.bits("i4", n * length)), i32(length))


def functions(draw, n):
    steps = 60
    return lanes(n, draw.bits("u1", steps), draw.bits("i4", n), out("i4", n), i32(steps))


def utf8(draw, n):
    length = 48
    points = [0x7F, 0x7FF, 0xFFFF, 0x10FFFF]
    text = bytearray()
    while len(text) < n * length:
        point = draw.randrange(1, points[draw.randrange(4)])
        text += bytes([255]) if 0xD800 <= point < 0xE000 else chr(point).encode()
    return lanes(n, Buffer("u1", bytes(text[:n * length])), out("u4", n), out("u4", n), i32(length))


def generic(draw, n):
    return lanes(n, draw.bits("i4", 16), draw.below("i4", n, 1000), out("i4", n))


def shuffle_scan(draw, n):
    return lanes(n, draw.bits("u4", n), out("u4", n))


def shared_scan(draw, n):
    return lanes(n, draw.bits("u4", n), out("u4", n), block=256)


def warp_maximum(draw, n):
    return lanes(n, draw.bits("i4", n), out("i4", n // 32))


def arg_maximum(draw, n):
    return lanes(n, draw.floats("f4", n, 0, 1), out("i4", -(-n // 256)), block=256)


def block_histogram(draw, n):
    part = 4096
    parts = -(-n // part)
    return blocks(parts, BLOCK, draw.bits("u1", n), out("u4", 64 * parts), i32(part), i32(n))


def compact(draw, n):
    return lanes(n, draw.bits("i4", n), out("i4", n), out("i4", -(-n // 256)), block=256)


def transpose(draw, n):
    width, height = n, n + 21
    arguments = [draw.bits("u4", width * height), out("u4", width * height), i32(width), i32(height)]
    return Launch([-(-width // 16), -(-height // 16)], [16, 16], arguments)


def stencil(draw, n):
    return lanes(n, draw.floats("f4", n, -1, 1), draw.floats("f4", 9, -1, 1), out("f4", n), block=256)


def bitonic(draw, n):
    return blocks(n, 256, changed(draw.bits("i4", 256 * n)), i32(n))


def matmul(draw, n):
    arguments = [draw.floats("f4", n * n, -1, 1), draw.floats("f4", n * n, -1, 1), out("f4", n * n), i32(n)]
    return Launch([n // 16, n // 16], [16, 16], arguments)


def rays(draw, n):
    spheres = []
    for _ in range(6):
        spheres += [draw.uniform(-3, 3), draw.uniform(-2, 2), draw.uniform(6, 14), draw.uniform(0.5, 2)]
    height = n * 3 // 4
    arguments = [buffer("f4", spheres), out("u4", n * height), i32(6), i32(n), i32(height)]
    return Launch([-(-n // BLOCK), height], [BLOCK, 1], arguments)


def bodies(draw, n):
    return lanes(n, draw.floats("f8", 12 * n, -1, 1), out("f8", 12 * n), Scalar("f8", 0.01), i32(20))


def options(draw, n):
    return lanes(n, draw.floats("f4", n, 5, 30), draw.floats("f4", n, 1, 100), draw.floats("f4", n, 0.25, 10), out("f4", n),
                 out("f4", n), f32(0.02), f32(0.3))


def csr_rows(draw, n):
    first = [0]
    for _ in range(n):
        first.append(first[-1] + draw.randrange(70))
    numbers = first[-1]
    arguments = [buffer("i4", first), draw.below("i4", numbers, n), draw.floats("f4", numbers, 0, 1), draw.floats("f4", n, 0, 1)]
    return Launch([-(-32 * n // BLOCK), 1], [BLOCK, 1], [*arguments, out("f4", n), i32(n)])


def adi(draw, n):
    row = 48
    given = [draw.floats("f4", n * row, 0, 1), changed(draw.floats("f4", n * row, 4, 5)), changed(draw.floats("f4", n * row, -1, 1))]
    return lanes(n, *given, i32(row))


def gesummv(draw, n):
    row = 128
    given = [draw.floats("f4", n * row, -1, 1), draw.floats("f4", n * row, -1, 1), draw.floats("f4", row, -1, 1)]
    return lanes(n, *given, out("f4", n), f32(1.5), f32(0.75), i32(row))


def atax(draw, n):
    column = 128
    return lanes(n, draw.floats("f4", n * column, -1, 1), draw.floats("f4", column, -1, 1), out("f4", n), i32(column))


def lu(draw, n):
    return blocks(n, 16, changed(draw.floats("f4", 256 * n, 0.5, 1.5)), i32(n))


def blelloch(draw, n):
    return blocks(-(-n // 512), 256, draw.bits("u4", n), out("u4", n), i32(n))


def block_scan(draw, n):
    return lanes(n, draw.bits("u4", n), out("u4", n), block=256)


def arg_butterfly(draw, n):
    return lanes(n, draw.floats("f4", n, 0, 1), out("i4", n // 32))


def transpose_direct(draw, n):
    return transpose(draw, n)


def transpose_strips(draw, n):
    width, height = n, n + 21
    arguments = [draw.bits("u4", width * height), out("u4", width * height), i32(width), i32(height)]
    return Launch([-(-width // 32), -(-height // 32)], [32, 8], arguments)


def dct(draw, n):
    return lanes(n, draw.floats("f4", 64 * n, -1, 1), out("f4", 64 * n))


def knapsack(draw, n):
    things = 12
    weights = buffer("i4", (draw.randrange(1, 17) for _ in range(n * things)))
    return lanes(n, weights, draw.below("i4", n * things, 100), out("i4", n), i32(things))


PROGRAMS = [
    Program("gcd", "u32 division", gcd, 60_000, 300),
    Program("digits", "u32 division", digits, 200_000, 300),
    Program("power64", "64-bit", power64, 30_000, 150),
    Program("divide64", "64-bit division", divide64, 60_000, 150),
    Program("fraction", "float division", fraction, 300_000, 300),
    Program("lengths", "float root", lengths, 200_000, 300),
    Program("newton", "double division", newton, 100_000, 300),
    Program("agm", "double root", agm, 200_000, 300),
    Program("softmax", "expf, logf", softmax, 24_000, 150, rtol=1e-5, atol=1e-6),
    Program("wave", "fast functions", wave, 40_000, 150, rtol=1e-3, atol=1e-3),
    Program("interval", "directed rounding", interval, 30_000, 300, upward=True),
    Program("quantize", "float to int", quantize, 200_000, 300),
    Program("insertion", "insertion sort in a local array", insertion, 20_000, 150),
    Program("distance", "DP table", distance, 5_000, 150),
    Program("elimination", "deep spills", elimination, 3_000, 150),
    Program("mersenne", "Mersenne twister", mersenne, 1_500, 70),
    Program("queens", "N-queens", queens, 15_000, 70),
    Program("aes", "AES tables", aes, 60_000, 300),
    Program("crc", "CRC table", crc, 40_000, 150),
    Program("base64", "base64", base64, 150_000, 150),
    Program("sha256", "SHA-256", sha256, 24_000, 150),
    Program("bytecode", "switch", bytecode, 30_000, 150),
    Program("calls", "noinline calls", calls, 15_000, 150),
    Program("recursion", "recursion", recursion, 15_000, 150),
    Program("quicksort", "quicksort", quicksort, 2_000, 70),
    Program("functions", "function pointers", functions, 40_000, 150),
    Program("utf8", "UTF-8", utf8, 30_000, 150),
    Program("generic", "generic pointers", generic, 200_000, 300),
    Program("shuffle_scan", "scan by shuffles", shuffle_scan, 5_000_000, 3_000),
    Program("shared_scan", "scan in shared memory", shared_scan, 5_000_000, 1_500),
    Program("warp_maximum", "warp maximum", warp_maximum, 5_000_000, 3_200),
    Program("arg_maximum", "arg max", arg_maximum, 1_000_000, 1_500),
    Program("block_histogram", "block histogram", block_histogram, 8_000_000, 9_000),
    Program("compact", "compaction", compact, 1_000_000, 1_500),
    Program("transpose", "transpose", transpose, 2_000, 60),
    Program("stencil", "1-D stencil in shared memory", stencil, 1_200_000, 1_500),
    Program("bitonic", "bitonic in shared memory", bitonic, 400, 5),
    Program("matmul", "tiled matmul", matmul, 224, 48),
    Program("rays", "rays with early exit", rays, 160, 40),
    Program("bodies", "three bodies in double", bodies, 8_000, 150),
    Program("csr_rows", "CSR, 32 lanes a row", csr_rows, 40_000, 70, rtol=1e-5),
    Program("adi", "rows apart", adi, 8_000, 150),
    Program("gesummv", "matrix times vector, a row a lane", gesummv, 12_000, 150),
    Program("atax", "matrix times vector, a column a lane", atax, 8_000, 150),
    Program("lu", "LU in shared memory", lu, 2_000, 5),
    Program("blelloch", "scan by a tree in shared memory", blelloch, 2_000_000, 1_500),
    Program("block_scan", "scan of a block by shuffles", block_scan, 2_000_000, 1_500),
    Program("arg_butterfly", "arg max by shuffles", arg_butterfly, 1_000_000, 3_200),
    Program("transpose_direct", "transpose without tiles", transpose_direct, 1_200, 60),
    Program("transpose_strips", "transpose, four numbers a lane", transpose_strips, 1_200, 60),
    Program("dct", "cosine transform, spilled", dct, 20_000, 150),
    Program("knapsack", "knapsack in a local array", knapsack, 8_000, 150),
    Program("options", "Black-Scholes", options, 150_000, 300, rtol=2e-4, atol=1e-4),
]
