//! Plans, which are handles of transforms.

use std::collections::HashMap;
use std::ffi::{c_int, c_longlong};
use std::sync::Arc;

use warploom_cukit::handles::Handles;
use warploom_cukit::memory::{Out, Place, Pointer, Real};
use warploom_cukit::{Answer, Status, api, driver, require};

use crate::transform::{Axes, Form, MAX_AXES, Side, Transform};

/// The version of cuFFT that these functions follow.
const VERSION: c_int =
    if matches!(env!("CARGO_PKG_NAME").as_bytes(), [.., b'1', b'1']) { 11_401 } else { 12_200 };

/// A plan. The transform is missing until a call makes it.
#[derive(Clone, Default)]
struct Plan {
    stream: u64,
    made: Option<Arc<Made>>,
    properties: HashMap<u32, i64>,
}

struct Made {
    /// Out of place, and in place. They differ where a real side has no layout of its own.
    transforms: [Transform; 2],
    axes: Axes,
}

static PLANS: Handles<Plan> = Handles::new();

fn change<T>(plan: c_int, change: impl FnOnce(&mut Plan) -> T) -> Answer<T> {
    // A negative number is no handle.
    PLANS.with(plan as u64, change)
}

fn create(out: Out<c_int>, made: Option<Made>) -> Answer {
    driver::check()?;
    PLANS.create(out, Plan { made: made.map(Arc::new), ..Plan::default() })
}

/// The elements of both sides.
#[derive(Clone, Copy)]
struct Types {
    input: (Real, Form),
    output: (Real, Form),
}

impl Types {
    /// Returns the types of a `cufftType`.
    fn of(kind: u32) -> Answer<Types> {
        let (from, to) = match kind & 0xf {
            0x9 => (Form::Complex, Form::Complex),
            0xa => (Form::Real, Form::Complex),
            0xc => (Form::Complex, Form::Real),
            _ => return Err(Status::InvalidValue),
        };
        let real = match kind & !0xf {
            0x20 => Real::F32,
            0x60 => Real::F64,
            _ => return Err(Status::InvalidValue),
        };
        Ok(Types { input: (real, from), output: (real, to) })
    }

    /// Returns the types of two `cudaDataType_t`.
    fn of_data(input: u32, output: u32) -> Answer<Types> {
        let of = |kind| match kind {
            4 => Ok((Real::F32, Form::Complex)),
            5 => Ok((Real::F64, Form::Complex)),
            6 => Ok((Real::F16, Form::Complex)),
            15 => Ok((Real::Bf16, Form::Complex)),
            kind => Ok((Real::of(kind)?, Form::Real)),
        };
        let types = Types { input: of(input)?, output: of(output)? };
        let is_one = types.input.0 == types.output.0;
        let is_real = [types.input.1, types.output.1] == [Form::Real; 2];
        if is_one && !is_real { Ok(types) } else { Err(Status::NotSupported) }
    }
}

/// The layout of a side as calls give it: the array that contains the elements, from one element to
/// the next, from one batch to the next. `None`: without gaps.
type Given = Option<(Vec<i64>, i64, i64)>;

fn count(value: i64) -> Answer<usize> {
    usize::try_from(value).ok().filter(|&value| value > 0).ok_or(Status::InvalidSize)
}

impl Transform {
    fn new(
        sizes: &[usize],
        types: Types,
        layouts: [&Given; 2],
        batches: usize,
        in_place: bool,
    ) -> Answer<Transform> {
        let side = |(real, form): (Real, Form), other: Form, given: &Given| {
            let mut shape = sizes.to_vec();
            let last = shape.last_mut().ok_or(Status::InvalidValue)?;
            let half = *last / 2 + 1;
            if form == Form::Complex && other == Form::Real {
                *last = half;
            }
            let Some((embed, step, distance)) = given else {
                let mut embed = shape.clone();
                if form == Form::Real && in_place {
                    *embed.last_mut().ok_or(Status::InvalidValue)? = 2 * half;
                }
                let all = embed.iter().try_fold(1_usize, |all, &size| all.checked_mul(size));
                let distance = all.ok_or(Status::InvalidSize)?;
                return Ok(Side { real, form, shape, embed, step: 1, distance });
            };
            let embed = embed.iter().map(|&size| count(size)).collect::<Answer<Vec<usize>>>()?;
            let distance = usize::try_from(*distance).map_err(|_| Status::InvalidSize)?;
            Ok(Side { real, form, shape, embed, step: count(*step)?, distance })
        };
        let (input, output) = (types.input, types.output);
        let transform = Transform {
            input: side(input, output.1, layouts[0])?,
            output: side(output, input.1, layouts[1])?,
            sizes: sizes.to_vec(),
            batches,
        };
        let spans = [&transform.input, &transform.output].map(|side| side.span(batches));
        let [Some(_), Some(span)] = spans else { return Err(Status::InvalidSize) };
        // Elements of the output that lie over each other have no value. Without this rule, a small
        // array would stand for any amount of work.
        let numbers = transform.output.numbers(batches).ok_or(Status::InvalidSize)?;
        require(numbers <= span)?;
        Ok(transform)
    }
}

