//! The summary of a process that used the CUDA driver library.
//!
//! The library writes it when the process ends; `warploom cuda` reads and prints it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::names;

/// The environment variable with the folder in which a process leaves its summary, as `PID.json`.
pub const VARIABLE: &str = "WARPLOOM_SUMMARY";

/// The launches of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelSummary {
    pub launches: u64,
    /// The time of these launches in nanoseconds, with the translation of code that they reached.
    pub ns: u64,
    /// The part of this time that translation took.
    pub translate_ns: u64,
}

/// A kernel that had not ended when the summary was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    pub kernel: String,
    /// The time that it had run, in nanoseconds.
    pub ns: u64,
}

/// The activity of one process, or of several together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The GPU that the library claimed to be, for example `sm_52`.
    pub device: String,
    /// The number of contexts that were created.
    pub contexts: u64,
    /// Wall time in which at least one kernel ran, in nanoseconds.
    pub busy_ns: u64,
    /// Kernels that were interrupted.
    pub running: Vec<Running>,
    /// Reasons why code could not be loaded, each once.
    pub not_loaded: Vec<String>,
    /// The time that the program's threads spent in calls of the library, in nanoseconds.
    pub calls_ns: u64,
    /// Launches by the name of the kernel.
    pub kernels: BTreeMap<String, KernelSummary>,
    /// Reports of launches that ended in a fault.
    pub faults: Vec<String>,
    /// Reports of checks.
    #[serde(default)]
    pub findings: Vec<String>,
    /// Calls that are not supported, with the number of times each was made.
    pub unsupported: BTreeMap<String, u64>,
    /// The number of requests for an undocumented table of the driver.
    pub private_tables: u64,
    /// The number of launches that were written as manifests.
    pub captured: u64,
    /// Captures that were not written or not complete, and why.
    pub not_captured: Vec<String>,
}

impl Summary {
    /// Adds the summary of another process.
    pub fn add(&mut self, other: Summary) {
        self.device = other.device;
        self.contexts += other.contexts;
        self.busy_ns += other.busy_ns;
        self.running.extend(other.running);
        self.not_loaded.extend(other.not_loaded);
        self.calls_ns += other.calls_ns;
        for (name, kernel) in other.kernels {
            let sum = self.kernels.entry(name).or_default();
            sum.launches += kernel.launches;
            sum.ns += kernel.ns;
            sum.translate_ns += kernel.translate_ns;
        }
        self.faults.extend(other.faults);
        self.findings.extend(other.findings);
        for (name, count) in other.unsupported {
            *self.unsupported.entry(name).or_default() += count;
        }
        self.private_tables += other.private_tables;
        self.captured += other.captured;
        self.not_captured.extend(other.not_captured);
    }

    /// Formats the summary as lines for people.
    ///
    /// Kernels with the longest time come first, at most `most` of them.
    pub fn text(&self, most: usize, time: impl Fn(Duration) -> String) -> String {
        let launches: u64 = self.kernels.values().map(|kernel| kernel.launches).sum();
        let time = |ns| time(Duration::from_nanos(ns));
        let mut text = match (launches, self.contexts) {
            (0, 0) => "no process made a context of the CUDA driver library\n".to_string(),
            (0, _) => format!(
                "{}: no kernel has run; in calls of the driver {}\n",
                self.device,
                time(self.calls_ns)
            ),
            _ => format!(
                "{}: {} of {}, {}; in calls of the driver {}\n",
                self.device,
                counted(launches, "launch", "launches"),
                counted(self.kernels.len() as u64, "kernel", "kernels"),
                time(self.busy_ns),
                time(self.calls_ns)
            ),
        };
        let mut kernels: Vec<_> = self.kernels.iter().collect();
        kernels.sort_by_key(|(_, kernel)| std::cmp::Reverse(kernel.ns));
        let shown: Vec<&str> = kernels.iter().take(most).map(|(name, _)| name.as_str()).collect();
        let names = names::readable(&shown);
        let write = "writing to a string does not fail";
        if !names.is_empty() {
            writeln!(text, "  {:>10}  {:>11}  {:>8}", "total", "translation", "launches")
                .expect(write);
        }
        for ((_, kernel), name) in kernels.iter().zip(names) {
            let (total, translation) = (time(kernel.ns), time(kernel.translate_ns));
            writeln!(text, "  {total:>10}  {translation:>11}  {:>8}  {name}", kernel.launches)
                .expect(write);
        }
        if kernels.len() > most {
            writeln!(text, "  and {} more", kernels.len() - most).expect(write);
        }
        for Running { kernel, ns } in &self.running {
            writeln!(text, "still running after {}: {}", time(*ns), names::readable(&[kernel])[0])
                .expect(write);
        }
        for reason in &self.not_loaded {
            writeln!(text, "not loaded: {reason}").expect(write);
        }
        for fault in &self.faults {
            writeln!(text, "fault: {fault}").expect(write);
        }
        for finding in &self.findings {
            writeln!(text, "found: {finding}").expect(write);
        }
        for (name, count) in &self.unsupported {
            let times = counted(*count, "time", "times");
            writeln!(text, "not supported, called {times}: {name}").expect(write);
        }
        if self.captured > 0 {
            let launches = counted(self.captured, "launch", "launches");
            writeln!(text, "captured: {launches}").expect(write);
        }
        for reason in &self.not_captured {
            writeln!(text, "not captured: {reason}").expect(write);
        }
        text + self.advice().unwrap_or_default()
    }

