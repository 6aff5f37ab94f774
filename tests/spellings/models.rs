//! Models of the kernels in `kernels.cu`, as plain loops.

/// The number of items, and the number of rounds or the width of a row.
pub const N: usize = 4096;
pub const M: usize = 64;

pub struct Kernel {
    pub name: &'static str,
    pub grid: [u32; 3],
    pub x: fn() -> Vec<u8>,
    pub y: fn() -> Vec<u8>,
    /// Returns the expected output.
    pub out: fn() -> Vec<u8>,
}

const LINE: [u32; 3] = [N as u32 / 128, 1, 1];
const PLANE: [u32; 3] = [1, (N / M) as u32, 1];

/// Returns pseudo-random numbers of a seed.
fn numbers(seed: u32, count: usize) -> Vec<u32> {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(Some(seed), next)
        .map(|state| state ^ state >> 15)
        .skip(1)
        .take(count)
        .collect()
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Returns floats from -128 to 128 with few digits, so that sums are exact.
fn floats(seed: u32, count: usize) -> Vec<f32> {
    numbers(seed, count).iter().map(|&number| (number % 4096) as f32 / 16.0 - 128.0).collect()
}

fn float_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn doubles(seed: u32) -> Vec<f64> {
    floats(seed, N).into_iter().map(f64::from).collect()
}

fn double_bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn halves(seed: u32) -> Vec<u16> {
    numbers(seed, N).iter().map(|&number| number as u16).collect()
}

fn half_bytes(values: &[u16]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn x_words() -> Vec<u32> {
    numbers(1, N * M)
}

fn y_words() -> Vec<u32> {
    numbers(2, N)
}

/// Returns the index of x for each item.
fn places() -> Vec<u32> {
    numbers(3, N).iter().map(|&number| number % N as u32).collect()
}

/// Returns 0 and then the ends of rows of up to 15 numbers.
fn ends() -> Vec<u32> {
    let lengths = numbers(4, N).into_iter().map(|number| number >> 8 & 15);
    let ends = lengths.scan(0, |end, length| {
        *end += length;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

fn of_words(item: impl Fn(usize, u32) -> u32) -> Vec<u8> {
    words(&(0..N).zip(y_words()).map(|(i, y)| item(i, y)).collect::<Vec<u32>>())
}

fn sum(start: u32, factor: u32, values: impl Iterator<Item = u32>) -> u32 {
    values.fold(start, |sum, value| sum.wrapping_mul(factor).wrapping_add(value))
}

pub const KERNELS: [Kernel; 14] = [
    Kernel {
        name: "saxpy",
        grid: LINE,
        x: || float_bytes(&floats(1, N)),
        y: || float_bytes(&floats(2, N)),
        out: || {
            let pairs = floats(1, N).into_iter().zip(floats(2, N));
            float_bytes(&pairs.map(|(x, y)| 3.0 * x + y).collect::<Vec<f32>>())
        },
    },
    Kernel {
        name: "stride",
        grid: [1, 1, 1],
        x: || words(&x_words()[..N]),
        y: || words(&y_words()),
        out: || {
            let x = x_words();
            of_words(|i, y| x[i] ^ y.wrapping_add(5))
        },
    },
    Kernel {
        name: "rows",
        grid: LINE,
        x: || words(&x_words()),
        y: || words(&y_words()),
        out: || {
            let x = x_words();
            of_words(|i, y| sum(y, 3, x[i * M..][..M].iter().copied()))
        },
    },
    Kernel {
        name: "columns",
        grid: LINE,
        x: || words(&x_words()),
        y: || words(&y_words()),
        out: || {
            let x = x_words();
            of_words(|i, y| sum(y, 3, (0..M).map(|k| x[k * N + i])))
        },
    },
    Kernel {
        name: "stencil",
        grid: LINE,
        x: || double_bytes(&doubles(1)),
        y: || double_bytes(&doubles(2)),
        out: || {
            let (x, y, mut out) = (doubles(1), doubles(2), vec![0.0; N]);
            for i in 1..N - 1 {
                out[i] = (x[i - 1] + 2.0 * x[i] + x[i + 1]) * 0.25 + y[i];
            }
            double_bytes(&out)
        },
    },
    Kernel {
        name: "plane",
        grid: PLANE,
        x: || float_bytes(&floats(1, N)),
        y: || float_bytes(&floats(2, N)),
        out: || {
            let (x, mut out) = (floats(1, N), vec![0.0; N]);
            for row in 1..N / M - 1 {
                for i in row * M + 1..row * M + M - 1 {
                    out[i] = x[i] + 0.25 * (x[i - 1] + x[i + 1] + x[i - M] + x[i + M]);
                }
            }
            float_bytes(&out)
        },
    },
    Kernel {
        name: "gather",
        grid: LINE,
        x: || words(&x_words()[..N]),
        y: || words(&places()),
        out: || {
            let x = x_words();
            words(
                &places()
                    .iter()
                    .map(|&place| x[place as usize].wrapping_add(1))
                    .collect::<Vec<u32>>(),
            )
        },
    },
    Kernel {
        name: "ragged",
        grid: LINE,
        x: || words(&x_words()),
        y: || words(&ends()),
        out: || {
            let x = x_words();
            let rows =
                ends().windows(2).map(|row| [row[0] as usize, row[1] as usize]).collect::<Vec<_>>();
            words(
                &rows
                    .into_iter()
                    .map(|[first, end]| sum(0, 3, x[first..end].iter().copied()))
                    .collect::<Vec<u32>>(),
            )
        },
    },
    Kernel {
        name: "table",
        grid: LINE,
        x: || words(&x_words()[..64]),
        y: || words(&y_words()),
        out: || {
            let x = x_words();
            of_words(|_, y| {
                (0..M).fold(y, |state, _| {
                    state.wrapping_mul(1_664_525).wrapping_add(x[(state >> 24 & 63) as usize])
                })
            })
        },
    },
    Kernel {
        name: "bytes",
        grid: LINE,
        x: || words(&x_words()[..N * M / 4]),
        y: || words(&y_words()),
        out: || {
            let x = words(&x_words());
            of_words(|i, y| sum(y, 33, x[i * M..][..M].iter().map(|&byte| byte.into())))
        },
    },
    Kernel {
        name: "halves",
        grid: LINE,
        x: || half_bytes(&halves(1)),
        y: || half_bytes(&halves(2)),
        out: || {
            let sums = halves(1).into_iter().zip(halves(2)).map(|(x, y)| x.wrapping_add(y));
            half_bytes(&sums.rev().collect::<Vec<u16>>())
        },
    },
    Kernel {
        name: "matmul",
        grid: PLANE,
        x: || float_bytes(&floats(1, N)),
        y: || float_bytes(&floats(2, N)),
        out: || {
            let (x, y) = (floats(1, N), floats(2, N));
            let item =
                |i: usize| (0..M).fold(0.0, |sum, k| sum + x[i / M * M + k] * y[k * M + i % M]);
            float_bytes(&(0..N).map(item).collect::<Vec<f32>>())
        },
    },
    Kernel {
        name: "reverse",
        grid: LINE,
        x: || words(&x_words()[..N]),
        y: || words(&y_words()),
        out: || {
            let x = x_words();
            of_words(|i, y| x[i ^ 127].wrapping_add(y))
        },
    },
    Kernel {
        name: "steps",
        grid: LINE,
        x: || words(&x_words()[..N]),
        y: || words(&y_words()),
        out: || {
            let x = x_words();
            of_words(|i, y| {
                let next = |&number: &u32| {
                    Some(if number & 1 == 1 { 3 * number + 1 } else { number >> 1 })
                };
                let numbers = std::iter::successors(Some(x[i] & 1023), next).take(M);
                y.wrapping_add(numbers.take_while(|&number| number > 1).count() as u32)
            })
        },
    },
];