impl Made {
    fn new(sizes: &[i64], types: Types, layouts: [Given; 2], batches: i64) -> Answer<Made> {
        require((1..=MAX_AXES).contains(&sizes.len()))?;
        let sizes = sizes.iter().map(|&size| count(size)).collect::<Answer<Vec<usize>>>()?;
        let batches = count(batches)?;
        let [input, output] = &layouts;
        let of = |in_place| Transform::new(&sizes, types, [input, output], batches, in_place);
        Ok(Made { transforms: [of(false)?, of(true)?], axes: Axes::default() })
    }

    /// Makes a transform without gaps.
    fn basic(sizes: &[c_int], kind: u32, batches: c_int) -> Answer<Made> {
        let sizes: Vec<i64> = sizes.iter().map(|&size| size.into()).collect();
        Made::new(&sizes, Types::of(kind)?, [None, None], batches.into())
    }

    /// Makes a transform from lists in host memory, of numbers of 4 or 8 bytes.
    fn many(
        (axes, sizes, wide): (c_int, Pointer, bool),
        layouts: [(Pointer, i64, i64); 2],
        types: Types,
        batches: i64,
    ) -> Answer<Made> {
        let axes = usize::try_from(axes).map_err(|_| Status::InvalidValue)?;
        require((1..=MAX_AXES).contains(&axes))?;
        let sizes = sizes.integers(axes, wide).ok_or(Status::InvalidValue)?;
        // Without one of the arrays, neither side has a layout of its own.
        let [input, output] = layouts
            .map(|(embed, step, distance)| Some((embed.integers(axes, wide)?, step, distance)));
        let layouts =
            if input.is_some() && output.is_some() { [input, output] } else { [None, None] };
        Made::new(&sizes, types, layouts, batches)
    }

    /// Gives the transform to a plan. It needs no work area.
    fn give(self, plan: c_int, work: Out<usize>) -> Answer {
        change(plan, |plan| plan.made = Some(Arc::new(self)))?;
        work.set(0)
    }

    /// Makes a plan of the transform.
    fn into_new(self, out: Out<c_int>) -> Answer {
        create(out, Some(self))
    }

    /// Tells the size of the work area that the transform would need.
    fn needs(self, work: Out<usize>) -> Answer {
        work.set(0)
    }
}

/// The direction of a transform from complex to complex numbers.
fn is_inverse(direction: c_int) -> Answer<bool> {
    require(matches!(direction, -1 | 1))?;
    Ok(direction == 1)
}

/// Runs a plan whose sides have these forms; `None`: any.
fn execute(
    plan: c_int,
    [from, to]: [Pointer; 2],
    wanted: Option<(Real, Form, Form)>,
    direction: c_int,
) -> Answer {
    let Plan { stream, made, .. } = change(plan, |plan| plan.clone())?;
    let made = made.ok_or(Status::InvalidHandle)?;
    let number = usize::from(from == to);
    let transform = &made.transforms[number];
    let (input, output) = (&transform.input, &transform.output);
    let is_wanted = wanted.is_none_or(|wanted| wanted == (input.real, input.form, output.form));
    is_wanted.then_some(()).ok_or(Status::InvalidHandle)?;
    let inverse = match (input.form, output.form) {
        (Form::Complex, Form::Complex) => is_inverse(direction)?,
        (form, _) => form == Form::Complex,
    };
    let place = |pointer, side: &Side| {
        let span = side.span(transform.batches).ok_or(Status::InvalidSize)?;
        Place::on_device(pointer, side.real, span)
    };
    let (from, to) = (place(from, input)?, place(to, output)?);
    driver::submit(stream, move || {
        to.will_be_written();
        made.transforms[number].run(&made.axes, from, to, inverse);
    })
}

