//! [`Arch`]: the GPU that code is for, or that the user asks for.

use serde::{Deserialize, Serialize};

use super::hsaco::{Feature, Gfx9};
use super::{Error, Isa, Module};

/// A GPU with its name in compilers: `sm_52`, or AMD's target id, for example
/// `gfx906:sramecc-:xnack+`.
///
/// Sources: NVIDIA, "CUDA C++ Programming Guide", "Binary Compatibility"; LLVM, "User Guide for
/// AMDGPU Backend", "Target ID", and "Clang Offload Bundler", "Target ID".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Arch {
    /// Any GPU of PTX. Cubins of 50, 52, 53, 75, 80, 86, 87 and 89 run.
    Sm(u32),
    /// The target of PTX: this GPU and later ones. No GPU has this name.
    Compute(u32),
    Gfx9(TargetId),
}

/// A GFX9 processor and its settings.
///
/// `None`: code works with either setting; a GPU may have either setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetId {
    pub mach: Gfx9,
    /// Whether page faults can be retried.
    pub xnack: Option<bool>,
    pub sramecc: Option<bool>,
}

/// The GPUs to try in turn if the user asks for none. GPUs that most code is made for come first.
const DEFAULTS: [Arch; 8] = [
    Arch::Sm(52),
    Arch::Sm(53),
    Arch::plain(Gfx9::Gfx900),
    Arch::plain(Gfx9::Gfx906),
    Arch::plain(Gfx9::Gfx904),
    Arch::plain(Gfx9::Gfx902),
    Arch::plain(Gfx9::Gfx90c),
    Arch::plain(Gfx9::Gfx909),
];

/// The numbers of GPUs in PTX's `.target`.
const SM: [u32; 31] = [
    10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89,
    90, 100, 101, 103, 110, 120, 121,
];
/// A rank above the numbers of GPUs: code that a driver need not compile comes first.
const CUBIN: u32 = 1000;
/// The newest GPU whose PTX is executed completely.
const NEWEST: u32 = 90;

/// Whether the cubins of a GPU run.
fn is_executed(sm: u32) -> bool {
    matches!(sm, 50 | 52 | 53 | 75 | 80 | 86 | 87 | 89)
}

/// Whether a GPU takes code for another: of its major revision, with a minor revision not above its
/// own. GPUs of Tegra stand apart.
fn takes(gpu: u32, code: u32) -> bool {
    const TEGRA: [u32; 3] = [53, 87, 88];
    let family = gpu / 10 == code / 10 && code <= gpu;
    is_executed(code) && (gpu == code || family && !TEGRA.contains(&gpu) && !TEGRA.contains(&code))
}

impl Arch {
    const fn plain(mach: Gfx9) -> Arch {
        Arch::Gfx9(TargetId { mach, xnack: None, sramecc: None })
    }

    /// Tells whether warploom runs the cubins of this GPU.
    pub fn runs(self) -> bool {
        match self {
            Arch::Sm(sm) => is_executed(sm),
            Arch::Gfx9(_) => true,
            Arch::Compute(_) => false,
        }
    }

    /// Returns the GPU of a module; `None` for vISA and functions of the IR.
    pub fn of(module: &Module) -> Option<Arch> {
        let setting = |feature| match feature {
            Feature::Unsupported | Feature::Any => None,
            Feature::Off => Some(false),
            Feature::On => Some(true),
        };
        let (xnack, sramecc) = module
            .hsa
            .as_ref()
            .map_or((None, None), |hsa| (setting(hsa.xnack), setting(hsa.sramecc)));
        match module.isa {
            Isa::Maxwell { sm } | Isa::Turing { sm } => Some(Arch::Sm(sm)),
            Isa::Gfx9 { mach } => Some(Arch::Gfx9(TargetId { mach, xnack, sramecc })),
            Isa::Ptx { sm } => Some(Arch::Compute(sm)),
            Isa::Visa { .. } | Isa::Ir => None,
        }
    }

    /// Checks that code runs. The code of some GPUs is listed only.
    ///
    /// # Errors
    /// The module is a cubin of another GPU than those whose cubins run.
    pub fn check(module: &Module) -> Result<(), Error> {
        match Arch::of(module) {
            Some(Arch::Sm(sm)) if !is_executed(sm) => Err(Error::NotExecuted { sm }),
            _ => Ok(()),
        }
    }

    /// Returns whether this GPU's driver takes a module.
    pub(super) fn takes(self, module: &Module) -> bool {
        let by_target = match (self, &module.ptx) {
            (Arch::Sm(sm), Some(ptx)) => ptx.runs_on(sm),
            _ => true,
        };
        by_target && Arch::of(module).is_none_or(|code| self.rank(code).is_some())
    }

    /// Returns how well this GPU runs code; greater is better. `None`: its driver would not load
    /// the code.
    pub fn rank(self, code: Arch) -> Option<u32> {
        match (self, code) {
            (Arch::Sm(gpu), Arch::Sm(code)) => takes(gpu, code).then_some(CUBIN + code),
            (Arch::Sm(gpu), Arch::Compute(code)) => (code <= gpu).then_some(code),
            (Arch::Gfx9(gpu), Arch::Gfx9(code)) => gpu.rank(code),
            _ => None,
        }
    }

