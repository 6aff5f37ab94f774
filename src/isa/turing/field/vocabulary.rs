//! The names, values and texts of fields; [`warploom_sass::field`] explains their use.

use warploom_sass::Style;

use crate::instruction::Instruction;

vocabulary! {
    flags {
        /// Clamps an integer result to its type's range, a float result to [0, 1].
        sat ".SAT";
        /// Negative results and NaN become 0.
        relu ".RELU";
        /// Denormals of F32 and F16 are flushed.
        ftz ".FTZ";
        /// Minimum and maximum give NaN if an operand is NaN.
        nan ".NAN";
        /// Shift counts and positions wrap at the width.
        wrap ".W";
        /// 64-bit addresses.
        extended ".E";
        /// The high word of a shift.
        high ".HI";
        /// FLO: gives 31 minus the index, a shift count.
        shift_amount ".SH";
        /// A set instruction writes 1.0 instead of all ones.
        bool_float ".BF";
        /// HSETP2: both halves compare.
        h_and ".H_AND";
        /// LOP3: the predicate says whether all bits are set.
        pand ".PAND";
        /// VABSDIFF4: adds the differences to C.
        accumulate ".ACC";
        /// F2I: NaN gives zero.
        ntz ".NTZ";
        /// F2FP: clamps to finite values.
        satfinite ".SATFINITE";
        /// Writes or reads for other pixels of a quad: graphics.
        ndv ".NDV";
        /// Textures: the result does not wait for earlier ones. No effect.
        nodep ".NODEP";
        /// Textures: packed offsets are in a register.
        offsets ".AOFFI";
        /// Textures: compares with a depth reference.
        depth_compare ".DC";
        /// Only for this lane.
        private ".PRIVATE";
        /// LDS: the address may be unaligned.
        unaligned ".U";
        /// Output attributes: graphics.
        output ".O";
        /// Attribute memory of a patch: graphics.
        patch ".P";
        /// ISBERD, ISBEWR.
        skew ".SKEW";
        /// MATCH: 64-bit values.
        match_wide ".U64";
        /// BMOV: clears the register.
        clear ".CLEAR";
        /// BMOV: of the quad.
        pquad ".PQUAD";
        /// WARPSYNC: undocumented.
        exclusive ".EXCLUSIVE";
        /// CALL: the API call depth is not counted. No effect.
        no_increment ".NOINC";
        /// RET: the API call depth is not counted. No effect.
        no_decrement ".NODEC";
        /// EXIT: without the handler.
        no_atexit ".NO_ATEXIT";
        /// BAR: the warp is not blocked at once. No effect.
        defer_blocking ".DEFER_BLOCKING";
        /// LDGSTS: writes zeros if the predicate is false.
        zfill ".ZFILL";
        /// Textures: undocumented.
        scr ".SCR";
        /// TLD: out of range coordinates fetch the nearest texel.
        coordinate_clamp ".CL";
        /// TLD: the sample index is in a register.
        multisample ".MS";
        /// TXD: the level of detail is clamped.
        lod_clamp ".LC";
        /// FOOTPRINT.
        coarse ".COARSE";
        /// Surfaces: the coordinate x is in bytes.
        byte_address ".BA";
        /// F2FP: the random bits are in a register.
        stochastic_register ".REG_RS";
        /// F2FP: undocumented.
        stochastic_source ".LTN25";
        /// The operand reuse cache keeps the metadata of a sparse matrix.
        metadata_reuse ".reuse";
        /// sm_90: pairs of halves.
        packed ".16x2";
        /// VHMNMX: of BF16.
        brain ".BF16_V2";
        /// VHMNMX: the result's sign is the exclusive or of the signs.
        xorsign ".XORSIGN";
        /// Copies of tensors: to several blocks.
        multicast ".MULTICAST";
        /// Bulk copies: in order.
        sequenced ".SEQUENCED";
        /// SYNCS: waits for a while.
        try_wait ".TRYWAIT";
        /// SYNCS: the thread takes no further part.
        opt_out ".OPTOUT";
        /// ELECT: lanes that were killed count.
        ignore_kill ".IGNOREKILL";
        /// Products of warp groups: factors are negated or transposed.
        negated_a ".negA";
        negated_b ".negB";
        transposed_a ".tnspA";
        transposed_b ".tnspB";
    }
    enums {
        /// Rounding of a float result.
        Rounding(2): rounding { Nearest "", Down ".RM", Up ".RP", Zero ".RZ" }
        /// Rounding to an integral value (default: nearest, ties to even).
        IntRounding(2): int_rounding { Nearest "", Floor ".FLOOR", Ceil ".CEIL", Trunc ".TRUNC" }
        /// Denormals of F32: kept, flushed, or flushed with 0 * x = 0.
        Flush(2): flush { Keep "", Ftz ".FTZ", Fmz ".FMZ", Reserved ".INVALID3" }
        /// Scaling of an FMUL product.
        Scale(3): scale {
            Reserved ".INVALID0", D8 ".D8", D4 ".D4", D2 ".D2", None "", M2 ".M2", M4 ".M4",
            M8 ".M8",
        }
        /// Signedness of the operands of an integer operation.
        Sign(1): signed, byte_signed [0 ".U8"] [1 ""] { Unsigned ".U32", Signed "" }
        /// A comparison of integers.
        IntCompare(3): int_compare {
            False ".F", Lt ".LT", Eq ".EQ", Le ".LE", Gt ".GT", Ne ".NE", Ge ".GE", True ".T",
        }
        /// A comparison of floats; comparisons with `U` are true if an operand is NaN. DSETP has
        /// the minimum and maximum in place of the constants.
        FloatCompare(4): float_compare, double_compare [0 ".MIN"] [15 ".MAX"] {
            False ".F", Lt ".LT", Eq ".EQ", Le ".LE", Gt ".GT", Ne ".NE", Ge ".GE", Num ".NUM",
            Nan ".NAN", Ltu ".LTU", Equ ".EQU", Leu ".LEU", Gtu ".GTU", Neu ".NEU", Geu ".GEU",
            True ".T",
        }
        /// How a predicate is combined with another.
        BoolOp(2): bool_op, half_bool_op { And ".AND", Or ".OR", Xor ".XOR", Reserved ".INVALID3" }
        /// Direction of SHF.
        ShiftDirection(1): shift_direction { Left ".L", Right ".R" }
        /// Width and sign of the number that SHF shifts; the width bounds the count.
        ShiftType(2): shift_type { S64 ".S64", U64 ".U64", S32 ".S32", U32 ".U32" }
        /// The word of a product.
        ProductWord(1): product_word { Low ".LO", High ".HI" }
        /// Signs of the bytes of A and B in IDP.4A.
        DotSigns(2):
            dot_signs,
            dot_wide_signs [0 ".U16.U8"] [1 ".S16.U8"] [2 ".U16.S8"] [3 ".S16.S8"]
        {
            U8U8 ".U8.U8", S8U8 ".S8.U8", U8S8 ".U8.S8", S8S8 ".S8.S8",
        }
        /// Selection mode of PRMT.
        PermuteMode(3): permute_mode {
            Index "", F4e ".F4E", B4e ".B4E", Rc8 ".RC8", Ecl ".ECL", Ecr ".ECR", Rc16 ".RC16",
            Reserved ".INVALID7",
        }
        /// UPRMT has one mode.
        UniformPermuteMode(1): uprmt_mode { Index "", Reserved ".???1" }
        /// The byte that P2R replaces.
        ByteIndex(2): byte_index { B0 "", B1 ".B1", B2 ".B2", B3 ".B3" }
        /// Width of CS2R.
        ClockWidth(1): clock_width { B32 ".32", B64 "" }
        /// Integer type that I2I and I2IP write.
        NarrowInt(2): narrow_int { U8 ".U8", S8 ".S8", U16 ".U16", S16 ".S16" }
        /// Integer type of fewer than eight bits that I2IP writes.
        NibbleInt(2): nibble_int { U2 ".U2", S2 ".S2", U4 ".U4", S4 ".S4" }
        /// F2FP: where the results go.
        PackMode(1): pack_mode { AB ".PACK_AB", MergeC ".MERGE_C" }
        /// F2FP: the type of results.
        PackKind(1): pack_kind, stochastic_kind [1 ".???1"] { F16 "", Bf16 ".BF16" }
        /// F2FP from sm_89 on: the type of a source of 8 bits.
        F2fpSource(1): f2fp_source { E5m2 ".E5M2", E4m3 ".E4M3" }
        /// F2IP: the type of results.
        F2ipType(2): f2ip_type { U8 ".U8", S8 ".S8", Reserved2 ".INVALID2", Reserved3 ".INVALID3" }
        /// F2IP: rounding.
        F2ipRounding(2): f2ip_rounding {
            Nearest "", Reserved1 ".INVALID1", Reserved2 ".INVALID2", Trunc ".TRUNC",
        }
        /// I2FP: rounding.
        I2fpRounding(2): i2fp_rounding {
            Nearest "", Reserved1 ".INVALID1", Reserved2 ".INVALID2", Zero ".RZ",
        }
        /// F2FP: random bits.
        StochasticBits(2): stochastic_bits { B7 ".7b", B8 "", B9 ".9b", B10 ".10b" }
        /// Type of an operation on pairs of halves.
        HalfType(2): half_type { F16 "", F32 ".F32", Bf16 ".BF16_V2", Reserved ".INVALID3" }
        /// Words that an attribute instruction moves.
        AttributeSize(2):
            attribute_size,
            attribute_size_of_one [1 ".???1"] [2 ".???2"] [3 ".???3"]
        {
            B32 "", B64 ".64", B96 ".96", B128 ".128",
        }
        /// Interpolation of IPA.
        IpaMode(2): ipa_mode {
            Pass ".PASS", Constant ".CONSTANT", State ".STATE", Reserved ".INVALID3",
        }
        /// Place at which IPA interpolates.
        IpaPlace(2): ipa_place, ipa_offset [0 ".???0"] [1 ".???1"] [2 ".OFFSET"] [3 ".???3"] {
            Center "", Centroid ".CENTROID", Offset ".OFFSET", Reserved ".???3",
        }
        /// Action of OUT.
        OutMode(2): out_mode {
            Final ".FINAL", Emit ".EMIT", Cut ".CUT", EmitThenCut ".EMIT_THEN_CUT",
        }
        /// Address space of ISBERD.
        IsbeMode(2): isbe_mode, isbe_write_mode [1 ".INVALID1"] [2 ".INVALID2"] {
            None "", Patch ".PATCH", Prim ".PRIM", Attr ".ATTR",
        }
        /// Size that ISBERD reads.
        IsbeSize(2): isbe_size { B8 "", U16 ".U16", B32 ".32", Reserved ".INVALID3" }
        /// ISBEWR writes output.
        IsbeOutput(1): isbe_output { Reserved ".???0", Output ".O" }
        /// Information that PIXLD reads.
        PixelMode(3): pixel_mode {
            None "", CovMask ".COVMASK", CentroidOffset ".CENTROID_OFFSET", MyIndex ".MY_INDEX",
            InnerCoverage ".INNER_COVERAGE", Reserved5 ".???5", Reserved6 ".???6",
            Reserved7 ".???7",
        }
        /// Coefficients that LDTRAM loads.
        LdtramPart(1): ldtram_part { Ab ".AB", C ".C" }
        /// Condition of VOTE.
        VoteMode(2): vote_mode { All ".ALL", Any ".ANY", Eq ".EQ", Reserved ".INVALID3" }
        /// How lanes are chosen by SHFL.
        ShuffleMode(2): shuffle_mode { Idx ".IDX", Up ".UP", Down ".DOWN", Bfly ".BFLY" }
        /// How BAR.RED combines the predicates.
        BarrierReduction(2): barrier_reduction {
            Popc ".POPC", And ".AND", Or ".OR", Reserved ".INVALID3",
        }
        /// Whether a branch is uniform. No effect.
        BranchConvergence(2):
            branch_convergence,
            branch_vote [0 ".INVALID0"] [1 ".INVALID1"],
            branch_uniform [0 ".???0"] [1 ".U"] [2 ".???2"] [3 ".???3"]
        {
            Any "", Uniform ".U", Divergent ".DIV", Convergent ".CONV",
        }
        /// How a branch counts the API call depth. No effect.
        CallDepth(2): call_depth { Same "", Inc ".INC", Dec ".DEC", Reserved ".INVALID3" }
        /// EXIT: no effect.
        ExitMode(2): exit_mode {
            Plain "", KeepRefcount ".KEEPREFCOUNT", Preempted ".PREEMPTED", Reserved ".INVALID3",
        }
        /// NANOSLEEP.
        SleepMode(2): sleep_mode { Plain "", Warp ".WARP", Rand ".RAND", RandWarp ".RAND.WARP" }
        /// The half of the return address.
        RpcWord(1): rpc_word { Low ".LO", High ".HI" }
        /// SETCTAID: the coordinate.
        CtaDimension(2): cta_dimension { X ".X", Y ".Y", Z ".Z", Reserved "" }
        /// CSMTEST.
        CsmMode(2): csm_mode { Reserved ".INVALID0", R ".R", A ".A", Ra ".RA" }
        /// Size and extension of the data that a memory instruction moves.
        MemSize(3): mem_size, old_load_size [7 ".U.128"], shared_size [7 ".???7"], const_size [6 ".INVALID6"] {
            U8 ".U8", S8 ".S8", U16 ".U16", S16 ".S16", B32 "", B64 ".64", B128 ".128",
            Reserved ".INVALID7",
        }
        /// How long a line stays in the cache. No effect.
        Eviction(3): eviction {
            First ".EF", Normal "", Last ".EL", LastUse ".LU", Unchanged ".EU", NoAllocate ".NA",
            Reserved6 ".INVALID6", Reserved7 ".INVALID7",
        }
        /// Bytes that a load brings into the cache. No effect.
        SectorPrefetch(2): sector_prefetch {
            None "", B64 ".LTC64B", B128 ".LTC128B", B256 ".LTC256B",
        }
        /// Order and scope of a load.
        LoadScope(4): load_scope [4 ".CONSTANT"], store_scope {
            Weak "", ConstantPrivate ".CONSTANT.PRIVATE", ConstantCta ".CONSTANT.CTA",
            ConstantCtaPrivate ".CONSTANT.CTA.PRIVATE", StrongSmPrivate ".STRONG.SM.PRIVATE",
            StrongSm ".STRONG.SM", StrongGpuPrivate ".STRONG.GPU.PRIVATE", StrongGpu ".STRONG.GPU",
            MmioGpu ".MMIO.GPU", ConstantSm ".CONSTANT.SM", StrongSys ".STRONG.SYS",
            ConstantSmPrivate ".CONSTANT.SM.PRIVATE", MmioSys ".MMIO.SYS",
            ConstantVc ".CONSTANT.VC", ConstantVcPrivate ".CONSTANT.VC.PRIVATE",
            ConstantGpu ".CONSTANT.GPU",
        }
        /// Order of an access on sm_75.
        OldOrder(2):
            old_load_order,
            old_store_order [0 ".INVALID0"],
            old_atomic_order [0 ".INVALID0"] [3 ".INVALID3"]
        {
            Constant ".CONSTANT", Weak "", Strong ".STRONG", Mmio ".MMIO",
        }
        /// Scope of an access on sm_75.
        OldScope(2): old_scope { Cta ".CTA", Sm ".SM", Gpu ".GPU", Sys ".SYS" }
        /// How LDC forms the address.
        ConstMode(2): const_mode {
            Plain "",
            IndexedLinear ".IL",
            /// The high half of the address is added to the bank.
            IndexedSegmented ".IS",
            IndexedSegmentedLinear ".ISL",
        }
        /// LDGSTS: past the first cache.
        Bypass(1): bypass { Bypass ".BYPASS", Access "" }
        /// The address space that QSPC asks for.
        QuerySpace(2): query_space { Global ".G", Local ".L", Shared ".S", Reserved ".INVALID3" }
        /// The kind of a fence.
        FenceKind(2): fence_kind { Sc ".SC", All ".ALL", Plain "", Mmio ".MMIO" }
        /// Cache that CCTL controls.
        CacheKind(3): cache_kind {
            Default "", U ".U", C ".C", I ".I", Reserved4 ".???4", Reserved5 ".???5",
            Reserved6 ".???6", Reserved7 ".???7",
        }
        /// CCTLT.
        TextureCacheOp(2): texture_cache_op {
            Reserved0 ".???0", Ivth ".IVTH", IvAll ".IVALL", Reserved3 ".???3",
        }
        /// ARRIVES.
        ArrivesKind(1): arrives_kind { Ldgsts ".LDGSTSBAR", Reserved ".???1" }
        /// Order of rows of a matrix.
        RowMajor(1): row { Row ".ROW", Reserved ".???1" }
        /// Order of columns of a matrix.
        ColumnMajor(1): col { Reserved ".???0", Col ".COL" }
        /// Shape of HMMA.
        HmmaShape(2): hmma_shape {
            M16N8K8 ".1688", M16N8K16 ".16816", M16N8K4 ".1684", Reserved ".INVALID3",
        }
        /// Type of sums of HMMA.
        HmmaResult(1): hmma_result, qmma_result { F16 ".F16", F32 ".F32" }
        /// Type of factors of HMMA.
        HmmaSource(2): hmma_source { F16 "", Bf16 ".BF16", Tf32 ".TF32", Reserved ".INVALID3" }
        /// Shape of BMMA.
        BmmaShape(2): bmma_shape {
            M8N8K128 ".88128", M16N8K128 ".168128", M16N8K256 ".168256", Reserved ".INVALID3",
        }
        /// Shape of QMMA.
        QmmaShape(2): qmma_shape {
            M16N8K16 ".16816", M16N8K32 ".16832", Reserved2 ".INVALID2", Reserved3 ".INVALID3",
        }
        /// Shape of a sparse QMMA.
        SparseQmmaShape(2): sparse_qmma_shape {
            Reserved0 ".INVALID0", M16N8K32 ".16832", M16N8K64 ".16864", Reserved3 ".INVALID3",
        }
        /// Type of a factor of QMMA.
        QmmaSource(1): qmma_a, qmma_b { E4m3 ".E4M3", E5m2 ".E5M2" }
        /// Operation of BMMA.
        BmmaOp(2): bmma_op { Xor ".XOR", Reserved1 ".INVALID1", And ".AND", Reserved3 ".INVALID3" }
        /// BMMA counts ones.
        BmmaPopc(1): bmma_popc { Reserved ".???0", Popc ".POPC" }
        /// Shape of DMMA.
        DmmaShape(1): dmma_shape { M8N8K4 ".884", Reserved ".???1" }
        /// How MOVM moves a matrix.
        MovmMode(2): movm_mode { Mt88 ".MT88", M832 ".M832", M864 ".M864", Reserved ".INVALID3" }
        /// How LDSM reads a matrix.
        LdsmMode(2): ldsm_mode { M88 ".M88", Mt88 ".MT88", M816 ".M816", M832 ".M832" }
        /// Matrices that LDSM reads.
        LdsmCount(2): ldsm_count { One "", Two ".2", Four ".4", Reserved ".INVALID3" }
        /// Shape of a texture.
        TextureDim(3):
            texture_dim,
            fetch_dim [3 "INVALID3"] [7 "INVALID7"],
            gather_dim [0 "INVALID0"] [2 "INVALID2"] [4 "INVALID4"],
            derivative_dim [2 "INVALID2"] [3 "INVALID3"] [7 "INVALID7"],
            footprint_dim [0 "INVALID0"] [3 "INVALID3"] [4 "INVALID4"] [5 "INVALID5"] [7 "INVALID7"]
        {
            D1 "1D", D2 "2D", D3 "3D", Cube "CUBE", ArrayD1 "ARRAY_1D", ArrayD2 "ARRAY_2D",
            Reserved "INVALID6", ArrayCube "ARRAY_CUBE",
        }
        /// Type of texels.
        TexelFormat(2): texel_format {
            F32 "", F16Rn ".F16.RN", F16Rz ".F16.RZ", Reserved ".INVALID3",
        }
        /// Level of detail of TEX.
        TextureLod(3): texture_lod {
            Auto "", Zero ".LZ", Bias ".LB", Level ".LL", Clamp ".LC", BiasClamp ".LB.LC",
            ClampFdv ".LC.FDV", Reserved ".INVALID7",
        }
        /// A texture's handle is in a register.
        Bindless(1): bindless, maybe_bindless [0 ""] { Bound ".???0", Bindless ".B" }
        /// Component that TLD4 gathers.
        GatherComponent(2): gather_component { R ".R", G ".G", B ".B", A ".A" }
        /// Offsets of TLD4.
        GatherOffsets(2): gather_offsets {
            None "", Aoffi ".AOFFI", Ptp ".PTP", Reserved ".INVALID3",
        }
        /// Property that TXQ reads.
        TextureQuery(2): texture_query {
            Dimension "TEX_HEADER_DIMENSION", TextureType "TEX_HEADER_TEXTURE_TYPE",
            SamplerPosition "TEX_HEADER_SAMPLER_POS", Reserved "INVALID3",
        }
        /// FOOTPRINT: of which instruction.
        FootprintKind(1): footprint_kind { Tex ".TEX", Txd ".TXD" }
        /// Shape of a surface.
        SurfaceDim(3): surface_dim {
            D1 ".1D", D1Buffer ".1D_BUFFER", D1Array ".1D_ARRAY", D2 ".2D", D2Array ".2D_ARRAY",
            D3 ".3D", Reserved6 ".INVALID6", Reserved7 ".INVALID7",
        }
        /// SUQUERY: the property.
        SurfaceQuery(1): surface_query { CompStatus "COMP_STATUS", Reserved "???1" }
        /// Effect of an access outside the surface.
        SurfaceClamp(2): surface_clamp {
            Ignore ".IGN", Near "", Trap ".TRAP", Reserved ".INVALID3",
        }
        /// Operand type of an atomic operation on a surface.
        SurfaceAtomicType(3): surface_atomic_type {
            U32 "", S32 ".S32", U64 ".U64", F32 ".F32.FTZ.RN", F16x2 ".F16x2.RN", S64 ".S64",
            Sd32 ".SD32", Sd64 ".SD64",
        }
        /// Scoreboard of DEPBAR.
        Scoreboard(3): scoreboard {
            Sb0 "SB0", Sb1 "SB1", Sb2 "SB2", Sb3 "SB3", Sb4 "SB4", Sb5 "SB5", Reserved6 "???6",
            Reserved7 "???7",
        }
        /// REDUX.
        ReduxOp(3): redux_op {
            And "", Or ".OR", Xor ".XOR", Sum ".SUM", Min ".MIN", Max ".MAX", Reserved6 ".INVALID6",
            Reserved7 ".INVALID7",
        }
        /// Signedness of REDUX.
        ReduxType(1): redux_type { U32 "", S32 ".S32" }
        /// Shape of IMMA, and the type of its factors.
        ImmaShape(3): imma_shape {
            M8N8K16 ".8816", Reserved1 ".INVALID1", M8N8K32 ".8832", Reserved3 ".INVALID3",
            M16N8K16 ".16816", M16N8K32 ".16832", M16N8K64 ".16864", Reserved7 ".INVALID7",
        }
        /// Shape of a sparse IMMA.
        SparseImmaShape(3): sparse_imma_shape {
            Reserved0 ".INVALID0", Reserved1 ".INVALID1", M8N8K32 ".8832", M8N8K64 ".8864",
            Reserved4 ".INVALID4", M16N8K32 ".16832", M16N8K64 ".16864", M16N8K128 ".168128",
        }
        /// Shape of a sparse HMMA.
        SparseHmmaShape(2): sparse_hmma_shape {
            M16N8K8 ".1688", M16N8K16 ".16816", Reserved ".INVALID2", M16N8K32 ".16832",
        }
        /// Type of A of IMMA.
        ImmaA(3): imma_a, imma_b {
            U8 ".U8", S8 ".S8", Reserved2 ".INVALID2", Reserved3 ".INVALID3", U4 ".U4", S4 ".S4",
            Reserved6 ".INVALID6", Reserved7 ".INVALID7",
        }
    }
    sparse_enums {
        /// Function of MUFU.
        MufuOp(4): mufu_op ".INVALID", mufu_half_op ".INVALID" [6 ".INVALID6"] [7 ".INVALID7"] {
            Cos = 0 ".COS", Sin = 1 ".SIN", Ex2 = 2 ".EX2", Lg2 = 3 ".LG2", Rcp = 4 ".RCP",
            Rsq = 5 ".RSQ", Rcp64High = 6 ".RCP64H", Rsq64High = 7 ".RSQ64H", Sqrt = 8 ".SQRT",
            Tanh = 9 ".TANH",
        }
        /// FRND: type.
        FrndType(4): frnd_type ".???" { F64 = 15 ".F64" }
        /// F2I: type of the result.
        F2iType(3): f2i_type ".???", f2i_narrow ".???" [6 ".???6"] [7 ".???7"] {
            U8 = 0 ".U8", S8 = 1 ".S8", U16 = 2 ".U16", S16 = 3 ".S16", U32 = 4 ".U32", S32 = 5 "",
            U64 = 6 ".U64", S64 = 7 ".S64",
        }
        /// I2F: type of the result.
        I2fType(2): i2f_type ".???", i2f_narrow ".???" [3 ".???3"] {
            F16 = 1 ".F16", F32 = 2 "", F64 = 3 ".F64",
        }
        /// I2F: type of the source.
        I2fSource(3): i2f_source ".???" {
            U8 = 0 ".U8", S8 = 1 ".S8", U16 = 2 ".U16", S16 = 3 ".S16", U32 = 4 ".U32", S32 = 5 "",
            U64 = 6 ".U64", S64 = 7 ".S64",
        }
        /// A register of convergence.
        BarrierRegister(6): barrier_register "???" {
            B0 = 0 "B0", B1 = 1 "B1", B2 = 2 "B2", B3 = 3 "B3", B4 = 4 "B4", B5 = 5 "B5",
            B6 = 6 "B6", B7 = 7 "B7", B8 = 8 "B8", B9 = 9 "B9", B10 = 10 "B10", B11 = 11 "B11",
            B12 = 12 "B12", B13 = 13 "B13", B14 = 14 "B14", B15 = 15 "B15",
            ThreadState0 = 16 "THREAD_STATE_ENUM.0", ThreadState1 = 17 "THREAD_STATE_ENUM.1",
            ThreadState2 = 18 "THREAD_STATE_ENUM.2", ThreadState3 = 19 "THREAD_STATE_ENUM.3",
            ThreadState4 = 20 "THREAD_STATE_ENUM.4", TrapReturnPcLow = 21 "TRAP_RETURN_PC.LO",
            TrapReturnPcHigh = 22 "TRAP_RETURN_PC.HI", TrapReturnMask = 23 "TRAP_RETURN_MASK",
            Mexited = 24 "MEXITED", Mkill = 25 "MKILL", Mactive = 26 "MACTIVE",
            Matexit = 27 "MATEXIT", OptStack = 28 "OPT_STACK", ApiCallDepth = 29 "API_CALL_DEPTH",
            AtexitPcLow = 30 "ATEXIT_PC.LO", AtexitPcHigh = 31 "ATEXIT_PC.HI",
            /// From sm_90 on.
            Mcollective = 32 "MCOLLECTIVE",
        }
        /// F2FP from sm_89 on: the type of results.
        F2fpType(3): f2fp_type ".???" {
            F16 = 0 ".F16", Bf16 = 1 ".BF16", Tf32 = 3 ".TF32", E5m2 = 4 ".E5M2", E4m3 = 5 ".E4M3",
        }
        /// I2FP: type of the result.
        I2fpType(3): i2fp_type ".???" { F32 = 2 ".F32" }
        /// I2FP: type of the source.
        I2fpSource(3): i2fp_source ".???" { U32 = 4 ".U32", S32 = 5 ".S32" }
        /// Operation of ATOM, ATOMG.
        AtomicOp(4):
            atomic_op ".INVALID" [9 ".INVALID9"],
            surface_atomic_op ".INVALID" [9 ".INVALID9"],
            surface_reduce_op ".INVALID" [8 ".INVALID8"] [9 ".INVALID9"],
            global_atomic_op ".INVALID",
            shared_atomic_op ".INVALID" [9 ".INVALID9"],
            reduce_op ".INVALID"
        {
            Add = 0 ".ADD", Min = 1 ".MIN", Max = 2 ".MAX", Inc = 3 ".INC", Dec = 4 ".DEC",
            And = 5 ".AND", Or = 6 ".OR", Xor = 7 ".XOR", Exch = 8 ".EXCH", SafeAdd = 9 ".SAFEADD",
        }
        /// Components that a formatted surface access moves.
        SurfaceMask(4): surface_mask ".INVALID" { R = 1 ".R", Rg = 3 ".RG", Rgba = 15 "" }
        /// Level of detail of TLD.
        FetchLod(3): fetch_lod ".INVALID" { Zero = 1 ".LZ", Level = 3 ".LL" }
        /// Operand type of a compare and swap on a surface.
        SurfaceCasType(3): surface_cas_type ".INVALID" {
            U32 = 0 "", S32 = 1 ".S32", U64 = 2 ".U64", S64 = 5 ".S64",
        }
        /// Compare and swap.
        CasOp(2): cas_op "" [2 ".CAS"], shared_cas_op "" [2 ".CAS"] {
            Cas = 0 ".CAS", Cast = 1 ".CAST", CastSpin = 3 ".CAST.SPIN",
        }
        /// Operand type of an atomic operation.
        AtomicType(4): atomic_type ".INVALID" {
            U32 = 0 "", S32 = 1 ".S32", U64 = 2 ".64", F32 = 3 ".F32.FTZ.RN", F16x2 = 4 ".F16x2.RN",
            S64 = 5 ".S64", F64 = 6 ".F64.RN",
        }
        /// Operand type of a compare and swap.
        CasType(4): cas_type ".INVALID" { U32 = 0 "", S32 = 1 ".S32", U64 = 2 ".64" }
        /// Operand type of an atomic operation in shared memory.
        SharedAtomicType(2): shared_atomic_type ".INVALID", shared_cas_type ".INVALID" {
            U32 = 0 "", S32 = 1 ".S32", U64 = 2 ".64",
        }
        /// Order and scope of LDGSTS.
        AsyncScope(4): async_scope ".???" {
            Weak = 0 "", ConstantPrivate = 1 ".CONSTANT.PRIVATE", ConstantCta = 2 ".CONSTANT.CTA",
            ConstantCtaPrivate = 3 ".CONSTANT.CTA.PRIVATE", Constant = 4 ".CONSTANT",
            MmioCta = 5 ".MMIO.CTA", GpuPrivate = 6 ".GPU.PRIVATE",
            MmioCtaPrivate = 7 ".MMIO.CTA.PRIVATE", MmioSm = 8 ".MMIO.SM",
            ConstantSm = 9 ".CONSTANT.SM", MmioVc = 10 ".MMIO.VC",
            ConstantSmPrivate = 11 ".CONSTANT.SM.PRIVATE", MmioGpu = 12 ".MMIO.GPU",
            ConstantVc = 13 ".CONSTANT.VC", ConstantVcPrivate = 14 ".CONSTANT.VC.PRIVATE",
            ConstantGpu = 15 ".CONSTANT.GPU",
        }
        /// Operand type of ATOMS.POPC.INC.
        PopcIncSize(2): popc_inc_size ".???" { B32 = 0 ".32" }
        /// The part of C that I2IP of fewer than eight bits takes.
        NibblePart(2): nibble_part ".???" { Top = 2 ".24" }
        PairPart(2): pair_part ".???" { Top = 3 ".28" }
        /// Size of ARRIVES.
        ArrivesSize(3): arrives_size ".???" { B64 = 5 ".64" }
        /// Scope of a fence.
        FenceScope(3): fence_scope ".INVALID" {
            Cta = 0 ".CTA", Sm = 1 ".SM", Gpu = 2 ".GPU", Sys = 3 ".SYS", Vc = 5 ".VC",
        }
        /// Operation of CCTL and CCTLL.
        CacheOp(4): cache_op ".???" {
            Pf1 = 0 ".PF1", Pf2 = 1 ".PF2", Wb = 2 ".WB", Iv = 3 ".IV", IvAll = 4 ".IVALL",
            Rs = 5 ".RS", IvAllP = 6 ".IVALLP", WbAll = 7 ".WBALL", WbAllP = 8 ".WBALLP",
            Pml2 = 9 ".PML2", Dml2 = 10 ".DML2", Rml2 = 11 ".RML2",
        }
        /// CSMTEST.
        CsmCompare(3): csm_compare ".???" {
            F = 0 ".F", CsmTa = 1 ".CSM_TA", CsmTr = 2 ".CSM_TR", CsmMx = 3 ".CSM_MX", T = 4 ".T",
            FcsmTa = 5 ".FCSM_TA", FcsmTr = 6 ".FCSM_TR", FcsmMx = 7 ".FCSM_MX",
        }
        /// VIMNMX, VIADDMNMX: the operands.
        VideoType(2): video_type ".???" {
            U32 = 0 ".U32", S32 = 1 "", U16x2 = 2 ".U16x2", S16x2 = 3 ".S16x2",
        }
        /// Copies of tensors: the number of coordinates.
        TensorDim(4): tensor_dim ".INVALID" {
            D1 = 0 ".1D", D2 = 1 ".2D", D3 = 2 ".3D", D4 = 3 ".4D", D5 = 4 ".5D",
            D1Im2col = 8 ".1D.IM2COL", D2Im2col = 9 ".2D.IM2COL", D3Im2col = 10 ".3D.IM2COL",
            D4Im2col = 11 ".4D.IM2COL", D5Im2col = 12 ".5D.IM2COL",
        }
        /// Bulk copies: the memories of destination and source.
        BulkSpaces(2): bulk_spaces ".???" {
            GG = 0 ".G.G", SG = 1 ".S.G", GS = 2 ".G.S", SS = 3 ".S.S",
        }
        /// Bulk copies: bytes that are brought into the cache.
        BulkPrefetch(2): bulk_prefetch ".???" {
            None = 0 "", B64 = 1 ".LTC64B", B128 = 2 ".LTC128B", B256 = 3 ".LTC256B",
        }
        /// SYNCS.ARRIVE.
        ArriveKind(2): arrive_kind ".INVALID" { Plain = 0 "", Tmask = 1 ".TMASK", Red = 2 ".RED" }
        /// SYNCS.ARRIVE: how arrivals and transactions count.
        ArriveCount(3): arrive_count ".INVALID" {
            None = 0 "", A1t0 = 1 ".A1T0", A0t1 = 2 ".A0T1", A0tr = 3 ".A0TR", A0tx = 4 ".A0TX",
            Art0 = 5 ".ART0",
        }
        /// FENCE: the memory.
        FenceView(1): fence_view ".???" { Shared = 0 ".S", Global = 1 ".G" }
        /// USETMAXREG: the pool of registers.
        RegisterPool(1): register_pool ".???" { Block = 1 ".CTAPOOL" }
        /// STSM: whether the matrices are transposed.
        StoredMatrix(1): stored_matrix ".???" { Rows = 0 ".M88", Columns = 1 ".MT88" }
        /// Operand type of REDG on integers.
        WideAtomicType(3): wide_atomic_type ".INVALID" {
            U32 = 0 "", S32 = 1 ".S32", U64 = 2 ".64", S64 = 3 ".S64", B128 = 4 ".128",
        }
        /// Shapes of DMMA, as sm_90 names them.
        LongDmmaShape(2): long_dmma_shape ".???" {
            N8K4 = 0 ".8x8x4", M16K4 = 1 ".16x8x4", M16K8 = 2 ".16x8x8", M16K16 = 3 ".16x8x16",
        }
        /// STSM: the number of matrices.
        MatrixCount(2): matrix_count ".INVALID" { One = 0 "", Two = 1 ".2", Four = 2 ".4" }
        /// Atomic operations on vectors of floats.
        VectorOp(2): vector_op ".INVALID" { Add = 0 ".ADD", Min = 1 ".MIN", Max = 2 ".MAX" }
        /// Their operand types.
        FloatVector(5): float_vector ".INVALID" {
            F16x2 = 0 ".F16x2.RN", F16x4 = 1 ".F16x4.RN", F16x8 = 2 ".F16x8.RN",
            Bf16x2 = 3 ".BF16x2.RN", Bf16x4 = 4 ".BF16x4.RN", Bf16x8 = 5 ".BF16x8.RN",
            F32Ftz = 9 ".F32.FTZ.RN", F32x2Ftz = 10 ".F32x2.FTZ.RN", F32x4Ftz = 11 ".F32x4.FTZ.RN",
            F32 = 12 ".F32.RN", F32x2 = 13 ".F32x2.RN", F32x4 = 14 ".F32x4.RN", F64 = 15 ".F64.RN",
        }
        /// Products of warp groups.
        GroupProductTypes(3): hgmma_types ".???" {
            F16 = 0 ".F16", F32 = 1 ".F32", F16Bf16 = 2 ".F16.BF16", F32Bf16 = 3 ".F32.BF16",
            F16Tf32 = 4 ".F16.TF32", F32Tf32 = 5 ".F32.TF32",
        }
        QgmmaTypes(3): qgmma_types ".???" {
            F16E4m3E4m3 = 0 ".F16.E4M3.E4M3", F32E4m3E4m3 = 1 ".F32.E4M3.E4M3",
            F16E5m2E4m3 = 2 ".F16.E5M2.E4M3", F32E5m2E4m3 = 3 ".F32.E5M2.E4M3",
            F16E4m3E5m2 = 4 ".F16.E4M3.E5M2", F32E4m3E5m2 = 5 ".F32.E4M3.E5M2",
            F16E5m2E5m2 = 6 ".F16.E5M2.E5M2", F32E5m2E5m2 = 7 ".F32.E5M2.E5M2",
        }
        /// Shapes of products of warp groups; of sparse ones, the K of the first factor.
        HgmmaShape(6): hgmma_shape ".INVALID" {
            N8K16 = 0 ".64x8x16", N16K16 = 1 ".64x16x16", N24K16 = 2 ".64x24x16",
            N32K16 = 3 ".64x32x16", N40K16 = 4 ".64x40x16", N48K16 = 5 ".64x48x16",
            N56K16 = 6 ".64x56x16", N64K16 = 7 ".64x64x16", N72K16 = 8 ".64x72x16",
            N80K16 = 9 ".64x80x16", N88K16 = 10 ".64x88x16", N96K16 = 11 ".64x96x16",
            N104K16 = 12 ".64x104x16", N112K16 = 13 ".64x112x16", N120K16 = 14 ".64x120x16",
            N128K16 = 15 ".64x128x16", N136K16 = 16 ".64x136x16", N144K16 = 17 ".64x144x16",
            N152K16 = 18 ".64x152x16", N160K16 = 19 ".64x160x16", N168K16 = 20 ".64x168x16",
            N176K16 = 21 ".64x176x16", N184K16 = 22 ".64x184x16", N192K16 = 23 ".64x192x16",
            N200K16 = 24 ".64x200x16", N208K16 = 25 ".64x208x16", N216K16 = 26 ".64x216x16",
            N224K16 = 27 ".64x224x16", N232K16 = 28 ".64x232x16", N240K16 = 29 ".64x240x16",
            N248K16 = 30 ".64x248x16", N256K16 = 31 ".64x256x16", N8K8 = 32 ".64x8x8",
            N16K8 = 33 ".64x16x8", N24K8 = 34 ".64x24x8", N32K8 = 35 ".64x32x8",
            N40K8 = 36 ".64x40x8", N48K8 = 37 ".64x48x8", N56K8 = 38 ".64x56x8",
            N64K8 = 39 ".64x64x8", N72K8 = 40 ".64x72x8", N80K8 = 41 ".64x80x8",
            N88K8 = 42 ".64x88x8", N96K8 = 43 ".64x96x8", N104K8 = 44 ".64x104x8",
            N112K8 = 45 ".64x112x8", N120K8 = 46 ".64x120x8", N128K8 = 47 ".64x128x8",
            N136K8 = 48 ".64x136x8", N144K8 = 49 ".64x144x8", N152K8 = 50 ".64x152x8",
            N160K8 = 51 ".64x160x8", N168K8 = 52 ".64x168x8", N176K8 = 53 ".64x176x8",
            N184K8 = 54 ".64x184x8", N192K8 = 55 ".64x192x8", N200K8 = 56 ".64x200x8",
            N208K8 = 57 ".64x208x8", N216K8 = 58 ".64x216x8", N224K8 = 59 ".64x224x8",
            N232K8 = 60 ".64x232x8", N240K8 = 61 ".64x240x8", N248K8 = 62 ".64x248x8",
            N256K8 = 63 ".64x256x8",
        }
        SparseHgmmaShape(7): sparse_hgmma_shape ".INVALID" {
            N8K16 = 0 ".64x8x16", N16K16 = 1 ".64x16x16", N24K16 = 2 ".64x24x16",
            N32K16 = 3 ".64x32x16", N40K16 = 4 ".64x40x16", N48K16 = 5 ".64x48x16",
            N56K16 = 6 ".64x56x16", N64K16 = 7 ".64x64x16", N72K16 = 8 ".64x72x16",
            N80K16 = 9 ".64x80x16", N88K16 = 10 ".64x88x16", N96K16 = 11 ".64x96x16",
            N104K16 = 12 ".64x104x16", N112K16 = 13 ".64x112x16", N120K16 = 14 ".64x120x16",
            N128K16 = 15 ".64x128x16", N136K16 = 16 ".64x136x16", N144K16 = 17 ".64x144x16",
            N152K16 = 18 ".64x152x16", N160K16 = 19 ".64x160x16", N168K16 = 20 ".64x168x16",
            N176K16 = 21 ".64x176x16", N184K16 = 22 ".64x184x16", N192K16 = 23 ".64x192x16",
            N200K16 = 24 ".64x200x16", N208K16 = 25 ".64x208x16", N216K16 = 26 ".64x216x16",
            N224K16 = 27 ".64x224x16", N232K16 = 28 ".64x232x16", N240K16 = 29 ".64x240x16",
            N248K16 = 30 ".64x248x16", N256K16 = 31 ".64x256x16", N8K32 = 64 ".64x8x32",
            N16K32 = 65 ".64x16x32", N24K32 = 66 ".64x24x32", N32K32 = 67 ".64x32x32",
            N40K32 = 68 ".64x40x32", N48K32 = 69 ".64x48x32", N56K32 = 70 ".64x56x32",
            N64K32 = 71 ".64x64x32", N72K32 = 72 ".64x72x32", N80K32 = 73 ".64x80x32",
            N88K32 = 74 ".64x88x32", N96K32 = 75 ".64x96x32", N104K32 = 76 ".64x104x32",
            N112K32 = 77 ".64x112x32", N120K32 = 78 ".64x120x32", N128K32 = 79 ".64x128x32",
            N136K32 = 80 ".64x136x32", N144K32 = 81 ".64x144x32", N152K32 = 82 ".64x152x32",
            N160K32 = 83 ".64x160x32", N168K32 = 84 ".64x168x32", N176K32 = 85 ".64x176x32",
            N184K32 = 86 ".64x184x32", N192K32 = 87 ".64x192x32", N200K32 = 88 ".64x200x32",
            N208K32 = 89 ".64x208x32", N216K32 = 90 ".64x216x32", N224K32 = 91 ".64x224x32",
            N232K32 = 92 ".64x232x32", N240K32 = 93 ".64x240x32", N248K32 = 94 ".64x248x32",
            N256K32 = 95 ".64x256x32",
        }
        QgmmaShape(6): qgmma_shape ".INVALID" {
            N8K32 = 0 ".64x8x32", N16K32 = 1 ".64x16x32", N24K32 = 2 ".64x24x32",
            N32K32 = 3 ".64x32x32", N40K32 = 4 ".64x40x32", N48K32 = 5 ".64x48x32",
            N56K32 = 6 ".64x56x32", N64K32 = 7 ".64x64x32", N72K32 = 8 ".64x72x32",
            N80K32 = 9 ".64x80x32", N88K32 = 10 ".64x88x32", N96K32 = 11 ".64x96x32",
            N104K32 = 12 ".64x104x32", N112K32 = 13 ".64x112x32", N120K32 = 14 ".64x120x32",
            N128K32 = 15 ".64x128x32", N136K32 = 16 ".64x136x32", N144K32 = 17 ".64x144x32",
            N152K32 = 18 ".64x152x32", N160K32 = 19 ".64x160x32", N168K32 = 20 ".64x168x32",
            N176K32 = 21 ".64x176x32", N184K32 = 22 ".64x184x32", N192K32 = 23 ".64x192x32",
            N200K32 = 24 ".64x200x32", N208K32 = 25 ".64x208x32", N216K32 = 26 ".64x216x32",
            N224K32 = 27 ".64x224x32", N232K32 = 28 ".64x232x32", N240K32 = 29 ".64x240x32",
            N248K32 = 30 ".64x248x32", N256K32 = 31 ".64x256x32",
        }
        SparseQgmmaShape(6): sparse_qgmma_shape ".INVALID" {
            N8K64 = 32 ".64x8x64", N16K64 = 33 ".64x16x64", N24K64 = 34 ".64x24x64",
            N32K64 = 35 ".64x32x64", N40K64 = 36 ".64x40x64", N48K64 = 37 ".64x48x64",
            N56K64 = 38 ".64x56x64", N64K64 = 39 ".64x64x64", N72K64 = 40 ".64x72x64",
            N80K64 = 41 ".64x80x64", N88K64 = 42 ".64x88x64", N96K64 = 43 ".64x96x64",
            N104K64 = 44 ".64x104x64", N112K64 = 45 ".64x112x64", N120K64 = 46 ".64x120x64",
            N128K64 = 47 ".64x128x64", N136K64 = 48 ".64x136x64", N144K64 = 49 ".64x144x64",
            N152K64 = 50 ".64x152x64", N160K64 = 51 ".64x160x64", N168K64 = 52 ".64x168x64",
            N176K64 = 53 ".64x176x64", N184K64 = 54 ".64x184x64", N192K64 = 55 ".64x192x64",
            N200K64 = 56 ".64x200x64", N208K64 = 57 ".64x208x64", N216K64 = 58 ".64x216x64",
            N224K64 = 59 ".64x224x64", N232K64 = 60 ".64x232x64", N240K64 = 61 ".64x240x64",
            N248K64 = 62 ".64x248x64", N256K64 = 63 ".64x256x64",
        }
        /// Action of BPT.
        BreakpointKind(3): breakpoint_kind ".???" {
            Pause = 2 ".PAUSE", Trap = 3 ".TRAP", Int = 4 ".INT", Drain = 5 ".DRAIN",
            PauseQuiet = 6 ".PAUSE_QUIET",
        }
    }
    numbers {
        /// Selects the metadata of a sparse matrix.
        sparsity Style::Hex;
        /// Shift count of LEA.
        lea_shift Style::Hex;
        /// Shift count of UCLEA.
        uclea_shift Style::Hex;
        /// Truth table of LOP3: bit `4a + 2b + c`.
        truth_table Style::Hex;
        /// Truth table of the second result of PLOP3.
        second_truth_table Style::Hex;
        /// Bytes of the result that MOV writes.
        quad_mask Style::HexUnless(0xf);
        /// Number of a special register, see [`special`](crate::special).
        special_register Style::SpecialRegister;
        /// Number of a barrier of the block.
        barrier Style::Hex;
        /// DEPBAR: scoreboards, one bit each.
        scoreboard_mask Style::BitSet;
        /// DEPBAR.LE: the count that the scoreboard must not exceed.
        scoreboard_count Style::Hex;
        /// FSWZADD: two bits for each lane of a quad; the text shows them as letters.
        swizzle Style::Swizzle(["PP", "PN", "NP", "ZP"]);
        /// Textures: requested components, R in bit 0.
        component_mask Style::HexUnless(0xf);
        /// TXQ: requested words, the first in bit 0.
        query_mask Style::Hex;
        /// Bank of a texture's handle.
        bank Style::Hex;
        /// Index of a texture's handle in its bank, in words.
        handle Style::Hex;
        /// Index of a sampler's handle in its bank, in words.
        sampler_index Style::Hex;
        /// Index of a texture header's handle in its bank, in words.
        header_index Style::Hex;
        /// An immediate without a meaning for programs, always printed.
        number Style::Hex;
        /// WARPGROUP.DEPBAR: the products that may still run.
        group_count Style::Hex;
        /// Number of a breakpoint.
        breakpoint_number Style::HexUnless(0);
    }
    signed_numbers {
        /// Added to the address of an indirect branch.
        code_offset 4;
    }
}
