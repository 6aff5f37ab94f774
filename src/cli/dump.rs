//! `warploom dump`

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use warploom::{Program, Stage};
use warploom_container::recognise;
use warploom_cranelift::Target;
use warploom_engine::Effort;
use warploom_replay::{Launch, Manifest, read};

use super::{Ending, Error, GpuChoice, effort, print, session};

#[derive(clap::Args)]
pub struct Options {
    /// A GPU binary, or a launch, a TOML file.
    file: PathBuf,
    /// A kernel of the binary; a launch has one.
    kernel: Option<String>,
    #[command(flatten)]
    gpu: GpuChoice,
    /// The stage of the translation.
    #[arg(long)]
    stage: StageChoice,
    /// The effort for code, as in `run --effort`; for the stages `plan`, `clif` and `host`.
    #[arg(long, default_value = "likely", value_parser = effort())]
    effort: Effort,
    /// Shape of the blocks to translate for, such as 16,16,1 [default: 256,1,1, or that of the
    /// launch]
    #[arg(long, value_name = "X,Y,Z", value_parser = shape)]
    block: Option<[u32; 3]>,
    /// The host to translate for, with features: x86_64-unknown-linux-gnu,x86-64-v3,-fma or
    /// aarch64-unknown-linux-gnu [default: this one]. Other architectures need a build with the
    /// feature all-hosts
    #[arg(long, value_name = "TRIPLE[,FEATURE...]")]
    target: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum StageChoice {
    /// Guest instructions, block by block.
    Blocks,
    /// The intermediate representation.
    Ir,
    /// The intermediate representation after analysis, from which code is made.
    Analysed,
    /// The steps of each block, the order that code runs them in, and why loops stay in memory.
    Plan,
    /// The intermediate representation of Cranelift.
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
        StageChoice::Analysed => Stage::Analysed,
        StageChoice::Plan => Stage::Plan(options.effort),
        StageChoice::Clif => Stage::Clif(options.effort),
        StageChoice::Host => Stage::Host(options.effort),
    };
    let target = options
        .target
        .as_deref()
        .map(Target::named)
        .transpose()
        .map_err(|error| Error::Other(format!("--target: {error}")))?;
    let target = target.as_ref();
    let failed = |e| Error::exec(&options.file)(e);
    let bytes = read::file(&options.file)?;
    let text = match (&options.kernel, launch(&options.file, &bytes)) {
        (None, Some(launch)) => {
            let mut launch = launch?;
            launch.arch = options.gpu.arch.or(launch.arch);
            let session = session(&launch)?;
            session.dump(stage, options.block, target).map_err(failed)?
        }
        (name, _) => {
            let program =
                Program::load_for(&bytes, name.as_deref(), options.gpu.arch).map_err(failed)?;
            let kernel = match name {
                Some(name) => program.kernel(name),
                None => program.only_kernel(),
            };
            kernel
                .map_err(failed)?
                .dump(stage, options.block.unwrap_or([256, 1, 1]), target)
                .map_err(failed)?
        }
    };
    print(&text)?;
    Ok(Ending::Success)
}

/// Parses a file as a manifest if it is text and not a GPU binary.
fn launch(path: &Path, bytes: &[u8]) -> Option<Result<Launch, Error>> {
    let text = std::str::from_utf8(bytes).ok().filter(|_| recognise(bytes).is_none())?;
    Some(
        Manifest::parse(text, path)
            .and_then(|manifest| Launch::resolve(manifest, path))
            .map_err(Error::from),
    )
}
