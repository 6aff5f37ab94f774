//! The names, values and texts of fields; [`warploom_sass::field`] explains their use.

use warploom_sass::Style;

use crate::instruction::Instruction;

vocabulary! {
    flags {
        /// Adds the carry, or tests further words, of the CC register.
        x ".X";
        /// Clamps an integer result to its type's range, a float result to [0, 1].
        sat ".SAT";
        /// Writes the CC register.
        cc ".CC";
        /// Shift counts wrap at the width.
        wrap ".W";
        /// 64-bit addresses.
        extended ".E";
        /// XMAD: shifts the product left by 16.
        psl ".PSL";
        /// XMAD: puts the low half of B in the high half of the result.
        mrg ".MRG";
        /// SHR, BFE: reverses the bits of A first.
        brev ".BREV";
        /// The high half of a product.
        high ".HI";
        /// FLO: gives 31 minus the index, a shift count.
        shift_amount ".SH";
        /// A set instruction writes 1.0 instead of all ones.
        bool_float ".BF";
        /// HSETP2: both halves compare.
        h_and ".H_AND";
        /// BRA, JMP: a promise that the branch is uniform. No effect.
        uniform ".U";
        /// BRA, JMP: only within the limit of the program. No effect.
        limit ".LMT";
        /// EXIT: no effect.
        keep_refcount ".KEEPREFCOUNT";
        /// NOP: no effect.
        trigger ".TRIG";
        /// Compares and swaps 64 bits.
        wide ".64";
        /// ATOMS.CAS on a lock: spins. Unused by compilers.
        spin ".SPIN";
        /// Writes or reads for other pixels of a quad: graphics.
        ndv ".NDV";
        /// Textures: the result does not wait for earlier ones. No effect.
        nodep ".NODEP";
        /// Textures: compares with a depth reference.
        depth_compare ".DC";
        /// Textures: packed offsets are in a register.
        offsets ".AOFFI";
        /// Textures: the sample index is in a register.
        multisample ".MS";
        /// Textures: out of range coordinates fetch the nearest texel.
        coordinate_clamp ".CL";
        /// Textures: undocumented; by its name, a bound for the level of detail.
        lod_bound ".LC";
        /// TLD4S: the result is F16.
        half ".F16";
        /// Surfaces: the coordinate x is in bytes.
        byte_address ".BA";
        /// Attribute memory of another patch: graphics.
        patch ".P";
        /// Output attributes: graphics.
        output ".O";
        /// ISBERD: graphics.
        skew ".SKEW";
        /// STP: waits.
        wait ".WAIT";
        /// VMNMX: maximum.
        video_max ".MX";
    }
    enums {
        /// Rounding of a float result.
        Rounding(2): rounding { Nearest "", Down ".RM", Up ".RP", Zero ".RZ" }
        /// Rounding to an integral value, of F2I (default: nearest, ties to even).
        IntRounding(2): int_rounding { Nearest "", Floor ".FLOOR", Ceil ".CEIL", Trunc ".TRUNC" }
        /// Operation of F2F between equal formats.
        CopyRounding(3): copy_rounding {
            Copy "", Pass1 ".PASS", Pass2 ".PASS", Pass3 ".PASS", Nearest ".ROUND", Floor ".FLOOR", Ceil ".CEIL", Trunc ".TRUNC",
        }
        /// Denormals of F32: kept, flushed, or flushed with 0 * x = 0.
        Flush(2): flush, half_flush [3 ".INVALID"] { Keep "", Ftz ".FTZ", Fmz ".FMZ", Reserved ".INVALIDFMZ3" }
        /// Denormals of F32: kept or flushed.
        Ftz(1): ftz { Keep "", Flush ".FTZ" }
        /// Result of an operation on pairs of F16: both results, the low result as F32, or the
        /// result of one half merged into its half.
        HalfMerge(2): half_merge { Both "", F32 ".F32", Low ".MRG_H0", High ".MRG_H1" }
        /// Scaling of an FMUL product.
        Scale(3): scale { None "", D2 ".D2", D4 ".D4", D8 ".D8", M8 ".M8", M4 ".M4", M2 ".M2", Reserved ".INVALIDSCALE37" }
        /// Signedness of the operands of an integer operation.
        Sign(1): sign { Unsigned ".U32", Signed "" }
        /// Signs of the factors A and B of IMUL and IMAD.
        MulSigns(2): mul_signs { U32U32 ".U32.U32", S32U32 ".S32.U32", U32S32 ".U32.S32", S32S32 "" }
        /// A comparison of integers.
        IntCompare(3): int_compare { False ".F", Lt ".LT", Eq ".EQ", Le ".LE", Gt ".GT", Ne ".NE", Ge ".GE", True ".T" }
        /// A comparison of floats; comparisons with `U` are true if an operand is NaN. `fcmp_`:
        /// FCMP.
        FloatCompare(4): float_compare, fcmp_compare [4 ""] {
            False ".F", Lt ".LT", Eq ".EQ", Le ".LE", Gt ".GT", Ne ".NE", Ge ".GE", Num ".NUM",
            Nan ".NAN", Ltu ".LTU", Equ ".EQU", Leu ".LEU", Gtu ".GTU", Neu ".NEU", Geu ".GEU", True ".T",
        }
        /// How a predicate is combined with another.
        BoolOp(2): bool_op, bool_op2, half_bool_op [3 ".???3"] { And ".AND", Or ".OR", Xor ".XOR", Reserved ".INVALIDBOP3" }
        /// Bitwise operation of LOP and LOP32I.
        LogicOp(2): logic_op { And ".AND", Or ".OR", Xor ".XOR", PassB ".PASS_B" }
        /// Test of a logic result that the predicate gets.
        LogicTest(2): logic_test { False "", True ".T", Zero ".Z", NonZero ".NZ" }
        /// Size and extension of the data that a memory instruction moves.
        MemSize(3): mem_size { U8 ".U8", S8 ".S8", U16 ".U16", S16 ".S16", B32 "", B64 ".64", B128 ".128", U128 ".U.128" }
        /// Size of the data that a store moves; `shared_size`: LDS.U, `const_size`: LDC.
        StoreSize(3): store_size, shared_size [4 ".32"], const_size [6 ".INVALIDSIZE6"] {
            U8 ".U8", S8 ".S8", U16 ".U16", S16 ".S16", B32 "", B64 ".64", B128 ".128", Reserved ".INVALIDSIZE7",
        }
        /// Cache hint of a load.
        LoadCache(2): load_cache { Default "", Cg ".CG", Ci ".CI", Cv ".CV" }
        /// Cache hint of a load from local memory.
        LocalCache(2): local_cache { Default "", Lu ".LU", Ci ".CI", Cv ".CV" }
        /// Cache hint of a store.
        StoreCache(2): store_cache { Default "", Cg ".CG", Cs ".CS", Wt ".WT" }
        /// How LDC forms the address.
        ConstMode(2): const_mode {
            Plain "",
            IndexedLinear ".IL",
            /// The high half of the address is added to the bank.
            IndexedSegmented ".IS",
            IndexedSegmentedLinear ".ISL",
        }
        /// Signs of the two factors of XMAD.
        XmadSigns(2): xmad_signs { U16U16 "", S16U16 ".S16.U16", U16S16 ".U16.S16", S16S16 ".S16.S16" }
        /// The addend of XMAD.
        XmadMode(3): xmad_mode {
            /// C.
            None "",
            /// The low half of C.
            Clo ".CLO",
            /// The high half of C.
            Chi ".CHI",
            /// C less a correction for signed high products.
            Csfu ".CSFU",
            /// C + (B << 16).
            Cbcc ".CBCC",
            Reserved5 ".???5", Reserved6 ".???6", Reserved7 ".???7",
        }
        /// Shift of the sum of A and B in IADD3, before the addition of C.
        AddShift(2): add_shift { None "", Right16 ".RS", Left16 ".LS", Reserved ".???3" }
        /// The word of a longer number that IMNMX works on.
        MinMaxWord(2): min_max_word { Only "", Low ".XLO", Middle ".XMED", High ".XHI" }
        /// The word of a longer number that SHR works on.
        ShiftWord(2): shift_word { Only "", Reserved ".INVALIDSHRXMODE1", Middle ".X", High ".XHI" }
        /// The word of a longer number that SHF works on.
        FunnelWord(2): funnel_word { Only "", Hi ".HI", X ".X", Xhi ".XHI" }
        /// Width and sign of the number that SHF shifts; the width bounds the count.
        FunnelType(2): funnel_type { B32 "", Reserved ".INVALIDMAXSHIFT3", U64 ".U64", S64 ".S64" }
        /// A test of the CC register.
        CcTest(5): cc_compare {
            F ".F", Lt ".LT", Eq ".EQ", Le ".LE", Gt ".GT", Ne ".NE", Ge ".GE", Num ".NUM",
            Nan ".NAN", Ltu ".LTU", Equ ".EQU", Leu ".LEU", Gtu ".GTU", Neu ".NEU", Geu ".GEU", T ".T",
            Off ".OFF", Lo ".LO", Sff ".SFF", Ls ".LS", Hi ".HI", Sft ".SFT", Hs ".HS", Oft ".OFT",
            CsmTa ".CSM_TA", CsmTr ".CSM_TR", CsmMx ".CSM_MX", FcsmTa ".FCSM_TA", FcsmTr ".FCSM_TR",
            FcsmMx ".FCSM_MX", Rle ".RLE", Rgt ".RGT",
        }
        /// Type of an integer source or result of a conversion. `short_`: I2I, without 64 bits.
        /// `f2i_`: F2I, without 8 bits.
        IntFormat(3):
            src_int, dst_int,
            short_src [3 ".INVALID6"] [7 ".INVALID7"],
            short_dst [3 ".???6"] [7 ".???7"],
            f2i_dst [0 ".INVALID0"] [4 ".INVALID1"]
        { U8 ".U8", U16 ".U16", U32 ".U32", U64 ".U64", S8 ".S8", S16 ".S16", S32 ".S32", S64 ".S64" }
        /// The flags that R2P and P2R move: P0 to P6 or the CC register.
        PredFile(1): pred_file { Predicates "PR", Cc "CC" }
        /// The byte that P2R replaces.
        ByteIndex(2): byte_index { B0 "", B1 ".B1", B2 ".B2", B3 ".B3" }
        /// Argument reduction for MUFU.
        RangeReduction(1): range_reduction { SinCos ".SINCOS", Ex2 ".EX2" }
        /// How lanes are chosen by SHFL.
        ShuffleMode(2): shuffle_mode { Idx ".IDX", Up ".UP", Down ".DOWN", Bfly ".BFLY" }
        /// The condition that VOTE's predicate reports.
        VoteMode(2): vote_mode { All ".ALL", Any ".ANY", Eq ".EQ", Reserved ".INVALIDVMODE3" }
        /// VOTE.VTG: graphics.
        VoteVtgMode(2): vote_vtg_mode { R ".R", A ".A", Ra ".RA", Reserved ".INVALIDVTGMODE3" }
        /// How BAR.RED combines the predicates.
        BarrierReduction(2): barrier_reduction { Popc ".POPC", And ".AND", Or ".OR", Reserved ".INVALIDBARMODE3" }
        /// R2B, B2R: the part of the barrier that is written or read.
        BarrierPart(2): barrier_part { State "", Result ".RESULT", Warp ".WARP", Reserved ".INVALID" }
        /// The scope within which MEMBAR orders accesses.
        FenceLevel(2): fence_level { Cta ".CTA", Gl ".GL", Sys ".SYS", Vc ".VC" }
        /// Caches that MEMBAR invalidates.
        FenceInvalidate(2): fence_invalidate { None "", Ld ".IVALLD", T ".IVALLT", Td ".IVALLTD" }
        /// Action of BPT.
        BreakpointKind(3): breakpoint_kind {
            DrainIllegal ".DRAIN_ILLEGAL", Cal ".CAL", Pause ".PAUSE", Trap ".TRAP",
            Int ".INT", Drain ".DRAIN", Reserved6 ".???6", Reserved7 ".???7",
        }
        /// How RTT returns from a trap.
        TrapReturn(2): trap_return { Plain "", Terminate ".TERMINATE", Fallthrough ".FALLTHROUGH", Preempted ".PREEMPTED" }
        /// JCAL, CAL, PRET: whether the API call depth is counted. No effect.
        CallCount(1): call_count { NoInc ".NOINC", Inc "" }
        /// IDE: interrupts on or off.
        InterruptEnable(1): interrupt_enable { Enable ".EN", Disable "" }
        /// Scoreboard of DEPBAR.
        Scoreboard(3): scoreboard { Sb0 "SB0", Sb1 "SB1", Sb2 "SB2", Sb3 "SB3", Sb4 "SB4", Sb5 "SB5", Reserved6 "???6", Reserved7 "???7" }
        /// Operand type of an atomic operation in shared memory.
        SharedAtomicType(2): shared_atomic_type { U32 "", S32 ".S32", U64 ".U64", S64 ".S64" }
        /// Operation of RED and SURED.
        ReduceOp(3): reduce_op { Add ".ADD", Min ".MIN", Max ".MAX", Inc ".INC", Dec ".DEC", And ".AND", Or ".OR", Xor ".XOR" }
        /// Operand type of an atomic operation on a surface.
        SurfaceAtomicType(3): surface_atomic_type {
            U32 "", S32 ".S32", U64 ".U64", F32 ".F32.FTZ.RN", F16x2 ".F16x2.FTZ.RN", S64 ".S64", Sd32 ".SD32", Sd64 ".SD64",
        }
        /// Shape of a surface.
        SurfaceDim(3): surface_dim {
            D1 ".1D", D1Buffer ".1D_BUFFER", D1Array ".1D_ARRAY", D2 ".2D", D2Array ".2D_ARRAY", D3 ".3D",
            Reserved6 ".INVALIDSURFACEDIM6", Reserved7 ".INVALIDSURFACEDIM7",
        }
        /// Effect of an access outside the surface.
        SurfaceClamp(2): surface_clamp { Ignore ".IGN", Near "", Trap ".TRAP", Reserved ".INVALIDSURFACECLAMP3" }
        /// Components that a formatted surface access moves.
        SurfaceMask(4): surface_mask {
            None ".???0", R ".R", G ".G", Rg ".RG", B ".B", Rb ".RB", Gb ".GB", Rgb ".RGB",
            A ".A", Ra ".RA", Ga ".GA", Rga ".RGA", Ba ".BA", Rba ".RBA", Gba ".GBA", Rgba "",
        }
        /// Shape of a texture.
        TextureDim(3): texture_dim {
            D1 "1D", ArrayD1 "ARRAY_1D", D2 "2D", ArrayD2 "ARRAY_2D", D3 "3D", ArrayD3 "ARRAY_3D", Cube "CUBE", ArrayCube "ARRAY_CUBE",
        }
        /// Format that TEXS and TLDS write.
        TexelFormat(1): texel_format { F16 ".F16", F32 "" }
        /// Level of detail of TEX.
        TextureLod(3): texture_lod {
            Auto "",
            /// Level zero.
            Lz ".LZ",
            /// Bias, level.
            Lb ".LB", Ll ".LL",
            Reserved4 ".INVALIDBLOD4", Reserved5 ".INVALIDBLOD5",
            /// Bias with a clamp, level with a clamp.
            Lba ".LBA", Lla ".LLA",
        }
        /// Level of detail of TLD.
        FetchLod(1): fetch_lod { Lz ".LZ", Ll ".LL" }
        /// Offsets of TLD4.
        GatherOffsets(2): gather_offsets { None "", Aoffi ".AOFFI", Ptp ".PTP", Reserved ".INVALIDBTOFF03" }
        /// Component that TLD4 gathers.
        GatherComponent(2): gather_component { R ".R", G ".G", B ".B", A ".A" }
        /// Components of TEXS and TLDS with two destinations.
        MaskPair(3): mask_pair {
            Rgb "RGB", Rga "RGA", Rba "RBA", Gba "GBA", Rgba "RGBA", Reserved5 "INVALID5", Reserved6 "INVALID6", Reserved7 "INVALID7",
        }
        /// Components of TEXS and TLDS with one destination.
        MaskSingle(3): mask_single { R "R", G "G", B "B", A "A", Rg "RG", Ra "RA", Ga "GA", Ba "BA" }
        /// Result type of a video instruction.
        VideoResult(1): video_result { Unsigned ".UD", Signed "" }
        /// Result type of VABSDIFF.
        DifferenceResult(1): difference_result { Unsigned "", Signed ".SD" }
        /// Second stage of a video instruction.
        VideoStage(3): video_stage {
            Mrg16h ".MRG_16H", Mrg16l ".MRG_16L", Mrg8b0 ".MRG_8B0", Mrg8b2 ".MRG_8B2", Acc ".ACC", Min ".MIN", Max ".MAX", None "",
        }
        /// Type, and part, of a register operand of a video instruction.
        VideoType(4): video_a, video_b, video_count [7 ".INVALIDSEL7"] {
            U8B0 ".U8", U8B1 ".U8", U8B2 ".U8", U8B3 ".U8", U16H0 ".U16", U16H1 ".U16", U32 ".U32", Reserved6 ".INVALIDSEL6",
            S8B0 ".S8", S8B1 ".S8", S8B2 ".S8", S8B3 ".S8", S16H0 ".S16", S16H1 ".S16", S32 ".S32", Reserved7 ".INVALIDSEL7",
        }
        /// Type of an immediate of a video instruction.
        VideoImm(1): video_imm { U16 ".U16", S16 ".S16" }
        /// VMAD: shift of the result.
        VideoScale(2): video_scale { None "", Shr7 ".SHR_7", Shr15 ".SHR_15", Reserved ".INVALIDVMADSCALE3" }
        /// VABSDIFF4: type of the bytes.
        ByteSigns(2): byte_signs { U8U8 ".U8.U8", S8U8 ".S8.U8", U8S8 ".U8.S8", S8S8 "" }
        /// VABSDIFF4: bytes of the result that are written.
        ByteLanes(4): byte_lanes {
            None ".???0", Z ".Z", W ".W", Zw ".ZW", X ".X", Xz ".XZ", Xw ".XW", Xzw ".XZW",
            Y ".Y", Yz ".YZ", Yw ".YW", Yzw ".YZW", Xy ".XY", Xyz ".XYZ", Xyw ".XYW", All "",
        }
        /// VABSDIFF4: order of the bytes of A (0 to 3 of A, 4 to 7 of B).
        ByteOrderA(4): byte_order_a {
            S0000 ".0000", S1111 ".1111", S2222 ".2222", S3333 ".3333", S3210 "", S4321 ".4321", S5432 ".5432", S6543 ".6543",
            S3201 ".3201", S3012 ".3012", S0213 ".0213", S3120 ".3120", S1230 ".1230", S2310 ".2310",
            ReservedE ".INVALIDASEL4E", ReservedF ".INVALIDASEL4F",
        }
        /// VABSDIFF4: order of the bytes of B.
        ByteOrderB(4): byte_order_b {
            S4444 ".4444", S5555 ".5555", S6666 ".6666", S7777 ".7777", S7654 "", S6543 ".6543", S5432 ".5432", S4321 ".4321",
            S4567 ".4567", S6745 ".6745", S5476 ".5476", ReservedB ".INVALIDBSEL4B", ReservedC ".INVALIDBSEL4C",
            ReservedD ".INVALIDBSEL4D", ReservedE ".INVALIDBSEL4E", Zero ".INVALIDBSEL4F",
        }
        /// VABSDIFF4: reduction of the bytes.
        ByteReduction(2): byte_reduction { None "", Acc ".ACC", Reserved2 ".INVALIDRED2", Reserved3 ".INVALIDRED3" }
        /// Size and sign of a factor of IMADSP; the sign is in the mnemonic's variant.
        WideU(2): imadsp_au, imadsp_cu { U32 ".U32", U24 ".U24", U16H0 ".U16H0", U16H1 ".U16H1" }
        /// Size of a signed factor of IMADSP.
        WideS(2): imadsp_as, imadsp_cs { S32 ".S32", S24 ".S24", S16H0 ".S16H0", S16H1 ".S16H1" }
        /// Factor B of IMADSP.
        NarrowU(1): imadsp_bu { U24 ".U24", U16H0 ".U16H0" }
        /// Factor B of IMADSP, signed.
        NarrowS(1): imadsp_bs { S24 ".S24", S16H0 ".S16H0" }
        /// IMADSP: sign and size of B.
        Narrow(2): imadsp_b { U24 ".U24", S24 ".S24", U16H0 ".U16H0", S16H0 ".S16H0" }
        /// Words that an attribute instruction moves.
        AttributeSize(2): attribute_size { B32 "", B64 ".64", B96 ".96", B128 ".128" }
        /// Action of OUT.
        OutMode(2): out_mode { Reserved ".INVALIDOUTSTYPE0", Emit ".EMIT", Cut ".CUT", EmitThenCut ".EMIT_THEN_CUT" }
        /// Size that ISBERD reads.
        IsberdSize(2): isberd_size { B8 "", U16 ".U16", B32 ".32", Reserved ".???3" }
        /// Address space of ISBERD.
        IsberdMode(2): isberd_mode { None "", Patch ".PATCH", Prim ".PRIM", Attr ".ATTR" }
        /// Information that PIXLD reads.
        PixelMode(3): pixel_mode {
            None "", CovMask ".COVMASK", Covered ".COVERED", Offset ".OFFSET", CentroidOffset ".CENTROID_OFFSET",
            MyIndex ".MY_INDEX", Reserved0 ".INVALID0", Reserved1 ".INVALID1",
        }
        /// Interpolation of IPA.
        IpaMode(2): ipa_mode { Pass ".PASS", Multiply "", Constant ".CONSTANT", Sc ".SC" }
        /// Place at which IPA interpolates.
        IpaPlace(2): ipa_place { Center "", Centroid ".CENTROID", Offset ".OFFSET", Reserved ".INVALID" }
        /// Cache that CCTL controls.
        CacheKind(3): cache_kind {
            Default "", U ".U", C ".C", I ".I", Crs ".CRS",
            Reserved5 ".INVALIDCACHETYPE5", Reserved6 ".INVALIDCACHETYPE6", Reserved7 ".INVALIDCACHETYPE7",
        }
        /// Cache that CCTLL controls.
        LocalCacheKind(2): local_cache_kind { Default "", Reserved1 ".???1", Reserved2 ".INVALIDLCACHETYPE2", Reserved3 ".INVALIDLCACHETYPE3" }
        /// Operation of CCTLT.
        TextureCacheOp(2): texture_cache_op { Reserved0 ".IVTH", Ivth ".IVTH", Reserved2 ".INVALIDCCTLTOP2", Reserved3 ".INVALIDCCTLTOP3" }
    }
    sparse_enums {
        /// Type of a float operand or result of a conversion. `f2f_`: F2F.
        FloatFormat(2): src_float ".INVALIDFPSRC", dst_float ".INVALIDFPSRC", f2f_dst ".INVALIDFPDEST" {
            F16 = 1 ".F16", F32 = 2 ".F32", F64 = 3 ".F64",
        }
        /// Operation of ATOM, ATOMS and SUATOM.
        AtomicOp(4): atomic_op ".INVALIDATOMOP", shared_atomic_op ".INVALIDATOMSOP" {
            Add = 0 ".ADD", Min = 1 ".MIN", Max = 2 ".MAX", Inc = 3 ".INC", Dec = 4 ".DEC", And = 5 ".AND", Or = 6 ".OR",
            Xor = 7 ".XOR", Exch = 8 ".EXCH",
        }
        /// The only operation of SUATOM.P.CAS.
        CasOp(4): cas_op ".???" { Cas = 0 ".CAS" }
        /// Operand type of an atomic operation.
        AtomicType(3): atomic_type ".INVALIDATOMICSIZE" {
            U32 = 0 "", S32 = 1 ".S32", U64 = 2 ".U64", F32 = 3 ".F32.FTZ.RN", F16x2 = 4 ".F16x2.FTZ.RN", S64 = 5 ".S64",
        }
        /// Function of MUFU.
        MufuOp(4): mufu_op ".INVALIDMUFUOPCODE"
            [10 ".INVALIDMUFUOPCODEA"] [11 ".INVALIDMUFUOPCODEB"] [12 ".INVALIDMUFUOPCODEC"]
            [13 ".INVALIDMUFUOPCODED"] [14 ".INVALIDMUFUOPCODEE"] [15 ".INVALIDMUFUOPCODEF"]
        {
            Cos = 0 ".COS", Sin = 1 ".SIN", Ex2 = 2 ".EX2", Lg2 = 3 ".LG2", Rcp = 4 ".RCP", Rsq = 5 ".RSQ",
            Rcp64High = 6 ".RCP64H", Rsq64High = 7 ".RSQ64H", Sqrt = 8 ".SQRT",
        }
        /// Selection mode of PRMT.
        PermuteMode(4): permute_mode ".???" [7 ".INVALIDPMODE7"] {
            Index = 0 "", F4e = 1 ".F4E", B4e = 2 ".B4E", Rc8 = 3 ".RC8", Ecl = 4 ".ECL", Ecr = 5 ".ECR", Rc16 = 6 ".RC16",
        }
        /// Operation of FCHK.
        CheckMode(6): check_mode ".INVALIDCHKMODE" { Divide = 0 ".DIVIDE" }
        /// Operation of CCTL and CCTLL.
        CacheOp(4): cache_op ".INVALIDCCTLOP" {
            Qry1 = 0 ".QRY1", Pf1 = 1 ".PF1", Pf1h = 2 ".PF1.5", Pf2 = 3 ".PF2", Wb = 4 ".WB", Iv = 5 ".IV", IvAll = 6 ".IVALL",
            Rs = 7 ".RS", RsLb = 9 ".RSLB",
        }
        /// Property that TXQ reads.
        TextureQuery(6): texture_query ""
            [6 "3"] [8 "4"] [10 "5"] [12 "6"] [14 "7"] [24 "12"] [26 "13"] [28 "14"] [30 "15"] [32 "16"] [34 "17"] [36 "18"] [38 "19"]
            [40 "20"] [42 "21"] [44 "22"] [46 "23"] [48 "24"] [50 "25"] [52 "26"] [54 "27"] [56 "28"] [58 "29"] [60 "30"] [62 "31"]
        {
            Dimension = 1 "TEX_HEADER_DIMENSION", TextureType = 2 "TEX_HEADER_TEXTURE_TYPE", SamplerPosition = 5 "TEX_HEADER_SAMPLER_POS",
            Filter = 16 "TEX_SAMPLER_FILTER", Lod = 18 "TEX_SAMPLER_LOD", Wrap = 20 "TEX_SAMPLER_WRAP",
            BorderColor = 22 "TEX_SAMPLER_BORDER_COLOR",
        }
    }
    numbers {
        /// Shift count of ISCADD.
        shift Style::Hex;
        /// Shift count of LEA.
        lea_shift Style::HexUnless(0);
        /// Truth table of LOP3: bit `4a + 2b + c`.
        truth_table Style::Hex;
        /// Bytes of the result that MOV writes.
        quad_mask Style::HexUnless(0xf);
        /// Number of a special register, see [`special`](crate::special).
        special_register Style::SpecialRegister;
        /// DEPBAR: scoreboards, one bit each.
        scoreboard_mask Style::BitSet;
        /// DEPBAR.LE: the count that the scoreboard must not exceed.
        scoreboard_count Style::Hex;
        /// FSWZADD: two bits for each lane of a quad; the text shows them as letters.
        swizzle Style::Swizzle(["PP", "NP", "PN", "ZP"]);
        /// Textures: index of the handle in bank 0, in words.
        handle Style::Hex;
        /// Textures: requested components, R in bit 0.
        component_mask Style::Hex;
        /// A test of the CC register, true if it has none; see [`Instruction::cc_test`].
        cc_condition Style::Test { prefix: "CC", names: CcTest::TEXTS, usual: CcTest::T as u64 };
        /// An immediate without a meaning for programs.
        tag Style::HexUnless(0);
        /// An immediate without a meaning for programs, always printed.
        number Style::Hex;
    }
    signed_numbers {
        /// Added to the address of BRX (relative to the next word) and JMX.
        code_offset 1;
        /// AL2P: offset in bytes.
        attribute_offset 1;
    }
}
