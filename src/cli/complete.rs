//! `warploom completions` and `warploom man`: made from the command line's grammar.

use std::path::PathBuf;

use clap_complete::Shell;

use super::{Ending, Error, command, note, print};

#[derive(clap::Args)]
pub struct Options {
    /// The shell. Bash reads the text in ~/.local/share/bash-completion/completions/warploom.
    shell: Shell,
}

pub(super) fn run(options: &Options) -> Result<Ending, Error> {
    let mut text = vec![];
    clap_complete::generate(options.shell, &mut command(), "warploom", &mut text);
    print(text)?;
    Ok(Ending::Success)
}

#[derive(clap::Args)]
pub struct Pages {
    /// The folder for the pages: warploom.1, and one for each subcommand.
    folder: PathBuf,
}

pub(super) fn pages(options: &Pages) -> Result<Ending, Error> {
    let folder = &options.folder;
    let failed = |doing| {
        let path = folder.clone();
        move |source| Error::Io { path, doing, source }
    };
    std::fs::create_dir_all(folder).map_err(failed("cannot be made a folder"))?;
    clap_mangen::generate_to(command(), folder).map_err(failed("cannot be written to"))?;
    note(&format!("wrote the pages to {}\n", folder.display()));
    Ok(Ending::Success)
}
