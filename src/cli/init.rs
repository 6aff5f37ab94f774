//! `warploom init`

use std::path::{Path, PathBuf};

use warploom_replay::arguments::is_compute;
use warploom_replay::{read, skeleton};

use super::{Ending, Error, GpuChoice, note, print};

#[derive(clap::Args)]
pub struct Options {
    /// A GPU binary, see `warploom inspect`.
    file: PathBuf,
    /// The kernel. May be left out if the binary has one kernel.
    kernel: Option<String>,
    #[command(flatten)]
    gpu: GpuChoice,
    /// Writes the manifest to this file, not to standard output. Paths in it are relative to its
    /// folder. A file that exists is not replaced.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run(options: &Options) -> Result<Ending, Error> {
    let file = &options.file;
    let bytes = read::file(file)?;
    let failed = |source| Error::Container { path: file.clone(), source };
    let found = warploom_container::read_for(&bytes, options.gpu.arch).map_err(failed)?;
    let kernels = || {
        found.modules.iter().flat_map(|module| module.kernels().map(move |(id, _)| (module, id)))
    };
    let names: Vec<&str> =
        kernels().map(|(module, id)| module.function(id).name.as_str()).collect();
    let (module, id) = match (&options.kernel, names.as_slice()) {
        (Some(name), names) => {
            kernels().find(|(module, id)| module.function(*id).name == *name).ok_or_else(|| {
                let (name, names) = (name.clone(), owned(names));
                Error::exec(file)(warploom::Error::NoSuchKernel { name, names })
            })?
        }
        (None, [_]) => kernels().next().expect("there is one"),
        (None, []) => return Err(Error::exec(file)(warploom::Error::NoKernels)),
        (None, names) => {
            let names = owned(names);
            return Err(Error::exec(file)(warploom::Error::SeveralKernels { names }));
        }
    };
    let kernel = module.function(id);
    if !is_compute(kernel) {
        let (file, name) = (file.display(), &kernel.name);
        return Err(Error::Other(format!(
            "{file}: `{name}` is a program of a pipeline: docs/graphics.md describes its manifest"
        )));
    }
    let arch = options.gpu.arch.map(|arch| arch.to_string());
    let text = |binary: &Path| skeleton::manifest(binary, module, id, arch.as_deref());
    let Some(out) = &options.out else {
        print(text(file))?;
        return Ok(Ending::Success);
    };
    if out.exists() {
        let out = out.display();
        return Err(Error::Other(format!("{out}: it exists, and would be replaced")));
    }
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    let binary = relative(file, folder.unwrap_or(Path::new(".")));
    let text = text(&binary);
    warploom_replay::write::file(out, |into| into.write_all(text.as_bytes()))?;
    let out = out.display();
    note(&format!("wrote {out}; to run it: warploom run {out}\n"));
    Ok(Ending::Success)
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Returns the path of a file as seen from a folder.
fn relative(file: &Path, folder: &Path) -> PathBuf {
    let (Ok(file), Ok(folder)) = (file.canonicalize(), folder.canonicalize()) else {
        return file.to_path_buf();
    };
    let shared = file.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Path::new("..").as_os_str());
    let down = file.components().skip(shared).map(|part| part.as_os_str());
    up.chain(down).collect()
}