    /// Returns advice on building a program whose static runtime gave up.
    ///
    /// The sign of it: the program asked for tables of NVIDIA's driver, and nothing ran.
    pub fn advice(&self) -> Option<&'static str> {
        (self.kernels.is_empty() && self.private_tables > 0).then_some(STATIC_RUNTIME)
    }
}

fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Advice to build a program without NVIDIA's runtime inside.
const STATIC_RUNTIME: &str = "\
The program carries NVIDIA's CUDA runtime inside (libcudart_static), which works with NVIDIA's driver only
and gives up then (error 103 or 500). Build it with the runtime as a shared library, which warploom replaces:
  nvcc        export NVCC_APPEND_FLAGS=\"-cudart shared\" and build anew
  CMake       set(CMAKE_CUDA_RUNTIME_LIBRARY Shared), or -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared
  setuptools  extra_compile_args={\"nvcc\": [\"-cudart\", \"shared\"]}, libraries=[\"cudart\"]
  Bazel       rules_cuda: --@rules_cuda//cuda:runtime=@cuda//:cuda_runtime
";

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(launches: u64, ns: u64) -> KernelSummary {
        KernelSummary { launches, ns, translate_ns: ns / 2 }
    }

    #[test]
    fn processes_are_added_and_the_longest_kernels_come_first() {
        let of = |name: &str, kernel| Summary {
            kernels: [(name.to_string(), kernel)].into(),
            ..Summary::default()
        };
        let mut sum = of("a", kernel(2, 10));
        sum.add(of("a", kernel(1, 5)));
        sum.add(of("b", kernel(1, 90)));
        sum.add(Summary {
            device: "sm_52".into(),
            calls_ns: 7,
            busy_ns: 100,
            ..of("c", kernel(1, 1))
        });
        assert_eq!(sum.kernels["a"], KernelSummary { translate_ns: 7, ..kernel(3, 15) });
        let text = sum.text(2, |time| format!("{} ns", time.as_nanos()));
        assert!(
            text.starts_with(
                "sm_52: 5 launches of 3 kernels, 100 ns; in calls of the driver 7 ns\n"
            ),
            "{text}"
        );
        assert!(text.find(" b\n") < text.find(" a\n") && text.contains("and 1 more"), "{text}");
    }

    #[test]
    fn without_a_launch_it_says_how_far_the_program_came() {
        let text = |summary: &Summary| summary.text(9, |time| format!("{} ns", time.as_nanos()));
        assert_eq!(
            text(&Summary::default()),
            "no process made a context of the CUDA driver library\n"
        );
        let running = vec![Running { kernel: "_Z5saxpyif".into(), ns: 12 }];
        let made = Summary { device: "sm_80".into(), contexts: 1, running, ..Summary::default() };
        let expected = "sm_80: no kernel has run; in calls of the driver 0 ns\nstill running after 12 ns: saxpy\n";
        assert_eq!(text(&made), expected);
    }

    #[test]
    fn a_static_runtime_is_explained_only_where_nothing_ran() {
        let asked = Summary { private_tables: 3, ..Summary::default() };
        let text = |summary: &Summary| summary.text(9, |_| String::new());
        assert!(text(&asked).contains("-cudart shared"));
        let ran = Summary { kernels: [("k".to_string(), kernel(1, 1))].into(), ..asked };
        assert!(!text(&ran).contains("-cudart shared"));
    }
}