    /// Returns how well code suits if the user asks for no GPU.
    ///
    /// The rank is the position of the best GPU among the GPUs to try, and [`Arch::rank`] for it.
    pub fn default_rank(code: Arch) -> Option<(usize, u32)> {
        if let Arch::Compute(sm) = code {
            // Beyond the newest complete GPU, the oldest code uses the fewest features that are not
            // executed.
            return Some((0, if sm <= NEWEST { CUBIN + sm } else { CUBIN.saturating_sub(sm) }));
        }
        if let Arch::Sm(sm @ 75..) = code {
            return is_executed(sm).then_some((0, sm));
        }
        let ranks = DEFAULTS.iter().rev().enumerate();
        ranks.filter_map(|(place, gpu)| Some((place + 1, gpu.rank(code)?))).max()
    }
}

impl TargetId {
    fn rank(self, code: TargetId) -> Option<u32> {
        // Settings of GPUs are off unless someone asks.
        let setting = |gpu: Option<bool>, code: Option<bool>| match (gpu, code) {
            (Some(gpu), Some(code)) if gpu != code => None,
            (Some(_), Some(_)) | (None, Some(false)) => Some(2),
            (_, None) => Some(1),
            (None, Some(true)) => Some(0),
        };
        let own = match code.mach {
            mach if mach == self.mach => 8,
            Gfx9::Generic => 0,
            _ => return None,
        };
        Some(own + setting(self.xnack, code.xnack)? + setting(self.sramecc, code.sramecc)?)
    }
}

/// The GPUs that warploom's CUDA driver can be: the digits of `sm_80` and others.
const DEVICES: [u32; 19] =
    [50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121];

/// Reads the name of a GPU that warploom's CUDA driver can be, with or without `sm_`. From sm_90 on,
/// `a` and `f` may follow: the names of the GPU's own features and those of its family in compilers.
///
/// # Errors
/// There is no such GPU. The text says what is expected.
pub fn cuda_device(name: &str) -> Result<u32, String> {
    let digits = name.strip_prefix("sm_").unwrap_or(name);
    let (plain, first) = match digits.strip_suffix(['a', 'f']) {
        Some(plain) => (plain, 90),
        None => (digits, 0),
    };
    let sm = plain.parse().ok().filter(|sm| DEVICES.contains(sm) && *sm >= first);
    sm.ok_or_else(|| {
        let names = DEVICES.map(|sm| format!("sm_{sm}")).join(", ");
        format!("`{name}`: expected one of {names}")
    })
}

impl std::str::FromStr for Arch {
    type Err = String;

    fn from_str(text: &str) -> Result<Arch, String> {
        let wrong = || {
            let gpus: Vec<String> = Gfx9::all().map(|mach| mach.to_string()).collect();
            let gpus = gpus.join(", ");
            format!(
                "`{text}`: expected a GPU of NVIDIA's, such as sm_52 or sm_80, or one of {gpus} with settings, such as gfx906:sramecc-:xnack+"
            )
        };
        if let Some(number) = text.strip_prefix("sm_") {
            return number
                .parse()
                .ok()
                .filter(|sm| SM.contains(sm))
                .map(Arch::Sm)
                .ok_or_else(wrong);
        }
        let mut parts = text.split(':');
        let mach = parts
            .next()
            .and_then(|name| Gfx9::all().find(|mach| mach.to_string() == name))
            .ok_or_else(wrong)?;
        let mut target = TargetId { mach, xnack: None, sramecc: None };
        for part in parts {
            let (name, on) = match (part.strip_suffix('+'), part.strip_suffix('-')) {
                (Some(name), _) => (name, true),
                (_, Some(name)) => (name, false),
                _ => return Err(wrong()),
            };
            let setting = match name {
                "xnack" => &mut target.xnack,
                // Only gfx906 has memory that can correct errors.
                "sramecc" if mach == Gfx9::Gfx906 => &mut target.sramecc,
                _ => return Err(wrong()),
            };
            if setting.replace(on).is_some() {
                return Err(wrong());
            }
        }
        Ok(Arch::Gfx9(target))
    }
}

