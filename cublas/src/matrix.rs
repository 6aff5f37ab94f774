//! Products of two matrices, and of a matrix and a vector.

use std::ffi::{c_int, c_longlong};

use warploom_cukit::memory::{Place, Pointer, Real};
use warploom_cukit::{Answer, Status, api, driver, require};

use crate::handle;
use crate::scalar::{Scalar, of_compute};
use crate::vector::Vector;

fn size(n: c_int) -> Answer<usize> {
    usize::try_from(n).map_err(|_| Status::InvalidValue)
}

/// A matrix in memory. A product takes the element at `[row, column]` from the index that `steps`
/// gives.
#[derive(Clone, Copy)]
struct Matrix {
    place: Place,
    real: Real,
    rows: usize,
    columns: usize,
    steps: [usize; 2],
}

/// The rows and columns that a product sees of a matrix. If `turned`, they are columns and rows in
/// memory.
#[derive(Clone, Copy)]
struct Shape {
    rows: usize,
    columns: usize,
    turned: bool,
    /// Elements from column to column in memory.
    pitch: usize,
}

impl Shape {
    /// Makes a shape. `operation` is 0 (as is) or 1 or 2 (transposed; 2 also conjugates, which
    /// changes no real number).
    fn new(operation: c_int, rows: c_int, columns: c_int, pitch: c_int) -> Answer<Shape> {
        require((0..=2).contains(&operation))?;
        let (rows, columns, pitch, turned) =
            (size(rows)?, size(columns)?, size(pitch)?, operation != 0);
        require(pitch >= if turned { columns } else { rows }.max(1))?;
        Ok(Shape { rows, columns, turned, pitch })
    }

    /// Returns the number of elements from the first to the last in memory, both included.
    fn span(&self) -> usize {
        let (rows, columns) =
            if self.turned { (self.columns, self.rows) } else { (self.rows, self.columns) };
        if rows == 0 || columns == 0 { 0 } else { (columns - 1) * self.pitch + rows }
    }

    fn at(&self, pointer: Pointer, real: Real) -> Answer<Matrix> {
        Ok(self.of(Place::on_device(pointer, real, self.span())?, real))
    }

    fn of(&self, place: Place, real: Real) -> Matrix {
        let steps = if self.turned { [self.pitch, 1] } else { [1, self.pitch] };
        Matrix { place, real, rows: self.rows, columns: self.columns, steps }
    }
}

impl Matrix {
    /// Returns the number of elements from the first to the last in memory, both included.
    fn span(&self) -> usize {
        if self.rows == 0 || self.columns == 0 {
            0
        } else {
            self.index(self.rows - 1, self.columns - 1) + 1
        }
    }

    /// Returns a pointer to all elements. Panics if the caller has fewer.
    fn pointer<T>(&self) -> *mut T {
        self.place.pointer(self.span())
    }

    fn index(&self, row: usize, column: usize) -> usize {
        row * self.steps[0] + column * self.steps[1]
    }

    /// Returns the elements as floats, in column-major order.
    fn floats(&self) -> Vec<f32> {
        let columns = 0..self.columns;
        let all = columns.flat_map(|column| (0..self.rows).map(move |row| (row, column)));
        all.map(|(row, column)| self.place.get(self.real, self.index(row, column)) as f32).collect()
    }
}

/// `c = alpha * a * b + beta * c`. If `beta` is 0, the old `c` does not matter.
#[derive(Clone, Copy)]
struct Product {
    a: Matrix,
    b: Matrix,
    c: Matrix,
    alpha: Scalar,
    beta: Scalar,
}

