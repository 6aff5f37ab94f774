//! `warploom schema`: the JSON schemas of manifests and of what commands print.

use schemars::{Schema, schema_for};

use warploom_replay::{listing, report};

use super::{Ending, Error, bench, inspect, print_json};

#[derive(clap::Args)]
pub struct Options {
    /// The subject of the schema.
    of: Of,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Of {
    /// The launch manifest, a TOML file.
    Manifest,
    /// `run --report` and `run --json`.
    Run,
    /// `bench --json`.
    Bench,
    /// `inspect --json`.
    Inspect,
    /// `disasm --json`.
    Disasm,
}

impl Of {
    fn schema(self) -> Schema {
        match self {
            Of::Manifest => warploom_replay::schema::manifest(),
            Of::Run => schema_for!(report::Report),
            Of::Bench => schema_for!(bench::Report),
            Of::Inspect => schema_for!(inspect::json::Report),
            Of::Disasm => schema_for!(listing::report::Report),
        }
    }
}

pub(super) fn run(options: &Options) -> Result<Ending, Error> {
    print_json(&options.of.schema())?;
    Ok(Ending::Success)
}
