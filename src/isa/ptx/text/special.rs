//! Special registers by name. Facts, `ptx.md` 3.

use crate::module::{LaneRelation, SpecialRegister};

/// A named special register.
#[derive(Clone, Copy)]
pub(super) struct Special {
    pub register: SpecialRegister,
    /// Whether it has components. `register` is then the first.
    pub vector: bool,
    /// The lowest target and version.
    pub sm: u32,
    pub version: (u8, u8),
}

const fn of(register: SpecialRegister, sm: u32, version: (u8, u8)) -> Special {
    Special { register, vector: false, sm, version }
}

const fn vector(register: SpecialRegister, sm: u32, version: (u8, u8)) -> Special {
    Special { register, vector: true, sm, version }
}

/// All registers but the numbered ones, without their `%`.
#[rustfmt::skip]
const NAMES: &[(&str, Special)] = {
    use SpecialRegister::*;
    &[
        ("tid", vector(Tid(0), 0, (1, 0))),
        ("ntid", vector(Ntid(0), 0, (1, 0))),
        ("ctaid", vector(Ctaid(0), 0, (1, 0))),
        ("nctaid", vector(Nctaid(0), 0, (1, 0))),
        ("laneid", of(LaneId, 0, (1, 3))),
        ("warpid", of(WarpId, 0, (1, 3))),
        ("nwarpid", of(NWarpId, 20, (2, 0))),
        ("smid", of(SmId, 0, (1, 3))),
        ("nsmid", of(NSmId, 20, (2, 0))),
        ("gridid", of(GridId, 0, (1, 0))),
        ("lanemask_eq", of(LaneMask(LaneRelation::Eq), 20, (2, 0))),
        ("lanemask_le", of(LaneMask(LaneRelation::Le), 20, (2, 0))),
        ("lanemask_lt", of(LaneMask(LaneRelation::Lt), 20, (2, 0))),
        ("lanemask_ge", of(LaneMask(LaneRelation::Ge), 20, (2, 0))),
        ("lanemask_gt", of(LaneMask(LaneRelation::Gt), 20, (2, 0))),
        ("clock", of(Clock, 0, (1, 0))),
        ("clock_hi", of(ClockHi, 20, (5, 0))),
        ("clock64", of(Clock64, 20, (2, 0))),
        ("globaltimer", of(GlobalTimer, 30, (3, 1))),
        ("globaltimer_lo", of(GlobalTimerLo, 30, (3, 1))),
        ("globaltimer_hi", of(GlobalTimerHi, 30, (3, 1))),
        ("dynamic_smem_size", of(DynamicSmemSize, 20, (4, 1))),
        ("total_smem_size", of(TotalSmemSize, 20, (4, 1))),
        ("aggr_smem_size", of(AggrSmemSize, 90, (8, 1))),
        ("reserved_smem_offset_begin", of(ReservedSmem(0), 80, (7, 6))),
        ("reserved_smem_offset_end", of(ReservedSmem(1), 80, (7, 6))),
        ("reserved_smem_offset_cap", of(ReservedSmem(2), 80, (7, 6))),
        ("reserved_smem_offset_0", of(ReservedSmem(3), 80, (7, 6))),
        ("reserved_smem_offset_1", of(ReservedSmem(4), 80, (7, 6))),
        ("is_explicit_cluster", of(IsExplicitCluster, 90, (7, 8))),
        ("clusterid", vector(ClusterId(0), 90, (7, 8))),
        ("nclusterid", vector(NClusterId(0), 90, (7, 8))),
        ("cluster_ctaid", vector(ClusterCtaid(0), 90, (7, 8))),
        ("cluster_nctaid", vector(ClusterNctaid(0), 90, (7, 8))),
        ("cluster_ctarank", of(ClusterCtaRank, 90, (7, 8))),
        ("cluster_nctarank", of(ClusterNctaRank, 90, (7, 8))),
        ("current_graph_exec", of(CurrentGraphExec, 50, (8, 0))),
    ]
};

/// Finds a register by its name with the `%`.
pub(super) fn by_name(name: &str) -> Option<Special> {
    let name = name.strip_prefix('%')?;
    let found = NAMES.iter().find(|(known, _)| *known == name).map(|&(_, special)| special);
    found.or_else(|| numbered(name))
}

/// Finds `%envreg3`, `%pm0` or `%pm0_64`. Their numbers have no leading zeros.
fn numbered(name: &str) -> Option<Special> {
    let number = |digits: &str, end: u8| {
        let value: u8 = digits.parse().ok()?;
        (value < end && value.to_string() == digits).then_some(value)
    };
    if let Some(digits) = name.strip_prefix("envreg") {
        return Some(of(SpecialRegister::EnvReg(number(digits, 32)?), 0, (1, 0)));
    }
    let digits = name.strip_prefix("pm")?;
    Some(match digits.strip_suffix("_64") {
        Some(digits) => of(SpecialRegister::Pm64(number(digits, 8)?), 50, (4, 0)),
        None => match number(digits, 8)? {
            n @ 0..4 => of(SpecialRegister::Pm(n), 0, (1, 3)),
            n => of(SpecialRegister::Pm(n), 20, (3, 0)),
        },
    })
}

/// Returns component 0 to 3 of a vector.
pub(super) fn component(register: SpecialRegister, n: u8) -> SpecialRegister {
    use SpecialRegister::*;
    match register {
        Tid(_) => Tid(n),
        Ntid(_) => Ntid(n),
        Ctaid(_) => Ctaid(n),
        Nctaid(_) => Nctaid(n),
        ClusterId(_) => ClusterId(n),
        NClusterId(_) => NClusterId(n),
        ClusterCtaid(_) => ClusterCtaid(n),
        ClusterNctaid(_) => ClusterNctaid(n),
        other => other,
    }
}

/// Returns the name of a register in a text, with its component.
pub(super) fn text(register: SpecialRegister) -> String {
    match register {
        SpecialRegister::EnvReg(n) => return format!("%envreg{n}"),
        SpecialRegister::Pm(n) => return format!("%pm{n}"),
        SpecialRegister::Pm64(n) => return format!("%pm{n}_64"),
        _ => {}
    }
    let first = component(register, 0);
    let Some((name, special)) = NAMES.iter().find(|(_, special)| special.register == first) else {
        return format!("%{register:?}");
    };
    let components = if special.vector { 0..4 } else { 0..0 };
    let mut chosen =
        components.zip(["x", "y", "z", "w"]).filter(|&(n, _)| component(register, n) == register);
    match chosen.next() {
        Some((_, letter)) => format!("%{name}.{letter}"),
        None => format!("%{name}"),
    }
}