impl Product {
    fn run(&self) {
        let Product { a, b, c, .. } = self;
        let (alpha, beta) = (self.alpha.value(), self.beta.value());
        if c.rows == 0 || c.columns == 0 {
            return;
        }
        c.place.will_be_written();
        let (m, k, n) = (c.rows, a.columns, c.columns);
        let [s, t, u] = [a, b, c].map(|matrix| matrix.steps.map(|step| step as isize));
        let all = |real| [a, b, c].iter().all(|matrix| matrix.real == real);
        if all(Real::F64) {
            // SAFETY: `Matrix::pointer` has checked that all elements lie in the caller's memory,
            // which is valid in the stream's turn. `Place::on_device` and `Place::listed` have
            // checked the alignment.
            unsafe {
                let (a, b, c) = (a.pointer(), b.pointer(), c.pointer());
                matrixmultiply::dgemm(
                    m, k, n, alpha, a, s[0], s[1], b, t[0], t[1], beta, c, u[0], u[1],
                );
            }
        } else if all(Real::F32) {
            let (alpha, beta) = (alpha as f32, beta as f32);
            // SAFETY: as above.
            unsafe {
                let (a, b, c) = (a.pointer(), b.pointer(), c.pointer());
                matrixmultiply::sgemm(
                    m, k, n, alpha, a, s[0], s[1], b, t[0], t[1], beta, c, u[0], u[1],
                );
            }
        } else {
            self.run_in_floats(alpha as f32, beta as f32);
        }
    }

    /// Computes a product of halves, or of mixed types, in floats.
    fn run_in_floats(&self, alpha: f32, beta: f32) {
        let Product { a, b, c, .. } = self;
        let (m, k, n) = (c.rows, a.columns, c.columns);
        let mut result = if beta == 0.0 { vec![0.0; m * n] } else { c.floats() };
        let (first, second) = (a.floats(), b.floats());
        let (m_step, k_step) = (m as isize, k as isize);
        // SAFETY: the vectors have the elements of the matrices in column-major order.
        unsafe {
            let (a, b, c) = (first.as_ptr(), second.as_ptr(), result.as_mut_ptr());
            matrixmultiply::sgemm(m, k, n, alpha, a, 1, m_step, b, 1, k_step, beta, c, 1, m_step);
        }
        for (i, value) in result.into_iter().enumerate() {
            c.place.set(c.real, c.index(i % m, i / m), value.into());
        }
    }
}

/// The values that all products of a call share.
#[derive(Clone, Copy)]
struct Batch {
    stream: u64,
    shapes: [Shape; 3],
    reals: [Real; 3],
    alpha: Scalar,
    beta: Scalar,
}

/// The scalars of a call, and their type.
#[derive(Clone, Copy)]
struct Scalars {
    alpha: Pointer,
    beta: Pointer,
    real: Real,
}

impl Batch {
    fn new(
        handle: u64,
        operations: [c_int; 2],
        [m, n, k]: [c_int; 3],
        pitches: [c_int; 3],
        reals: [Real; 3],
        scalars: Scalars,
    ) -> Answer<Batch> {
        let handle = handle::get(handle)?;
        let shapes = [
            Shape::new(operations[0], m, k, pitches[0])?,
            Shape::new(operations[1], k, n, pitches[1])?,
            Shape::new(0, m, n, pitches[2])?,
        ];
        let alpha = handle.scalar(scalars.alpha, scalars.real)?;
        let beta = handle.scalar(scalars.beta, scalars.real)?;
        Ok(Batch { stream: handle.stream, shapes, reals, alpha, beta })
    }

    fn product(&self, [a, b, c]: [Matrix; 3]) -> Product {
        Product { a, b, c, alpha: self.alpha, beta: self.beta }
    }

    /// Submits `count` products. `strides` are the elements from a product's matrix to the next
    /// one.
    fn strided(self, pointers: [Pointer; 3], strides: [c_longlong; 3], count: c_int) -> Answer {
        let count = size(count)?;
        let mut products = Vec::with_capacity(count);
        for i in 0..count {
            let mut matrices = vec![];
            for n in 0..3 {
                let offset = strides[n]
                    .wrapping_mul(i as c_longlong)
                    .wrapping_mul(self.reals[n].bytes() as c_longlong);
                let pointer = pointers[n].after(offset as isize);
                matrices.push(self.shapes[n].at(pointer, self.reals[n])?);
            }
            products.push(self.product([matrices[0], matrices[1], matrices[2]]));
        }
        driver::submit(self.stream, move || products.iter().for_each(Product::run))
    }

