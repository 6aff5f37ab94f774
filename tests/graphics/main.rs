//! Shaders of GFX9 over arrays of lanes, on both engines.
//!
//! `corpus` runs RADV's code against results that Mesa's CPU driver or NumPy computed. Handwritten
//! tests cover samples of cubes (`cubes`), the rasteriser's pixels against arrays of them
//! (`drawn`), exports and interpolation (`exports`), messages of geometry programs (`geometry`),
//! stores and atomics of helpers and killed lanes, which have no effect (`helpers`), manifests
//! (`manifests`), and a vertex and a fragment program through the rasteriser (`pair`).

mod corpus;
mod cubes;
mod drawn;
mod exports;
mod geometry;
mod helpers;
mod manifests;
mod pair;
mod volumes;

use std::path::Path;

use warploom::EngineKind;
use warploom_replay::graphics::Exported;
use warploom_replay::{Launch, Manifest, Run, Session, first_difference};

const ENGINES: [EngineKind; 2] = [EngineKind::Interp, EngineKind::Jit];

/// Returns a launch of assembly; `rest` is the rest of its manifest.
fn assembled(code: &str, stage: &str, rest: &str) -> Result<Launch, String> {
    let text = format!(
        "[kernel]\nbinary = \"shader.s\"\nformat = \"gfx9-raw\"\nstage = \"{stage}\"\n{rest}"
    );
    let path = Path::new("shader.toml");
    let manifest = Manifest::parse(&text, path).map_err(|error| error.to_string())?;
    let binary = format!(".target gfx900\n{code}\ns_endpgm\n").into_bytes();
    Launch::with_binary(manifest, path, binary).map_err(|error| error.to_string())
}

/// Runs a launch on both engines with one and two threads, and checks that the runs agree. Returns
/// the first session and its results.
fn run<'c>(launch: &'c Launch, label: &str) -> (Session<'c>, Exported) {
    let sessions = ENGINES.map(|engine| {
        Session::new(launch).unwrap_or_else(|error| panic!("{label}, {engine}: {error}"))
    });
    for threads in [1, 2] {
        for session in &sessions {
            session.reset().unwrap();
        }
        let options = [0, 1].map(|i| sessions[i].options(ENGINES[i], threads));
        let outcomes = [0, 1].map(|i| sessions[i].launch(&options[i], None).unwrap());
        for (engine, outcome) in ENGINES.iter().zip(&outcomes) {
            assert_eq!(outcome.fault, None, "{label}, {engine}, {threads} threads");
        }
        let runs = [0, 1].map(|i| Run {
            session: &sessions[i],
            options: &options[i],
            outcome: &outcomes[i],
        });
        let difference = first_difference(&runs[0], &runs[1]).unwrap();
        assert_eq!(difference, None, "{label}, {threads} threads");
    }
    let [session, _] = sessions;
    let exported = session.exported().unwrap().expect("it is a shader");
    (session, exported)
}

/// Returns the fault that ends a launch, after a check that both engines agree on it.
fn fault(launch: &Launch) -> String {
    let [a, b] = ENGINES.map(|engine| {
        let session = Session::new(launch).unwrap();
        let outcome = session.launch(&session.options(engine, 1), None).unwrap();
        outcome.fault.expect("a fault").to_string()
    });
    assert_eq!(a, b);
    a
}

/// Returns the reason why a launch of assembly does not start.
fn error(code: &str, stage: &str, rest: &str) -> String {
    let launch = match assembled(code, stage, rest) {
        Err(error) => return error,
        Ok(launch) => launch,
    };
    match Session::new(&launch) {
        Err(error) => error.to_string(),
        Ok(session) => {
            let options = session.options(Default::default(), 1);
            session.launch(&options, None).expect_err("an error").to_string()
        }
    }
}

/// Returns a list of numbers as TOML.
fn list<T: std::fmt::Debug>(numbers: impl IntoIterator<Item = T>) -> String {
    format!("{:?}", numbers.into_iter().collect::<Vec<_>>())
}