impl std::fmt::Display for Arch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Arch::Sm(sm) => write!(f, "sm_{sm}"),
            Arch::Compute(sm) => write!(f, "compute_{sm}"),
            Arch::Gfx9(target) => {
                write!(f, "{}", target.mach)?;
                for (name, setting) in [("sramecc", target.sramecc), ("xnack", target.xnack)] {
                    if let Some(on) = setting {
                        write!(f, ":{name}{}", if on { '+' } else { '-' })?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl TryFrom<String> for Arch {
    type Error = String;

    fn try_from(text: String) -> Result<Arch, String> {
        text.parse()
    }
}

impl From<Arch> for String {
    fn from(arch: Arch) -> String {
        arch.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arch(name: &str) -> Arch {
        name.parse().unwrap()
    }

    #[test]
    fn names() {
        for name in [
            "sm_50",
            "sm_52",
            "sm_53",
            "sm_90",
            "gfx900",
            "gfx906:sramecc-:xnack+",
            "gfx90c:xnack-",
            "gfx9-generic",
        ] {
            assert_eq!(arch(name).to_string(), name);
        }
        assert_eq!(arch("gfx906:xnack+:sramecc-"), arch("gfx906:sramecc-:xnack+"));
        for name in [
            "",
            "sm_33",
            "compute_70",
            "sm_",
            "sm_52a",
            "gfx1030",
            "gfx906:",
            "gfx906:xnack",
            "gfx906:xnack+:xnack-",
            "gfx900:sramecc+",
        ] {
            assert!(name.parse::<Arch>().unwrap_err().contains("such as sm_52 or sm_80"), "{name}");
        }
    }

    /// Ranks follow CUDA's and ROCm's documents about the code that a driver loads.
    #[test]
    fn what_runs_where() {
        let best = |gpu: &str, codes: &[&'static str]| {
            let ranked = codes.iter().filter_map(|&code| Some((arch(gpu).rank(arch(code))?, code)));
            ranked.max_by_key(|&(rank, _)| rank).map(|(_, code)| code)
        };
        assert_eq!(best("sm_52", &["sm_50", "sm_52", "sm_53"]), Some("sm_52"));
        assert_eq!(best("sm_52", &["sm_50", "sm_53"]), Some("sm_50"));
        assert_eq!(best("sm_50", &["sm_52", "sm_53"]), None);
        assert_eq!(best("sm_53", &["sm_50", "sm_52"]), None);
        assert_eq!(best("gfx906", &["gfx900", "gfx906"]), Some("gfx906"));
        assert_eq!(best("gfx906", &["gfx900", "gfx9-generic"]), Some("gfx9-generic"));
        assert_eq!(best("gfx906", &["gfx9-generic", "gfx906:xnack+"]), Some("gfx906:xnack+"));
        assert_eq!(best("gfx906", &["gfx906:xnack+", "gfx906:xnack-"]), Some("gfx906:xnack-"));
        assert_eq!(
            best("gfx906:xnack+", &["gfx906:xnack+", "gfx906:xnack-"]),
            Some("gfx906:xnack+")
        );
        assert_eq!(
            best("gfx906:xnack+", &["gfx906:xnack-", "gfx906:sramecc+"]),
            Some("gfx906:sramecc+")
        );
        assert_eq!(best("gfx906:sramecc-:xnack-", &["gfx906:sramecc+:xnack-"]), None);
        assert_eq!(best("gfx900", &["sm_50"]), None);
    }

    /// The PTX ISA, ".target": with `a` for this GPU alone, with `f` for later GPUs of its family.
    #[cfg(feature = "ptx")]
    #[test]
    fn suffixes_of_targets_bind_ptx_to_gpus() {
        let cases: [(&str, &[u32]); 10] = [
            ("sm_89", &[89, 90, 100, 103, 110, 120, 121]),
            ("sm_90", &[90, 100, 103, 110, 120, 121]),
            ("sm_90a", &[90]),
            ("sm_100", &[100, 103, 110, 120, 121]),
            ("sm_100a", &[100]),
            ("sm_100f", &[100, 103]),
            ("sm_103f", &[103]),
            ("sm_110f", &[110]),
            ("sm_120f", &[120, 121]),
            ("sm_121a", &[121]),
        ];
        for (target, expected) in cases {
            let text = format!(".version 9.0\n.target {target}\n.address_size 64\n");
            let module = crate::modules(text.as_bytes()).unwrap().remove(0);
            let takes = |sm: &u32| Arch::Sm(*sm).takes(&module);
            assert_eq!(
                DEVICES.into_iter().filter(takes).collect::<Vec<u32>>(),
                expected,
                "{target}"
            );
        }
    }

    #[test]
    fn devices_have_names_with_and_without_suffixes() {
        for (name, sm) in
            [("sm_80", 80), ("80", 80), ("sm_90a", 90), ("sm_100f", 100), ("121", 121)]
        {
            assert_eq!(cuda_device(name), Ok(sm));
        }
        for name in ["sm_80a", "sm_101", "sm_90b", "sm_", "sm_90aa", "gfx900"] {
            assert!(cuda_device(name).unwrap_err().contains("expected one of"), "{name}");
        }
    }

    #[test]
    fn ptx_is_for_this_gpu_and_later_ones() {
        let rank = |gpu: u32, code| Arch::Sm(gpu).rank(code);
        assert!(rank(80, Arch::Compute(75)) > rank(80, Arch::Compute(50)));
        assert_eq!(rank(80, Arch::Compute(90)), None);
        assert!(
            rank(52, Arch::Sm(50)) > rank(52, Arch::Compute(52)),
            "what need not be compiled comes first"
        );
        let default = Arch::default_rank;
        assert!(default(Arch::Sm(53)) > default(Arch::Compute(90)));
        assert!(default(Arch::Compute(80)) > default(Arch::Compute(50)));
        assert!(default(Arch::Compute(90)) > default(Arch::Compute(100)));
        assert!(default(Arch::Compute(100)) > default(Arch::Compute(120)));
    }
}