    fn one(self, pointers: [Pointer; 3]) -> Answer {
        self.strided(pointers, [0; 3], 1)
    }

    /// Submits `count` products. Lists in device memory have the matrices' addresses when the
    /// stream's turn comes, so the addresses cannot be checked before.
    fn listed(self, lists: [Pointer; 3], count: c_int) -> Answer {
        let count = size(count)?;
        let mut places = vec![];
        for list in lists {
            // Addresses are as wide as doubles.
            places.push(Place::on_device(list, Real::F64, count)?);
        }
        driver::submit(self.stream, move || {
            for i in 0..count {
                let matrix = |n: usize| {
                    let (shape, real) = (self.shapes[n], self.reals[n]);
                    places[n].listed(i, real, shape.span()).map(|place| shape.of(place, real))
                };
                if let (Some(a), Some(b), Some(c)) = (matrix(0), matrix(1), matrix(2)) {
                    self.product([a, b, c]).run();
                }
            }
        })
    }
}

/// Submits `y = alpha * a * x + beta * y`.
fn gemv(
    handle: u64,
    real: Real,
    (operation, m, n, pitch): (c_int, c_int, c_int, c_int),
    a: Pointer,
    [x, y]: [(Pointer, c_int); 2],
    scalars: [Pointer; 2],
) -> Answer {
    let handle = handle::get(handle)?;
    let (rows, columns) = if operation == 0 { (m, n) } else { (n, m) };
    let a = Shape::new(operation, rows, columns, pitch)?.at(a, real)?;
    let (x, y) = (Vector::new(x.0, real, columns, x.1)?, Vector::new(y.0, real, rows, y.1)?);
    let [alpha, beta] = scalars.map(|scalar| handle.scalar(scalar, real));
    let (alpha, beta) = (alpha?, beta?);
    driver::submit(handle.stream, move || {
        let (alpha, beta) = (alpha.value(), beta.value());
        y.will_be_written();
        for row in 0..a.rows {
            let products = (0..a.columns)
                .map(|column| a.place.get(real, a.index(row, column)) * x.get(column));
            let before = if beta == 0.0 { 0.0 } else { beta * y.get(row) };
            y.set(row, alpha * products.sum::<f64>() + before);
        }
    })
}

macro_rules! of_type {
    ($real:ident: $gemm:ident $strided:ident $batched:ident) => {
        api! {
            fn $gemm(
                handle: u64, ta: c_int, tb: c_int, m: c_int, n: c_int, k: c_int, alpha: Pointer, a: Pointer, lda: c_int,
                b: Pointer, ldb: c_int, beta: Pointer, c: Pointer, ldc: c_int,
            ) {
                let scalars = Scalars { alpha, beta, real: Real::$real };
                Batch::new(handle, [ta, tb], [m, n, k], [lda, ldb, ldc], [Real::$real; 3], scalars)?.one([a, b, c])
            }

            fn $strided(
                handle: u64, ta: c_int, tb: c_int, m: c_int, n: c_int, k: c_int, alpha: Pointer, a: Pointer, lda: c_int,
                sa: c_longlong, b: Pointer, ldb: c_int, sb: c_longlong, beta: Pointer, c: Pointer, ldc: c_int,
                sc: c_longlong, count: c_int,
            ) {
                let scalars = Scalars { alpha, beta, real: Real::$real };
                let batch = Batch::new(handle, [ta, tb], [m, n, k], [lda, ldb, ldc], [Real::$real; 3], scalars)?;
                batch.strided([a, b, c], [sa, sb, sc], count)
            }

            fn $batched(
                handle: u64, ta: c_int, tb: c_int, m: c_int, n: c_int, k: c_int, alpha: Pointer, a: Pointer, lda: c_int,
                b: Pointer, ldb: c_int, beta: Pointer, c: Pointer, ldc: c_int, count: c_int,
            ) {
                let scalars = Scalars { alpha, beta, real: Real::$real };
                let batch = Batch::new(handle, [ta, tb], [m, n, k], [lda, ldb, ldc], [Real::$real; 3], scalars)?;
                batch.listed([a, b, c], count)
            }
        }
    };
}
of_type!(F32: cublasSgemm_v2 cublasSgemmStridedBatched cublasSgemmBatched);
of_type!(F64: cublasDgemm_v2 cublasDgemmStridedBatched cublasDgemmBatched);
of_type!(F16: cublasHgemm cublasHgemmStridedBatched cublasHgemmBatched);

