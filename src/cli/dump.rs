//! `warploom dump`

use std::path::PathBuf;

use clap::ValueEnum;

use super::{Ending, Error, print, read};
use crate::exec::{Program, Stage};

#[derive(clap::Args)]
pub struct Options {
    /// A GPU binary.
    file: PathBuf,
    /// A kernel of it.
    kernel: String,
    #[arg(long)]
    stage: StageChoice,
    /// Shape of the blocks to translate for, such as 16,16,1.
    #[arg(long, value_name = "X,Y,Z", default_value = "256,1,1", value_parser = shape)]
    block: [u32; 3],
}

#[derive(Clone, Copy, ValueEnum)]
enum StageChoice {
    /// Guest instructions, block by block.
    Blocks,
    /// The intermediate representation.
    Ir,
    /// Cranelift's.
    Clif,
    /// Host code.
    Host,
}

fn shape(text: &str) -> Result<[u32; 3], String> {
    let wrong = || "expected one to three numbers from 1, such as 16,16,1".to_string();
    let mut shape = [1; 3];
    let mut parts = text.split(',');
    for (axis, part) in shape.iter_mut().zip(parts.by_ref()) {
        *axis = part.trim().parse().ok().filter(|&n| n > 0).ok_or_else(wrong)?;
    }
    if parts.next().is_some() { Err(wrong()) } else { Ok(shape) }
}

pub(super) fn run(options: &Options) -> Result<Ending, Error> {
    let stage = match options.stage {
        StageChoice::Blocks => Stage::Blocks,
        StageChoice::Ir => Stage::Ir,
        StageChoice::Clif => Stage::Clif,
        StageChoice::Host => Stage::Host,
    };
    let bytes = read(&options.file)?;
    let program = Program::load(&bytes, Some(&options.kernel)).map_err(Error::exec(&options.file))?;
    let kernel = program.kernel(&options.kernel).map_err(Error::exec(&options.file))?;
    print(&kernel.dump(stage, options.block).map_err(Error::exec(&options.file))?)?;
    Ok(Ending::Success)
}
