//! What a process did through the CUDA driver library: the library writes it when the process ends, `warploom cuda` reads and prints it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The environment variable with the folder that a process leaves its summary in, as `PID.json`.
pub const VARIABLE: &str = "WARPLOOM_SUMMARY";

/// One kernel's launches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelSummary {
    pub launches: u64,
    /// Time that they ran, in nanoseconds, the translation of what they met included.
    pub ns: u64,
}

/// What one process did, or several together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The GPU that the library claimed to be, such as `sm_52`.
    pub device: String,
    /// Time that the program's threads were in calls of the library, in nanoseconds.
    pub calls_ns: u64,
    /// Launches by the kernels' names.
    pub kernels: BTreeMap<String, KernelSummary>,
    /// Launches that ended in a fault, as they were told of.
    pub faults: Vec<String>,
    /// Calls that are not supported, with how often they were made.
    pub unsupported: BTreeMap<String, u64>,
    /// How often an undocumented table of the driver was asked for.
    pub private_tables: u64,
    /// Launches that were written as manifests.
    pub captured: u64,
    /// What was not written, or not whole, and why.
    pub not_captured: Vec<String>,
}

impl Summary {
    /// Adds what another process did.
    pub fn add(&mut self, other: Summary) {
        self.device = other.device;
        self.calls_ns += other.calls_ns;
        for (name, kernel) in other.kernels {
            let sum = self.kernels.entry(name).or_default();
            sum.launches += kernel.launches;
            sum.ns += kernel.ns;
        }
        self.faults.extend(other.faults);
        for (name, count) in other.unsupported {
            *self.unsupported.entry(name).or_default() += count;
        }
        self.private_tables += other.private_tables;
        self.captured += other.captured;
        self.not_captured.extend(other.not_captured);
    }

    /// The summary in lines for people, kernels with the longest time first, at most `most` of them.
    pub fn text(&self, most: usize, time: impl Fn(Duration) -> String) -> String {
        let launches: u64 = self.kernels.values().map(|kernel| kernel.launches).sum();
        let ns: u64 = self.kernels.values().map(|kernel| kernel.ns).sum();
        let time = |ns| time(Duration::from_nanos(ns));
        let mut text = format!(
            "{}: {launches} launches of {} kernels, {}; in calls of the driver {}\n",
            self.device,
            self.kernels.len(),
            time(ns),
            time(self.calls_ns)
        );
        let mut kernels: Vec<_> = self.kernels.iter().collect();
        kernels.sort_by_key(|(_, kernel)| std::cmp::Reverse(kernel.ns));
        let write = "writing to a string does not fail";
        for (name, kernel) in kernels.iter().take(most) {
            writeln!(text, "  {:>10}  {:>8} x  {name}", time(kernel.ns), kernel.launches).expect(write);
        }
        if kernels.len() > most {
            writeln!(text, "  and {} more", kernels.len() - most).expect(write);
        }
        for fault in &self.faults {
            writeln!(text, "fault: {fault}").expect(write);
        }
        for (name, count) in &self.unsupported {
            writeln!(text, "not supported, called {count} times: {name}").expect(write);
        }
        if self.captured > 0 {
            writeln!(text, "captured: {} launches", self.captured).expect(write);
        }
        for reason in &self.not_captured {
            writeln!(text, "not captured: {reason}").expect(write);
        }
        if launches == 0 && self.private_tables > 0 {
            text += STATIC_RUNTIME;
        }
        text
    }
}

/// What to do where NVIDIA's own runtime asked for tables that only NVIDIA's driver has.
const STATIC_RUNTIME: &str = "\
NVIDIA's runtime library asked for undocumented tables of NVIDIA's driver, which are not imitated; it gives up then (error 103 or 500).
A program links it statically unless it was built with `-cudart shared`: build it so, and it gets warploom's runtime library.
";

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(launches: u64, ns: u64) -> KernelSummary {
        KernelSummary { launches, ns }
    }

    #[test]
    fn processes_are_added_and_the_longest_kernels_come_first() {
        let of = |name: &str, kernel| Summary { kernels: [(name.to_string(), kernel)].into(), ..Summary::default() };
        let mut sum = of("a", kernel(2, 10));
        sum.add(of("a", kernel(1, 5)));
        sum.add(of("b", kernel(1, 90)));
        sum.add(Summary { device: "sm_52".into(), calls_ns: 7, ..of("c", kernel(1, 1)) });
        assert_eq!(sum.kernels["a"], kernel(3, 15));
        let text = sum.text(2, |time| format!("{} ns", time.as_nanos()));
        assert!(text.starts_with("sm_52: 5 launches of 3 kernels, 106 ns; in calls of the driver 7 ns\n"), "{text}");
        assert!(text.find(" b\n") < text.find(" a\n") && text.contains("and 1 more"), "{text}");
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