/// Returns the types that a call names.
fn reals(kinds: [u32; 3]) -> Answer<[Real; 3]> {
    Ok([Real::of(kinds[0])?, Real::of(kinds[1])?, Real::of(kinds[2])?])
}

api! {
    fn cublasGemmEx(
        handle: u64, ta: c_int, tb: c_int, m: c_int, n: c_int, k: c_int, alpha: Pointer, a: Pointer, ka: u32, lda: c_int,
        b: Pointer, kb: u32, ldb: c_int, beta: Pointer, c: Pointer, kc: u32, ldc: c_int, compute: u32, _algorithm: c_int,
    ) {
        let scalars = Scalars { alpha, beta, real: of_compute(compute)? };
        Batch::new(handle, [ta, tb], [m, n, k], [lda, ldb, ldc], reals([ka, kb, kc])?, scalars)?.one([a, b, c])
    }

    fn cublasSgemmEx(
        handle: u64, ta: c_int, tb: c_int, m: c_int, n: c_int, k: c_int, alpha: Pointer, a: Pointer, ka: u32, lda: c_int,
        b: Pointer, kb: u32, ldb: c_int, beta: Pointer, c: Pointer, kc: u32, ldc: c_int,
    ) {
        let scalars = Scalars { alpha, beta, real: Real::F32 };
        Batch::new(handle, [ta, tb], [m, n, k], [lda, ldb, ldc], reals([ka, kb, kc])?, scalars)?.one([a, b, c])
    }

    fn cublasGemmStridedBatchedEx(
        handle: u64, ta: c_int, tb: c_int, m: c_int, n: c_int, k: c_int, alpha: Pointer, a: Pointer, ka: u32, lda: c_int,
        sa: c_longlong, b: Pointer, kb: u32, ldb: c_int, sb: c_longlong, beta: Pointer, c: Pointer, kc: u32, ldc: c_int,
        sc: c_longlong, count: c_int, compute: u32, _algorithm: c_int,
    ) {
        let scalars = Scalars { alpha, beta, real: of_compute(compute)? };
        let batch = Batch::new(handle, [ta, tb], [m, n, k], [lda, ldb, ldc], reals([ka, kb, kc])?, scalars)?;
        batch.strided([a, b, c], [sa, sb, sc], count)
    }

    fn cublasGemmBatchedEx(
        handle: u64, ta: c_int, tb: c_int, m: c_int, n: c_int, k: c_int, alpha: Pointer, a: Pointer, ka: u32, lda: c_int,
        b: Pointer, kb: u32, ldb: c_int, beta: Pointer, c: Pointer, kc: u32, ldc: c_int, count: c_int, compute: u32,
        _algorithm: c_int,
    ) {
        let scalars = Scalars { alpha, beta, real: of_compute(compute)? };
        Batch::new(handle, [ta, tb], [m, n, k], [lda, ldb, ldc], reals([ka, kb, kc])?, scalars)?.listed([a, b, c], count)
    }

    fn cublasSgemv_v2(
        handle: u64, t: c_int, m: c_int, n: c_int, alpha: Pointer, a: Pointer, lda: c_int, x: Pointer, step: c_int,
        beta: Pointer, y: Pointer, other: c_int,
    ) {
        gemv(handle, Real::F32, (t, m, n, lda), a, [(x, step), (y, other)], [alpha, beta])
    }

    fn cublasDgemv_v2(
        handle: u64, t: c_int, m: c_int, n: c_int, alpha: Pointer, a: Pointer, lda: c_int, x: Pointer, step: c_int,
        beta: Pointer, y: Pointer, other: c_int,
    ) {
        gemv(handle, Real::F64, (t, m, n, lda), a, [(x, step), (y, other)], [alpha, beta])
    }
}
