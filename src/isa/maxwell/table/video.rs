//! Video instructions: arithmetic on bytes and halves with a second stage.
//!
//! The types of A and B are not printed if both are signed words (for an immediate: a signed half).

family! { ($) video {
    /// A + B.
    Vadd (exact video::vadd) {
        "VADD{video_result@54}{video_a@36:3+48}{video_b@28:3+49}{sat@55}{video_stage@51} {d}{cc@47}, {a -57 .V36}, {b}, {c}" {
            "0010 00-- ---- -1-- b=r20 -56 .V28"
        }
        "VADD{video_result@54}{video_a@36:3+48 ?}{video_b@28:3+49 ?}{sat@55}{video_stage@51} {d}{cc@47}, {a -57 .V36}, {b}, {c}" {
            "0010 00-- ---- -1-- @36=110 @48=11 @28=110 b=r20 -56 .V28"
        }
        "VADD{video_result@54}{video_a@36:3+48}{video_imm@49}{sat@55}{video_stage@51} {d}{cc@47}, {a -57 .V36}, {b}, {c}" {
            "0010 00-- ---- -0-- b=u20:16 -56"
        }
        "VADD{video_result@54}{video_a@36:3+48 ?}{video_imm@49 ?}{sat@55}{video_stage@51} {d}{cc@47}, {a -57 .V36}, {b}, {c}" {
            "0010 00-- ---- -0-- @36=110 @48=11 b=u20:16 -56"
        }
        "VADD{video_result@54}{video_a@36:3+48}{video_b@28:3+49}.PO{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0010 0011 ---- -1-- b=r20 .V28"
        }
        "VADD{video_result@54}{video_a@36:3+48 ?}{video_b@28:3+49 ?}.PO{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0010 0011 ---- -1-- @36=110 @48=11 @28=110 b=r20 .V28"
        }
        "VADD{video_result@54}{video_a@36:3+48}{video_imm@49}.PO{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0010 0011 ---- -0-- b=u20:16"
        }
        "VADD{video_result@54}{video_a@36:3+48 ?}{video_imm@49 ?}.PO{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0010 0011 ---- -0-- @36=110 @48=11 b=u20:16"
        }
    }
    /// Minimum or maximum.
    Vmnmx (exact video::vmnmx) {
        "VMNMX{video_result@54}{video_a@36:3+48}{video_b@28:3+49}{video_max@56}{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0011 101- ---- -1-- b=r20 .V28"
        }
        "VMNMX{video_result@54}{video_a@36:3+48 ?}{video_b@28:3+49 ?}{video_max@56}{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0011 101- ---- -1-- @36=110 @48=11 @28=110 b=r20 .V28"
        }
        "VMNMX{video_result@54}{video_a@36:3+48}{video_imm@49}{video_max@56}{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0011 101- ---- -0-- @49=0 b=u20:16"
            "0011 101- ---- -0-- @49=1 b=s20:16"
        }
        "VMNMX{video_result@54}{video_a@36:3+48 ?}{video_imm@49 ?}{video_max@56}{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0011 101- ---- -0-- @36=110 @48=11 b=s20:16"
        }
    }
    /// The absolute difference.
    Vabsdiff (exact video::vabsdiff) {
        "VABSDIFF{difference_result@54}{video_a@36:3+48}{video_b@28:3+49}{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0101 0100 ---- -1-- b=r20 .V28"
        }
        "VABSDIFF{difference_result@54}{video_a@36:3+48 ?}{video_b@28:3+49 ?}{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0101 0100 ---- -1-- @36=110 @48=11 @28=110 b=r20 .V28"
        }
        "VABSDIFF{difference_result@54}{video_a@36:3+48}{video_imm@49}{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0101 0100 ---- -0-- @49=0 b=u20:16"
            "0101 0100 ---- -0-- @49=1 b=s20:16"
        }
        "VABSDIFF{difference_result@54}{video_a@36:3+48 ?}{video_imm@49 ?}{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0101 0100 ---- -0-- @36=110 @48=11 b=s20:16"
        }
    }
    /// Shift right.
    Vshr (exact video::vshr) {
        "VSHR{video_result@54}{video_a@36:3+48}{video_count@28:3}{wrap@49}{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0101 0110 ---- -1-- b=r20 .V28"
        }
        "VSHR{video_result@54}{video_a@36:3+48 ?}{video_count@28:3 ?}{wrap@49}{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0101 0110 ---- -1-- @36=110 @48=1 @28=110 b=r20 .V28"
        }
        "VSHR{video_result@54}{video_a@36:3+48}.U16{wrap@49}{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0101 0110 ---- -0-- b=u20:16"
        }
        "VSHR{video_result@54}{video_a@36:3+48 ?}{wrap@49}{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0101 0110 ---- -0-- @36=110 @48=1 b=u20:16"
        }
    }
    /// Shift left.
    Vshl (exact video::vshl) {
        "VSHL{video_result@54}{video_a@36:3+48}{video_count@28:3}{wrap@49}{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0101 0111 ---- -1-- b=r20 .V28"
        }
        "VSHL{video_result@54}{video_a@36:3+48 ?}{video_count@28:3 ?}{wrap@49}{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0101 0111 ---- -1-- @36=110 @48=1 @28=110 b=r20 .V28"
        }
        "VSHL{video_result@54}{video_a@36:3+48}.U16{wrap@49}{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0101 0111 ---- -0-- b=u20:16"
        }
        "VSHL{video_result@54}{video_a@36:3+48 ?}{wrap@49}{sat@55}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0101 0111 ---- -0-- @36=110 @48=1 b=u20:16"
        }
    }
    /// A * B + C.
    Vmad (exact video::vmad) {
        "VMAD{video_a@36:3+48}{video_b@28:3+49}{video_scale@51}{sat@55} {d}{cc@47}, {a -54 .V36}, {b}, {c -53}" {
            "0101 1111 ---- -1-- b=r20 .V28"
        }
        "VMAD{video_a@36:3+48 ?}{video_b@28:3+49 ?}{video_scale@51}{sat@55} {d}{cc@47}, {a -54 .V36}, {b}, {c -53}" {
            "0101 1111 ---- -1-- @36=110 @48=11 @28=110 b=r20 .V28"
        }
        "VMAD{video_a@36:3+48}{video_imm@49}{video_scale@51}{sat@55} {d}{cc@47}, {a -54 .V36}, {b}, {c -53}" {
            "0101 1111 ---- -0-- b=u20:16"
        }
        "VMAD{video_a@36:3+48 ?}{video_imm@49 ?}{video_scale@51}{sat@55} {d}{cc@47}, {a -54 .V36}, {b}, {c -53}" {
            "0101 1111 ---- -0-- @36=110 @48=11 b=u20:16"
        }
        "VMAD{video_a@36:3+48}{video_b@28:3+49}.PO{video_scale@51}{sat@55} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0101 1111 -11- -1-- b=r20 .V28"
        }
        "VMAD{video_a@36:3+48 ?}{video_b@28:3+49 ?}.PO{video_scale@51}{sat@55} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0101 1111 -11- -1-- @36=110 @48=11 @28=110 b=r20 .V28"
        }
        "VMAD{video_a@36:3+48}{video_imm@49}.PO{video_scale@51}{sat@55} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0101 1111 -11- -0-- b=u20:16"
        }
        "VMAD{video_a@36:3+48 ?}{video_imm@49 ?}.PO{video_scale@51}{sat@55} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0101 1111 -11- -0-- @36=110 @48=11 b=u20:16"
        }
    }
    /// Compare to a register.
    Vset (exact video::vset) {
        "VSET{int_compare@54}{video_a@36:3+48}{video_b@28:3+49}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0100 000- ---- -1-- b=r20 .V28"
        }
        "VSET{int_compare@54}{video_a@36:3+48 ?}{video_b@28:3+49 ?}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0100 000- ---- -1-- @36=110 @48=11 @28=110 b=r20 .V28"
        }
        "VSET{int_compare@54}{video_a@36:3+48}{video_imm@49}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0100 000- ---- -0-- @49=0 b=u20:16"
            "0100 000- ---- -0-- @49=1 b=s20:16"
        }
        "VSET{int_compare@54}{video_a@36:3+48 ?}{video_imm@49 ?}{video_stage@51} {d}{cc@47}, {a .V36}, {b}, {c}" {
            "0100 000- ---- -0-- @36=110 @48=11 b=s20:16"
        }
    }
    /// Compare to two predicates.
    Vsetp (exact video::vsetp) {
        "VSETP{int_compare@43:2+47}{video_a@36:3+48}{video_b@28:3+49}{bool_op@45} {pd}, {pe}, {a .V36}, {b}, {ps !42}" {
            "0101 0000 1111 01-- b=r20 .V28"
        }
        "VSETP{int_compare@43:2+47}{video_a@36:3+48 ?}{video_b@28:3+49 ?}{bool_op@45} {pd}, {pe}, {a .V36}, {b}, {ps !42}" {
            "0101 0000 1111 01-- @36=110 @48=11 @28=110 b=r20 .V28"
        }
        "VSETP{int_compare@43:2+47}{video_a@36:3+48}{video_imm@49}{bool_op@45} {pd}, {pe}, {a .V36}, {b}, {ps !42}" {
            "0101 0000 1111 00-- @49=0 b=u20:16"
            "0101 0000 1111 00-- @49=1 b=s20:16"
        }
    }
    /// Absolute differences of four bytes.
    Vabsdiff4 (exact video::vabsdiff4) {
        "VABSDIFF4{difference_result@38}{byte_signs@48}{sat@50}{byte_reduction@53}{byte_lanes@36:2+51:2} {d}{cc@47}, {a}{byte_order_a@32}, {b}{byte_order_b@28}, {c}" {
            "0101 0000 0--- ---- b=r20"
        }
        "VABSDIFF4{difference_result@38}{byte_signs@48}{sat@50}{byte_reduction@53}{byte_lanes@36:2+51:2} {d}{cc@47}, {a}{byte_order_a@32}, {b}, {c}" {
            "0101 0000 0--- --0- @28=1111 b=u20:8"
            "0101 0000 0--- --1- @28=1111 b=s20:8"
        }
    }
} }
