//! The GPUs that vISA is written for. Source: facts, `visa-semantics.md` 13.

/// A generation of GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Platform {
    /// Gen9, "Skylake": only old binaries.
    Skl,
    /// Gen12, "Tiger Lake".
    Tgllp,
    /// Xe-HPG.
    Dg2,
    /// Xe-HPC.
    Pvc,
    /// Xe2.
    Bmg,
}

impl Platform {
    pub const ALL: [Platform; 5] =
        [Platform::Skl, Platform::Tgllp, Platform::Dg2, Platform::Pvc, Platform::Bmg];

    pub const fn name(self) -> &'static str {
        match self {
            Platform::Skl => "skl",
            Platform::Tgllp => "tgllp",
            Platform::Dg2 => "dg2",
            Platform::Pvc => "pvc",
            Platform::Bmg => "bmg",
        }
    }

    pub fn from_name(name: &str) -> Option<Platform> {
        Platform::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Returns the bytes of a register.
    pub const fn register_bytes(self) -> u32 {
        match self {
            Platform::Skl | Platform::Tgllp | Platform::Dg2 => 32,
            Platform::Pvc | Platform::Bmg => 64,
        }
    }

    /// Returns the platform of a core family in a zebin's notes.
    pub fn from_core_family(family: u32) -> Option<Platform> {
        match family {
            0x0c => Some(Platform::Skl),
            0x12 => Some(Platform::Tgllp),
            0xc07 => Some(Platform::Dg2),
            0xc08 => Some(Platform::Pvc),
            0xc09 => Some(Platform::Bmg),
            _ => None,
        }
    }

    /// Returns the platform of a product in a zebin's notes.
    pub const fn from_product(product: u32) -> Option<Platform> {
        match product {
            0x12 => Some(Platform::Skl),
            0x1d => Some(Platform::Tgllp),
            0x4f6 => Some(Platform::Dg2),
            0x4f7 => Some(Platform::Pvc),
            0x4fa => Some(Platform::Bmg),
            _ => None,
        }
    }

    /// Returns the platform of the name in the comment that ends a text.
    pub fn from_comment(name: &str) -> Option<Platform> {
        match name {
            "SKL" => Some(Platform::Skl),
            "TGLLP" => Some(Platform::Tgllp),
            "DG2" => Some(Platform::Dg2),
            "PVC" | "PVCXT" => Some(Platform::Pvc),
            "XE2" => Some(Platform::Bmg),
            _ => None,
        }
    }

    /// Returns the name in the comment that ends a text.
    pub const fn comment(self) -> &'static str {
        match self {
            Platform::Skl => "SKL",
            Platform::Tgllp => "TGLLP",
            Platform::Dg2 => "DG2",
            Platform::Pvc => "PVCXT",
            Platform::Bmg => "XE2",
        }
    }
}

impl std::fmt::Display for Platform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
