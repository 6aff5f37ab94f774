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
    Green "g" Blue "b" Alpha "a"
    // Conversions of addresses.
    To "to"
    // Matrices.
    Row "row" Col "col" MatrixC "c" MatrixD "d" Load "load" Store "store" Mma "mma" Sp "sp" SpOrdered "sp::ordered_metadata" Trans "trans" X1 "x1" X2 "x2" X4 "x4"
    M8n8 "m8n8" M16n8 "m16n8" M16n16 "m16n16" M8n16 "m8n16" B8x16 "b8x16" B6x16P32 "b6x16_p32" B4x16P64 "b4x16_p64"
    M8n8k4 "m8n8k4" M8n8k16 "m8n8k16" M8n8k32 "m8n8k32" M8n8k128 "m8n8k128" M16n8k4 "m16n8k4" M16n8k8 "m16n8k8" M16n8k16 "m16n8k16" M16n8k32 "m16n8k32" M16n8k64 "m16n8k64" M16n8k128 "m16n8k128" M16n8k256 "m16n8k256"
    M16n16k16 "m16n16k16" M32n8k16 "m32n8k16" M8n32k16 "m8n32k16" M16n16k8 "m16n16k8"
    BlockScale "block_scale" ScaleVec1 "scale_vec::1X" ScaleVec2 "scale_vec::2X" ScaleVec4 "scale_vec::4X" KindMxf8f6f4 "kind::mxf8f6f4" KindMxf4 "kind::mxf4" KindMxf4nvf4 "kind::mxf4nvf4" KindF8f6f4 "kind::f8f6f4"
    KindF16 "kind::f16" KindTf32 "kind::tf32" KindI8 "kind::i8"
}
