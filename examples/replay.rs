//! Runs a captured launch, which a manifest describes, on both engines, and compares what they leave.
//!
//!     cargo run --release --example replay -- examples/mandelbrot/mandelbrot.toml

use std::path::Path;

use warploom::EngineKind;
use warploom_replay::{Launch, Run, Session, first_difference};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let manifest = std::env::args().nth(1).unwrap_or_else(|| "examples/saxpy/saxpy.toml".into());
    let launch = Launch::read(Path::new(&manifest))?;
    let sessions = [Session::new(&launch)?, Session::new(&launch)?];
    let options =
        [EngineKind::Jit, EngineKind::Interp].map(|engine| sessions[0].options(engine, 1));
    let mut outcomes = Vec::new();
    for (session, options) in sessions.iter().zip(&options) {
        outcomes.push(session.launch(options, None)?);
    }
    let run = |i: usize| Run { session: &sessions[i], options: &options[i], outcome: &outcomes[i] };
    match first_difference(&run(0), &run(1))? {
        None => println!("{manifest}: both engines agree"),
        Some(difference) => println!("{manifest}: {difference}"),
    }
    Ok(())
}
