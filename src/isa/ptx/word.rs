//! Modifier words: what follows an opcode with a dot, but for types.

macro_rules! words {
    ($($name:ident $text:literal)*) => {
        /// A modifier, without its dot.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Word { $($name,)* }

        impl Word {
            pub const ALL: &'static [Word] = &[$(Word::$name,)*];

            pub const fn text(self) -> &'static str {
                match self { $(Word::$name => $text,)* }
            }

            pub fn from_text(text: &str) -> Option<Word> {
                match text { $($text => Some(Word::$name),)* _ => None }
            }
        }
    };
}

words! {
    // Rounding.
    Rn "rn" Rz "rz" Rm "rm" Rp "rp" Rna "rna" Rs "rs" Rni "rni" Rzi "rzi" Rmi "rmi" Rpi "rpi"
    // Float results.
    Ftz "ftz" NoFtz "noftz" Sat "sat" SatFinite "satfinite" Relu "relu" Oob "oob" Approx "approx" Full "full" Nan "NaN" XorSign "xorsign" AbsWord "abs"
    // Parts of products.
    Lo "lo" Hi "hi" Wide "wide" Cc "cc"
    // Comparisons. `lo` and `hi` are above.
    Eq "eq" Ne "ne" Lt "lt" Le "le" Gt "gt" Ge "ge" Ls "ls" Hs "hs" Equ "equ" Neu "neu" Ltu "ltu" Leu "leu" Gtu "gtu" Geu "geu" Num "num" IsNan "nan"
    // Combinations, operations of atomics and reductions.
    And "and" Or "or" Xor "xor" Popc "popc" Add "add" Min "min" Max "max" Inc "inc" Dec "dec" Exch "exch" Cas "cas"
    // Shifts and bytes.
    Clamp "clamp" Wrap "wrap" Left "l" Right "r" ShiftAmt "shiftamt" F4e "f4e" B4e "b4e" Rc8 "rc8" Ecl "ecl" Ecr "ecr" Rc16 "rc16" Shr7 "shr7" Shr15 "shr15" Po "po"
    // Classes of floats.
    Finite "finite" Infinite "infinite" Number "number" NotANumber "notanumber" Normal "normal" Subnormal "subnormal"
    // State spaces.
    Global "global" Shared "shared" SharedCta "shared::cta" SharedCluster "shared::cluster" Local "local" Const "const" Param "param" ParamEntry "param::entry" ParamFunc "param::func"
    // Order, scope and caches of memory accesses.
    Volatile "volatile" Weak "weak" Relaxed "relaxed" Acquire "acquire" Release "release" AcqRel "acq_rel" Sc "sc" Mmio "mmio"
    Cta "cta" Cluster "cluster" Gpu "gpu" Sys "sys" Gl "gl"
    Ca "ca" Cg "cg" Cs "cs" Lu "lu" Cv "cv" Wb "wb" Wt "wt" Nc "nc"
    // Vectors.
    V2 "v2" V4 "v4" V8 "v8"
    // Control and warps.
    Uni "uni" Sync "sync" Aligned "aligned" All "all" Any "any" Ballot "ballot" Up "up" Down "down" Bfly "bfly" Idx "idx" Arrive "arrive" Red "red" Warp "warp" Wait "wait"
    // Textures and surfaces.
    D1 "1d" D2 "2d" D3 "3d" A1d "a1d" A2d "a2d" Cube "cube" ACube "acube" D2ms "2dms" A2dms "a2dms" Base "base" Level "level" Grad "grad" Trap "trap" Zero "zero"
    Green "g" Blue "b" Alpha "a" Formatted "p"
    // Queries of textures and surfaces.
    Width "width" Height "height" Depth "depth" ChannelDataType "channel_data_type" ChannelOrder "channel_order" ArraySize "array_size" MemoryLayout "memory_layout"
    NormalizedCoords "normalized_coords" MipmapLevels "num_mipmap_levels" Samples "num_samples" FilterMode "filter_mode" AddressMode0 "addr_mode_0" AddressMode1 "addr_mode_1" AddressMode2 "addr_mode_2" Unnormalized "force_unnormalized_coords"
    // Conversions of addresses.
    To "to"
}
