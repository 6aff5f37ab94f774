//! Special registers by their names. Facts, `ptx.md` 3.

use crate::isa::ptx::module::{LaneRelation, SpecialRegister};

/// A special register as it is named.
pub(super) struct Special {
    pub register: SpecialRegister,
    /// It has components, of which `register` is the first.
    pub vector: bool,
    /// The least target and version.
    pub sm: u32,
    pub version: (u8, u8),
}

/// The name is written with its `%`.
pub(super) fn by_name(name: &str) -> Option<Special> {
    use SpecialRegister::*;
    let name = name.strip_prefix('%')?;
    let of = |register, sm, version| Special { register, vector: false, sm, version };
    let vector = |register, sm, version| Special { register, vector: true, sm, version };
    Some(match name {
        "tid" => vector(Tid(0), 0, (1, 0)),
        "ntid" => vector(Ntid(0), 0, (1, 0)),
        "ctaid" => vector(Ctaid(0), 0, (1, 0)),
        "nctaid" => vector(Nctaid(0), 0, (1, 0)),
        "laneid" => of(LaneId, 0, (1, 0)),
        "warpid" => of(WarpId, 0, (1, 0)),
        "nwarpid" => of(NWarpId, 20, (2, 0)),
        "smid" => of(SmId, 0, (1, 0)),
        "nsmid" => of(NSmId, 20, (2, 0)),
        "gridid" => of(GridId, 0, (1, 0)),
        "lanemask_eq" => of(LaneMask(LaneRelation::Eq), 20, (2, 0)),
        "lanemask_le" => of(LaneMask(LaneRelation::Le), 20, (2, 0)),
        "lanemask_lt" => of(LaneMask(LaneRelation::Lt), 20, (2, 0)),
        "lanemask_ge" => of(LaneMask(LaneRelation::Ge), 20, (2, 0)),
        "lanemask_gt" => of(LaneMask(LaneRelation::Gt), 20, (2, 0)),
        "clock" => of(Clock, 0, (1, 0)),
        "clock_hi" => of(ClockHi, 20, (5, 0)),
        "clock64" => of(Clock64, 20, (2, 0)),
        "globaltimer" => of(GlobalTimer, 30, (3, 1)),
        "globaltimer_lo" => of(GlobalTimerLo, 30, (3, 1)),
        "globaltimer_hi" => of(GlobalTimerHi, 30, (3, 1)),
        "dynamic_smem_size" => of(DynamicSmemSize, 20, (4, 1)),
        "total_smem_size" => of(TotalSmemSize, 20, (4, 1)),
        "aggr_smem_size" => of(AggrSmemSize, 90, (8, 1)),
        "reserved_smem_offset_begin" => of(ReservedSmem(0), 80, (7, 6)),
        "reserved_smem_offset_end" => of(ReservedSmem(1), 80, (7, 6)),
        "reserved_smem_offset_cap" => of(ReservedSmem(2), 80, (7, 6)),
        "reserved_smem_offset_0" => of(ReservedSmem(3), 80, (7, 6)),
        "reserved_smem_offset_1" => of(ReservedSmem(4), 80, (7, 6)),
        "is_explicit_cluster" => of(IsExplicitCluster, 90, (7, 8)),
        "clusterid" => vector(ClusterId(0), 90, (7, 8)),
        "nclusterid" => vector(NClusterId(0), 90, (7, 8)),
        "cluster_ctaid" => vector(ClusterCtaid(0), 90, (7, 8)),
        "cluster_nctaid" => vector(ClusterNctaid(0), 90, (7, 8)),
        "cluster_ctarank" => of(ClusterCtaRank, 90, (7, 8)),
        "cluster_nctarank" => of(ClusterNctaRank, 90, (7, 8)),
        "current_graph_exec" => of(CurrentGraphExec, 50, (8, 0)),
        _ => return numbered(name),
    })
}

/// `%envreg3`, `%pm0`, `%pm0_64`: their numbers are written without leading zeros.
fn numbered(name: &str) -> Option<Special> {
    let number = |digits: &str, end: u8| {
        let value: u8 = digits.parse().ok()?;
        (value < end && value.to_string() == digits).then_some(value)
    };
    let of = |register, sm, version| Some(Special { register, vector: false, sm, version });
    if let Some(digits) = name.strip_prefix("envreg") {
        return of(SpecialRegister::EnvReg(number(digits, 32)?), 0, (1, 0));
    }
    let digits = name.strip_prefix("pm")?;
    match digits.strip_suffix("_64") {
        Some(digits) => of(SpecialRegister::Pm64(number(digits, 8)?), 50, (4, 0)),
        None => of(SpecialRegister::Pm(number(digits, 8)?), 0, (1, 3)),
    }
}

/// The component of a vector: 0 to 3.
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

/// As a text names it, the component included.
pub(super) fn text(register: SpecialRegister) -> String {
    use SpecialRegister::*;
    let of = |name: &str, n: u8| format!("%{name}.{}", ['x', 'y', 'z', 'w'][usize::from(n & 3)]);
    let reserved = ["begin", "end", "cap", "0", "1"];
    let name = match register {
        Tid(n) => return of("tid", n),
        Ntid(n) => return of("ntid", n),
        Ctaid(n) => return of("ctaid", n),
        Nctaid(n) => return of("nctaid", n),
        ClusterId(n) => return of("clusterid", n),
        NClusterId(n) => return of("nclusterid", n),
        ClusterCtaid(n) => return of("cluster_ctaid", n),
        ClusterNctaid(n) => return of("cluster_nctaid", n),
        EnvReg(n) => return format!("%envreg{n}"),
        Pm(n) => return format!("%pm{n}"),
        Pm64(n) => return format!("%pm{n}_64"),
        ReservedSmem(n) => return format!("%reserved_smem_offset_{}", reserved[usize::from(n).min(4)]),
        LaneMask(LaneRelation::Eq) => "lanemask_eq",
        LaneMask(LaneRelation::Le) => "lanemask_le",
        LaneMask(LaneRelation::Lt) => "lanemask_lt",
        LaneMask(LaneRelation::Ge) => "lanemask_ge",
        LaneMask(LaneRelation::Gt) => "lanemask_gt",
        LaneId => "laneid",
        WarpId => "warpid",
        NWarpId => "nwarpid",
        SmId => "smid",
        NSmId => "nsmid",
        GridId => "gridid",
        Clock => "clock",
        ClockHi => "clock_hi",
        Clock64 => "clock64",
        GlobalTimer => "globaltimer",
        GlobalTimerLo => "globaltimer_lo",
        GlobalTimerHi => "globaltimer_hi",
        DynamicSmemSize => "dynamic_smem_size",
        TotalSmemSize => "total_smem_size",
        AggrSmemSize => "aggr_smem_size",
        IsExplicitCluster => "is_explicit_cluster",
        ClusterCtaRank => "cluster_ctarank",
        ClusterNctaRank => "cluster_nctarank",
        CurrentGraphExec => "current_graph_exec",
    };
    format!("%{name}")
}
