//! The command in the role of NVIDIA's assembler `ptxas`: checks PTX, and hands it on as the "cubin".
//! The CUDA driver library tells the two apart.
//!
//! `warploom cuda` links the name `ptxas` to this command for GPUs whose machine code does not run, and
//! tells Triton and XLA of it. Options are NVIDIA's; most have no effect.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use warploom_container::Arch;

/// The name of the command in this role.
pub const NAME: &str = "ptxas";

/// Programs read the release, and choose their version of PTX by it.
const VERSION: &str = "ptxas: warploom's, which checks PTX and hands it on
Cuda compilation tools, release 12.9, V12.9.86";

/// Options whose value is the next argument, unless it follows behind `=`.
const WITH_VALUE: [&str; 18] = [
    "-o",
    "--output-file",
    "-arch",
    "--gpu-name",
    "-O",
    "--opt-level",
    "-maxrregcount",
    "--maxrregcount",
    "-m",
    "--machine",
    "-e",
    "--entry",
    "-dlcm",
    "--def-load-cache",
    "-dscm",
    "--def-store-cache",
    "-optf",
    "--options-file",
];

/// Returns whether the command was called by this name.
pub fn is_called(program: &OsStr) -> bool {
    Path::new(program).file_name() == Some(OsStr::new(NAME))
}

/// The command line.
#[derive(Debug, Default, PartialEq)]
struct Options {
    input: Option<PathBuf>,
    output: Option<PathBuf>,
    gpu: Option<String>,
}

impl Options {
    fn read(arguments: impl IntoIterator<Item = String>) -> Result<Options, String> {
        let (mut options, mut arguments) = (Options::default(), arguments.into_iter());
        while let Some(argument) = arguments.next() {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) if name.starts_with('-') => (name, Some(value.to_owned())),
                _ if WITH_VALUE.contains(&&*argument) => (&*argument, arguments.next()),
                _ => (&*argument, None),
            };
            match (name, value) {
                ("-o" | "--output-file", Some(path)) => options.output = Some(path.into()),
                ("-arch" | "--gpu-name", Some(gpu)) => options.gpu = Some(gpu),
                (name, None) if WITH_VALUE.contains(&name) => {
                    return Err(format!("{name}: expected a value behind it"));
                }
                (name, _) if name.starts_with('-') => {}
                (path, _) if options.input.is_none() => options.input = Some(path.into()),
                (path, _) => return Err(format!("{path}: expected one input file")),
            }
        }
        Ok(options)
    }
}

/// Runs the command. The error is a message.
pub fn run(arguments: impl IntoIterator<Item = String>) -> Result<(), String> {
    let arguments: Vec<String> = arguments.into_iter().collect();
    if arguments.iter().any(|argument| matches!(&**argument, "--version" | "-V")) {
        println!("{VERSION}");
        return Ok(());
    }
    let options = Options::read(arguments)?;
    let input = options.input.ok_or("expected an input file")?;
    let name = input.display();
    let mut text = std::fs::read(&input).map_err(|e| format!("{name}: cannot be read: {e}"))?;
    let arch = options.gpu.as_deref().map(|gpu| {
        warploom_container::cuda_device(gpu).map(Arch::Sm).map_err(|e| format!("--gpu-name: {e}"))
    });
    let arch = arch.transpose()?;
    warploom_container::modules_for(&text, arch).map_err(|e| format!("{name}: {e}"))?;
    // Programs hand the result to the driver, which needs the end of the text.
    text.push(0);
    let output = options.output.unwrap_or_else(|| "elf.o".into());
    let written = warploom_replay::write::file(&output, |into| into.write_all(&text));
    written.map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        Options::read(line.split_whitespace().map(Into::into))
    }

    #[test]
    fn command_lines_of_triton_and_xla_are_read() {
        let of_triton = "-lineinfo -v --opt-level 3 --gpu-name=sm_90a k.ptx -o k.cubin";
        let of_xla = "/tmp/file -o /tmp/out -arch=sm_90 --warn-on-spills -v";
        let options = |input: &str, output: &str, gpu: &str| Options {
            input: Some(input.into()),
            output: Some(output.into()),
            gpu: Some(gpu.into()),
        };
        assert_eq!(read(of_triton), Ok(options("k.ptx", "k.cubin", "sm_90a")));
        assert_eq!(read(of_xla), Ok(options("/tmp/file", "/tmp/out", "sm_90")));
        for wrong in ["k.ptx -o", "a.ptx b.ptx", "k.ptx -arch"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