api! {
    fn cufftCreate(out: Out<c_int>) {
        create(out, None)
    }

    fn cufftDestroy(plan: c_int) {
        PLANS.destroy(plan as u64)
    }

    fn cufftSetStream(plan: c_int, stream: u64) {
        change(plan, |plan| plan.stream = stream)
    }

    fn cufftGetVersion(out: Out<c_int>) {
        out.set(VERSION)
    }

    fn cufftGetProperty(which: c_int, out: Out<c_int>) {
        require((0..3).contains(&which))?;
        out.set([VERSION / 1000, VERSION / 100 % 10, VERSION % 100][which as usize])
    }

    fn cufftPlan1d(out: Out<c_int>, x: c_int, kind: u32, batches: c_int) {
        Made::basic(&[x], kind, batches)?.into_new(out)
    }

    fn cufftPlan2d(out: Out<c_int>, x: c_int, y: c_int, kind: u32) {
        Made::basic(&[x, y], kind, 1)?.into_new(out)
    }

    fn cufftPlan3d(out: Out<c_int>, x: c_int, y: c_int, z: c_int, kind: u32) {
        Made::basic(&[x, y, z], kind, 1)?.into_new(out)
    }

    fn cufftPlanMany(out: Out<c_int>, axes: c_int, sizes: Pointer, from: Pointer, from_step: c_int, from_distance: c_int, to: Pointer, to_step: c_int, to_distance: c_int, kind: u32, batches: c_int) {
        let layouts = [(from, from_step.into(), from_distance.into()), (to, to_step.into(), to_distance.into())];
        Made::many((axes, sizes, false), layouts, Types::of(kind)?, batches.into())?.into_new(out)
    }

    fn cufftMakePlan1d(plan: c_int, x: c_int, kind: u32, batches: c_int, work: Out<usize>) {
        Made::basic(&[x], kind, batches)?.give(plan, work)
    }

    fn cufftMakePlan2d(plan: c_int, x: c_int, y: c_int, kind: u32, work: Out<usize>) {
        Made::basic(&[x, y], kind, 1)?.give(plan, work)
    }

    fn cufftMakePlan3d(plan: c_int, x: c_int, y: c_int, z: c_int, kind: u32, work: Out<usize>) {
        Made::basic(&[x, y, z], kind, 1)?.give(plan, work)
    }

    fn cufftMakePlanMany(plan: c_int, axes: c_int, sizes: Pointer, from: Pointer, from_step: c_int, from_distance: c_int, to: Pointer, to_step: c_int, to_distance: c_int, kind: u32, batches: c_int, work: Out<usize>) {
        let layouts = [(from, from_step.into(), from_distance.into()), (to, to_step.into(), to_distance.into())];
        Made::many((axes, sizes, false), layouts, Types::of(kind)?, batches.into())?.give(plan, work)
    }

    fn cufftMakePlanMany64(plan: c_int, axes: c_int, sizes: Pointer, from: Pointer, from_step: c_longlong, from_distance: c_longlong, to: Pointer, to_step: c_longlong, to_distance: c_longlong, kind: u32, batches: c_longlong, work: Out<usize>) {
        let layouts = [(from, from_step, from_distance), (to, to_step, to_distance)];
        Made::many((axes, sizes, true), layouts, Types::of(kind)?, batches)?.give(plan, work)
    }

    fn cufftXtMakePlanMany(plan: c_int, axes: c_int, sizes: Pointer, from: Pointer, from_step: c_longlong, from_distance: c_longlong, input: u32, to: Pointer, to_step: c_longlong, to_distance: c_longlong, output: u32, batches: c_longlong, work: Out<usize>, _execution: u32) {
        let layouts = [(from, from_step, from_distance), (to, to_step, to_distance)];
        Made::many((axes, sizes, true), layouts, Types::of_data(input, output)?, batches)?.give(plan, work)
    }

    fn cufftEstimate1d(x: c_int, kind: u32, batches: c_int, work: Out<usize>) {
        Made::basic(&[x], kind, batches)?.needs(work)
    }

    fn cufftEstimate2d(x: c_int, y: c_int, kind: u32, work: Out<usize>) {
        Made::basic(&[x, y], kind, 1)?.needs(work)
    }

    fn cufftEstimate3d(x: c_int, y: c_int, z: c_int, kind: u32, work: Out<usize>) {
        Made::basic(&[x, y, z], kind, 1)?.needs(work)
    }

    fn cufftEstimateMany(axes: c_int, sizes: Pointer, from: Pointer, from_step: c_int, from_distance: c_int, to: Pointer, to_step: c_int, to_distance: c_int, kind: u32, batches: c_int, work: Out<usize>) {
        let layouts = [(from, from_step.into(), from_distance.into()), (to, to_step.into(), to_distance.into())];
        Made::many((axes, sizes, false), layouts, Types::of(kind)?, batches.into())?.needs(work)
    }

    fn cufftGetSize1d(plan: c_int, x: c_int, kind: u32, batches: c_int, work: Out<usize>) {
        change(plan, |_| ())?;
        Made::basic(&[x], kind, batches)?.needs(work)
    }

    fn cufftGetSize2d(plan: c_int, x: c_int, y: c_int, kind: u32, work: Out<usize>) {
        change(plan, |_| ())?;
        Made::basic(&[x, y], kind, 1)?.needs(work)
    }

    fn cufftGetSize3d(plan: c_int, x: c_int, y: c_int, z: c_int, kind: u32, work: Out<usize>) {
        change(plan, |_| ())?;
        Made::basic(&[x, y, z], kind, 1)?.needs(work)
    }

    fn cufftGetSizeMany(plan: c_int, axes: c_int, sizes: Pointer, from: Pointer, from_step: c_int, from_distance: c_int, to: Pointer, to_step: c_int, to_distance: c_int, kind: u32, batches: c_int, work: Out<usize>) {
        change(plan, |_| ())?;
        let layouts = [(from, from_step.into(), from_distance.into()), (to, to_step.into(), to_distance.into())];
        Made::many((axes, sizes, false), layouts, Types::of(kind)?, batches.into())?.needs(work)
    }

    fn cufftGetSizeMany64(plan: c_int, axes: c_int, sizes: Pointer, from: Pointer, from_step: c_longlong, from_distance: c_longlong, to: Pointer, to_step: c_longlong, to_distance: c_longlong, kind: u32, batches: c_longlong, work: Out<usize>) {
        change(plan, |_| ())?;
        let layouts = [(from, from_step, from_distance), (to, to_step, to_distance)];
        Made::many((axes, sizes, true), layouts, Types::of(kind)?, batches)?.needs(work)
    }

    fn cufftXtGetSizeMany(plan: c_int, axes: c_int, sizes: Pointer, from: Pointer, from_step: c_longlong, from_distance: c_longlong, input: u32, to: Pointer, to_step: c_longlong, to_distance: c_longlong, output: u32, batches: c_longlong, work: Out<usize>, _execution: u32) {
        change(plan, |_| ())?;
        let layouts = [(from, from_step, from_distance), (to, to_step, to_distance)];
        Made::many((axes, sizes, true), layouts, Types::of_data(input, output)?, batches)?.needs(work)
    }

    fn cufftGetSize(plan: c_int, work: Out<usize>) {
        change(plan, |_| ())?;
        work.set(0)
    }

    /// Transforms need no work area.
    fn cufftSetWorkArea(plan: c_int, _area: Pointer) {
        change(plan, |_| ())
    }

    /// Transforms need no work area.
    fn cufftSetAutoAllocation(plan: c_int, _automatic: c_int) {
        change(plan, |_| ())
    }

    /// Transforms need no work area.
    fn cufftXtSetWorkArea(plan: c_int, _areas: Pointer) {
        change(plan, |_| ())
    }

    /// Transforms need no work area.
    fn cufftXtSetWorkAreaPolicy(plan: c_int, policy: u32, work: Out<usize>) {
        require(policy <= 2)?;
        change(plan, |_| ())?;
        work.set(0)
    }

    /// Properties have no effect.
    fn cufftSetPlanPropertyInt64(plan: c_int, property: u32, value: c_longlong) {
        require(matches!(property, 1 | 2))?;
        change(plan, |plan| plan.properties.insert(property, value))?;
        Ok(())
    }

    fn cufftGetPlanPropertyInt64(plan: c_int, property: u32, out: Out<c_longlong>) {
        require(matches!(property, 1 | 2))?;
        out.set(change(plan, |plan| plan.properties.get(&property).copied().unwrap_or(0))?)
    }

    fn cufftResetPlanProperty(plan: c_int, property: u32) {
        require(matches!(property, 1 | 2))?;
        change(plan, |plan| plan.properties.remove(&property))?;
        Ok(())
    }

    fn cufftExecC2C(plan: c_int, from: Pointer, to: Pointer, direction: c_int) {
        execute(plan, [from, to], Some((Real::F32, Form::Complex, Form::Complex)), direction)
    }

    fn cufftExecR2C(plan: c_int, from: Pointer, to: Pointer) {
        execute(plan, [from, to], Some((Real::F32, Form::Real, Form::Complex)), 0)
    }

    fn cufftExecC2R(plan: c_int, from: Pointer, to: Pointer) {
        execute(plan, [from, to], Some((Real::F32, Form::Complex, Form::Real)), 0)
    }

    fn cufftExecZ2Z(plan: c_int, from: Pointer, to: Pointer, direction: c_int) {
        execute(plan, [from, to], Some((Real::F64, Form::Complex, Form::Complex)), direction)
    }

    fn cufftExecD2Z(plan: c_int, from: Pointer, to: Pointer) {
        execute(plan, [from, to], Some((Real::F64, Form::Real, Form::Complex)), 0)
    }

    fn cufftExecZ2D(plan: c_int, from: Pointer, to: Pointer) {
        execute(plan, [from, to], Some((Real::F64, Form::Complex, Form::Real)), 0)
    }

    fn cufftXtExec(plan: c_int, from: Pointer, to: Pointer, direction: c_int) {
        execute(plan, [from, to], None, direction)
    }
}
