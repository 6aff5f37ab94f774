//! Loads a cubin, launches its kernel, and reads the results; then a fault.
//!
//!     cargo run --release --example launch

use warploom::{Arg, LaunchOptions, Program};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let binary = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/saxpy/saxpy.sm_50.cubin");
    let program = Program::load(&std::fs::read(binary)?, Some("saxpy"))?;
    let kernel = program.kernel("saxpy")?;

    // y = 2 x + y, over 1,000 elements.
    let bytes: Vec<u8> = (0..1000).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let memory = program.memory();
    let [x, y] = [memory.alloc(4000, 4)?, memory.alloc(4000, 4)?];
    memory.write(x, &bytes)?;
    memory.write(y, &bytes)?;
    let options = LaunchOptions::new([4, 1, 1], [256, 1, 1]);
    let args = [Arg::from(1000), Arg::from(2.0_f32), Arg::pointer(x), Arg::pointer(y)];
    let outcome = kernel.launch(&args, &options)?;
    assert!(outcome.fault.is_none());
    let mut last = [0; 4];
    memory.read(y + 4 * 999, &mut last)?;
    println!(
        "y[999] = {}, after {} instructions",
        f32::from_le_bytes(last),
        outcome.counts.instructions
    );

    // A launch with a null pointer ends with a fault, which is no error of the host's.
    let outcome = kernel.launch(
        &[Arg::from(1000), Arg::from(2.0_f32), Arg::pointer(0), Arg::pointer(y)],
        &options,
    )?;
    let fault = outcome.fault.ok_or("a null pointer is read")?;
    println!("{:?} at pc {:#x}, lane {}", fault.kind(), fault.fault.pc, fault.fault.lane);
    println!("{fault}");
    Ok(())
}
