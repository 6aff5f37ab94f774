//! Fast Fourier transforms of arrays in device memory.

use std::sync::{Arc, OnceLock};

use rustfft::num_complex::Complex;
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};
use warploom_cukit::memory::{Place, Real};

/// The most axes of a transform.
pub const MAX_AXES: usize = 3;

/// The elements of a side: one number each, or a real and an imaginary part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Real,
    Complex,
}

impl Form {
    /// Returns the numbers of an element.
    fn numbers(self) -> usize {
        if self == Form::Complex { 2 } else { 1 }
    }
}

/// Where the elements of a side are.
#[derive(Clone, Debug)]
pub struct Side {
    pub real: Real,
    pub form: Form,
    /// The elements along each axis.
    pub shape: Vec<usize>,
    /// The elements along each axis of the array that contains them; the first does not matter.
    pub embed: Vec<usize>,
    /// From one element to the next, and from one batch to the next, in elements.
    pub step: usize,
    pub distance: usize,
}

impl Side {
    /// Returns the index of an element of a batch.
    fn index(&self, batch: usize, at: &[usize]) -> usize {
        let row = at.iter().zip(&self.embed).fold(0, |sum, (at, size)| sum * size + at);
        batch * self.distance + row * self.step
    }

    /// Returns the numbers from the first to the last in memory, both included, or `None` if there are
    /// too many.
    pub fn span(&self, batches: usize) -> Option<usize> {
        let mut row = 0_usize;
        for (size, embed) in self.shape.iter().zip(&self.embed) {
            row = row.checked_mul(*embed)?.checked_add(size.checked_sub(1)?)?;
        }
        let before = batches.checked_sub(1)?.checked_mul(self.distance)?;
        let elements = row.checked_mul(self.step)?.checked_add(before)?.checked_add(1)?;
        elements.checked_mul(self.form.numbers())
    }

    /// Returns the numbers of all elements, or `None` if there are too many.
    pub fn numbers(&self, batches: usize) -> Option<usize> {
        let one = self.form.numbers().checked_mul(batches)?;
        self.shape.iter().try_fold(one, |all, size| all.checked_mul(*size))
    }
}

/// A transform of one size, in batches.
#[derive(Debug)]
pub struct Transform {
    /// The elements along each axis, of real numbers if one side is real.
    pub sizes: Vec<usize>,
    pub batches: usize,
    pub input: Side,
    pub output: Side,
}

/// The functions for each axis of a transform, made when they are first used.
#[derive(Default)]
pub struct Axes {
    single: [OnceLock<Vec<Arc<dyn Fft<f32>>>>; 2],
    double: [OnceLock<Vec<Arc<dyn Fft<f64>>>>; 2],
}

impl Transform {
    /// Runs the transform. The places have at least the spans of the sides.
    pub fn run(&self, axes: &Axes, input: Place, output: Place, inverse: bool) {
        let direction = if inverse { FftDirection::Inverse } else { FftDirection::Forward };
        let way = usize::from(inverse);
        match self.input.real {
            Real::F64 => {
                let axes = axes.double[way].get_or_init(|| functions(&self.sizes, direction));
                self.run_in::<f64>(axes, input, output);
            }
            _ => {
                let axes = axes.single[way].get_or_init(|| functions(&self.sizes, direction));
                self.run_in::<f32>(axes, input, output);
            }
        }
    }

    fn run_in<T: FftNum + Number>(&self, axes: &[Arc<dyn Fft<T>>], input: Place, output: Place) {
        // The output of a batch may lie over the input of the next.
        let loaded: Vec<_> = (0..self.batches).map(|batch| self.load::<T>(batch, input)).collect();
        for (batch, mut array) in loaded.into_iter().enumerate() {
            for (axis, function) in axes.iter().enumerate() {
                along(&mut array, &self.sizes, axis, &**function);
            }
            self.store(batch, &array, output);
        }
    }

    /// Returns a batch of the input, with all elements along the last axis.
    fn load<T: Number>(&self, batch: usize, place: Place) -> Vec<Complex<T>> {
        let side = &self.input;
        let get = |at: &[usize]| {
            let index = side.index(batch, at);
            let number = |index| T::of(place.get(side.real, index));
            match side.form {
                Form::Real => Complex { re: number(index), im: T::of(0.0) },
                Form::Complex => Complex { re: number(2 * index), im: number(2 * index + 1) },
            }
        };
        let last = self.sizes.len() - 1;
        let element = |at: &[usize]| {
            if at[last] < side.shape[last] {
                return get(at);
            }
            // The other half of a transform of real numbers.
            let mut opposite = [0; MAX_AXES];
            for (opposite, (at, size)) in opposite.iter_mut().zip(at.iter().zip(&self.sizes)) {
                *opposite = (size - at) % size;
            }
            let Complex { re, im } = get(&opposite[..=last]);
            Complex { re, im: T::of(-im.into_f64()) }
        };
        let mut array = vec![];
        places(&self.sizes, |at| array.push(element(at)));
        array
    }

    fn store<T: Number>(&self, batch: usize, array: &[Complex<T>], place: Place) {
        let side = &self.output;
        let last = self.sizes.len() - 1;
        let mut elements = array.iter();
        places(&self.sizes, |at| {
            let Some(Complex { re, im }) = elements.next() else { return };
            if at[last] >= side.shape[last] {
                return;
            }
            let index = side.index(batch, at);
            match side.form {
                Form::Real => place.set(side.real, index, re.into_f64()),
                Form::Complex => {
                    place.set(side.real, 2 * index, re.into_f64());
                    place.set(side.real, 2 * index + 1, im.into_f64());
                }
            }
        });
    }
}

/// Calls `visit` with each place in an array, along the last axis first.
fn places(sizes: &[usize], mut visit: impl FnMut(&[usize])) {
    let mut at = vec![0; sizes.len()];
    for _ in 0..sizes.iter().product() {
        visit(&at);
        for (at, size) in at.iter_mut().zip(sizes).rev() {
            *at += 1;
            if *at < *size {
                break;
            }
            *at = 0;
        }
    }
}

fn functions<T: FftNum>(sizes: &[usize], direction: FftDirection) -> Vec<Arc<dyn Fft<T>>> {
    let mut planner = FftPlanner::new();
    sizes.iter().map(|&size| planner.plan_fft(size, direction)).collect()
}

/// Transforms an array along one axis.
fn along<T: FftNum>(array: &mut [Complex<T>], sizes: &[usize], axis: usize, function: &dyn Fft<T>) {
    let size = sizes[axis];
    let step: usize = sizes[axis + 1..].iter().product();
    if step == 1 {
        return function.process(array);
    }
    let mut lines = vec![Complex { re: T::zero(), im: T::zero() }; size * step];
    for slab in array.chunks_exact_mut(size * step) {
        for (i, row) in slab.chunks_exact(step).enumerate() {
            for (line, &element) in row.iter().enumerate() {
                lines[line * size + i] = element;
            }
        }
        function.process(&mut lines);
        for (i, row) in slab.chunks_exact_mut(step).enumerate() {
            for (line, element) in row.iter_mut().enumerate() {
                *element = lines[line * size + i];
            }
        }
    }
}

/// The numbers of a computation.
trait Number: Copy {
    fn of(value: f64) -> Self;
    fn into_f64(self) -> f64;
}

impl Number for f32 {
    fn of(value: f64) -> f32 {
        value as f32
    }

    fn into_f64(self) -> f64 {
        self.into()
    }
}

impl Number for f64 {
    fn of(value: f64) -> f64 {
        value
    }

    fn into_f64(self) -> f64 {
        self
    }
}
