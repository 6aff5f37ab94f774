//! Arithmetic of F32 and F64, and conversions.

family! { ($) float {
    /// A + B.
    Fadd (exact float::fadd) {
        "FADD{ftz@80}{rounding@78}{sat@77} {d}, {a -72 |73}, {b}" {
            s "021" "f" "r32 -63 |62 %2" " -63 |62";
        }
    }
    /// A * B.
    Fmul (exact float::fmul) {
        "FMUL{flush@80:1+76}{scale@84}{rounding@78}{sat@77} {d}, {a -72 |73}, {b}" {
            b "020" "f" " -63 |62";
        }
    }
    /// A * B + C.
    Ffma (exact float::ffma) {
        "FFMA{flush@80:1+76}{rounding@78}{sat@77} {d}, {a -72 |73}, {b}, {c}" {
            b3 "023" "f" " -63 |62" " -75 |74";
            c "023" "f" " -75 |74" " -63 |62";
        }
    }
    /// Minimum if the predicate is true, else maximum.
    Fmnmx (exact float::fmnmx) {
        "FMNMX{ftz@80}{nan@81} {d}, {a -72 |73}, {b}, {ps !90}" {
            b "009" "f" " -63 |62";
        }
    }
    /// A if the predicate is true, else B.
    Fsel (exact float::fsel) {
        "FSEL{ftz@80} {d}, {a -72 |73}, {b}, {ps !90}" {
            b "008" "f" " -63 |62";
        }
    }
    /// Compare and set a register.
    Fset (exact compare::fset) {
        "FSET.BF{float_compare@76}{ftz@80}{bool_op@74} {d}, {a -72 |73}, {b}, {ps !90}" {
            b "00a" "f" " -63 |62";
        }
    }
    /// Compare and set two predicates.
    Fsetp (exact compare::fsetp) {
        "FSETP{float_compare@76}{ftz@80}{bool_op@74} {pd}, {pe}, {a -72 |73}, {b}, {ps !90}" {
            b "00b" "f" " -63 |62";
        }
    }
    /// Whether A / B needs the slow path.
    Fchk (approximate "also holds for some safe quotients" float::fchk) {
        "FCHK {pd}, {a -72 |73}, {b}" {
            b "102" "f" " -63 |62";
        }
    }
    /// Sums of lanes of a quad.
    Fswzadd (exact float::fswzadd) {
        "FSWZADD{ftz@80}{rounding@78}{ndv@77} {d}, {a}, {c}, {swizzle@32:8}" {
            one "o022 @9=100 @91=0";
        }
    }
    /// Transcendental functions.
    Mufu (approximate "the PTX guest's functions" float::mufu) {
        "MUFU{mufu_op@74} {d}, {b}" {
            b "108 @73=0" "f" " -63 |62";
            one "o108 @9=100 @73=0 @75=011 @91=0 b=d";
        }
        "MUFU{mufu_half_op@74}.F16 {d}, {b}" {
            b "108 @73=1" "h" " -63 |62 .Q60";
        }
    }
    /// A + B.
    Dadd (exact float::dadd) {
        "DADD{rounding@78} {d}, {a -72 |73}, {b}" {
            s "029" "d" "r64 -75 |74 %2" " -63 |62";
        }
    }
    /// A * B.
    Dmul (exact float::dmul) {
        "DMUL{rounding@78} {d}, {a -72 |73}, {b}" {
            b "028" "d" " -63 |62";
        }
    }
    /// A * B + C.
    Dfma (exact float::dfma) {
        "DFMA{rounding@78} {d}, {a -72 |73}, {b}, {c}" {
            b3 "02b" "d" " -63 |62" " -75 |74";
            c "02b" "d" " -75 |74" " -63 |62";
        }
    }
    /// Compare and set two predicates.
    Dsetp (exact compare::dsetp) {
        "DSETP{double_compare@76}{bool_op@74} {pd}, {pe}, {a -72 |73}, {b}, {ps !90}" {
            s "02a" "d" "r32 -63 |62 %2" " -63 |62";
        }
    }
    /// Float to float.
    F2f (exact convert::f2f) {
        "F2F{ftz@80}.F16.F32{rounding@78} {d}, {b}" {
            b "104 @75=001 @84=10" "f" " -63 |62";
        }
        "F2F{ftz@80}.BF16.F32{rounding@78} {d}, {b}" {
            b "104 @75=100 @84=10" "f" " -63 |62";
        }
        "F2F{ftz@80}.F32.F16{rounding@78} {d}, {b}" {
            b "104 @75=010 @84=01" "h" " -63 |62 .Q60";
        }
        "F2F{ftz@80}.F64.F16{rounding@78} {d}, {b}" {
            b "110 @75=011 @84=01" "h" " -63 |62 .Q60";
        }
        "F2F{ftz@80}.F64.F32{rounding@78} {d}, {b}" {
            b "110 @75=011 @84=10" "f" " -63 |62";
        }
        "F2F{ftz@80}.F16.F64{rounding@78} {d}, {b}" {
            b "110 @75=001 @84=11" "d" " -63 |62";
        }
        "F2F{ftz@80}.F32.F64{rounding@78} {d}, {b}" {
            b "110 @75=010 @84=11" "d" " -63 |62";
        }
    }
    /// Float to integer.
    F2i (exact convert::f2i) {
        "F2I{ftz@80}{f2i_narrow@72:1+75:2}.F16{int_rounding@78}{ntz@77} {d}, {b}" {
            b "105 @84=01" "h" " -63 |62 .Q60";
        }
        "F2I{ftz@80}{f2i_narrow@72:1+75:2}{int_rounding@78}{ntz@77} {d}, {b}" {
            b "105 @84=10" "f" " -63 |62";
        }
        "F2I{ftz@80}{f2i_type@72:1+75:2}.F16{int_rounding@78}{ntz@77} {d}, {b}" {
            b "111 @75=11 @84=01" "h" " -63 |62 .Q60";
        }
        "F2I{ftz@80}{f2i_type@72:1+75:2}{int_rounding@78}{ntz@77} {d}, {b}" {
            b "111 @75=11 @84=10" "f" " -63 |62";
        }
        "F2I{ftz@80}{f2i_type@72:1+75:2}.F64{int_rounding@78}{ntz@77} {d}, {b}" {
            b "111 @84=11" "d" " -63 |62";
        }
    }
    /// Integer to float.
    I2f (exact convert::i2f) {
        "I2F{i2f_narrow@75}{i2f_source@74:1+84:2}{rounding@78} {d}, {b}" {
            noimm "106 @84=00" " .B60";
            noimm "106 @84=01" " .Q60";
            b "106 @84=10" "b" "";
        }
        "I2F{i2f_type@75}{i2f_source@74:1+84:2}{rounding@78} {d}, {b}" {
            noimm "112 @75=11 @84=00" " .B60";
            noimm "112 @75=11 @84=01" " .Q60";
            b "112 @75=11 @84=10" "b" "";
            noimm "112 @75=01 @84=11" "";
            one "o112 @9=100 @74=0 @75=01 @84=11 @91=0 b=b";
            one "o112 @9=100 @74=1 @75=01 @84=11 @91=0 b=i";
            noimm "112 @75=10 @84=11" "";
            one "o112 @9=100 @74=0 @75=10 @84=11 @91=0 b=b";
            one "o112 @9=100 @74=1 @75=10 @84=11 @91=0 b=i";
            noimm "112 @75=11 @84=11" "";
            one "o112 @9=100 @74=0 @75=11 @84=11 @91=0 b=b";
            one "o112 @9=100 @74=1 @75=11 @84=11 @91=0 b=i";
        }
    }
    /// Float to integral float.
    Frnd (exact convert::frnd) {
        "FRND{ftz@80}.F16{int_rounding@78} {d}, {b}" {
            b "107 @75=01 @84=01" "h" " -63 |62 .Q60";
        }
        "FRND{ftz@80}{int_rounding@78} {d}, {b}" {
            b "107 @75=10 @84=10" "f" " -63 |62";
        }
        "FRND{ftz@80}{frnd_type@75:2+84:2}{int_rounding@78} {d}, {b}" {
            b "113" "d" " -63 |62";
        }
    }
    /// Integer to a narrower integer.
    I2i (exact convert::i2i) {
        "I2I{narrow_int@76}.S32.SAT {d}, {b}" {
            b "038" "i" "";
        }
    }
    /// Two integers to narrower integers.
    I2ip (exact convert::i2ip) {
        "I2IP{narrow_int@76}.S32.SAT {d}, {a}, {b}, {c}" {
            b3 "039 @78=0" "i" "" " .X72";
        }
        "I2IP{nibble_int@76}.S32.SAT {d}, {a}, {b}, {c}{pair_part@72}" {
            b3 "039 @77=10" "i" "" "";
        }
        "I2IP{nibble_int@76}.S32.SAT {d}, {a}, {b}, {c}{nibble_part@72}" {
            b3 "039 @77=11" "i" "" "";
        }
    }
    /// Integer to float, without the unit of conversions.
    I2fp (exact convert::i2f) {
        "I2FP{i2fp_type@75}{i2fp_source@74:1+84:2}{i2fp_rounding@78} {d}, {b}" {
            noimm "045 >=86" "";
            one "o045 @9=100 @74=0 @91=0 >=86 b=b";
            one "o045 @9=100 @74=1 @91=0 >=86 b=i";
        }
    }
    /// Two floats to narrow integers.
    F2ip (exact convert::f2ip) {
        "F2IP{f2ip_type@76}.F32{f2ip_rounding@78}{ntz@74}{relu@75} {d}, {a}, {b}, {c}" {
            b3 "043 >=86" "f" "" " .H72";
            c "043 >=86" "f .H72" "" " .H72";
        }
    }
    /// Two floats to narrower floats.
    F2fp (exact convert::f2fp) {
        "F2FP{satfinite@77}{relu@75}{pack_kind@76}.PACK_AB {d}, {a}, {b}" {
            b "03e @78=0 @79=000 <=86" "f" "";
        }
        "F2FP{satfinite@77}{relu@75}{pack_kind@76}.MERGE_C {d}, {b}, {c}" {
            b3 "03e @78=1 @79=000 <=86" "f" "" " .H72";
            c "03e @78=1 @79=000 <=86" "f .H72" "" " .H72";
        }
        "F2FP{satfinite@77}{relu@75}{pack_kind@76}.PACK_AB.RZ {d}, {a}, {b}" {
            b "03e @78=0 @79=011 <=86" "f" "";
        }
        "F2FP{satfinite@77}{relu@75}{pack_kind@76}.MERGE_C.RZ {d}, {b}, {c}" {
            b3 "03e @78=1 @79=011 <=86" "f" "" " .H72";
            c "03e @78=1 @79=011 <=86" "f .H72" "" " .H72";
        }
        "F2FP{satfinite@77}{relu@75}{f2fp_type@76:1+86:2}.F32.PACK_AB {d}, {a}, {b}" {
            b "03e @73=00 @78=0 @79=000 @89=0 >=89" "f" "";
        }
        "F2FP{satfinite@77}{relu@75}{f2fp_type@76:1+86:2}.F32.MERGE_C {d}, {b}, {c}" {
            b3 "03e @73=00 @78=1 @79=000 @89=00 >=89" "f" "" " .H72";
            c "03e @73=00 @78=1 @79=000 @89=00 >=89" "f .H72" "" " .H72";
        }
        "F2FP{satfinite@77}{relu@75}{f2fp_type@76:1+86:2}.F32.PACK_AB.RZ {d}, {a}, {b}" {
            b "03e @73=00 @78=0 @79=011 @89=0 >=89" "f" "";
        }
        "F2FP{satfinite@77}{relu@75}{f2fp_type@76:1+86:2}.F32.MERGE_C.RZ {d}, {b}, {c}" {
            b3 "03e @73=00 @78=1 @79=011 @89=00 >=89" "f" "" " .H72";
            c "03e @73=00 @78=1 @79=011 @89=00 >=89" "f .H72" "" " .H72";
        }
        "F2FP{satfinite@77}{relu@75}{f2fp_type@76:1+86:2}.F32.PACK_AB_MERGE_C {d}, {a}, {b}, {c}" {
            b3 "03e @73=00 @78=1 @79=000 @89=10 >=89" "f" "" " .H72";
            c "03e @73=00 @78=1 @79=000 @89=10 >=89" "f .H72" "" " .H72";
        }
        "F2FP{relu@75}{f2fp_type@76:1+86:2}{f2fp_source@73}.UNPACK_B {d}, {b}" {
            b "03e @74=1 @77=00 @79=000 @89=01 >=89" "b" " .H88";
        }
        "F2FP{satfinite@77}{relu@75}{stochastic_kind@76}{pack_mode@78}.RS{stochastic_register@82}\
            {stochastic_bits@83}{stochastic_source@85} {d}, {a}, {b}, {c}" {
            b3 "03e @79=100" "f" "" " .H72";
            c "03e @79=100" "f .H72" "" " .H72";
        }
    }
} }
