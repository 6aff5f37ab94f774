// Two blocks of one thread. Round by round each writes its own word, then reads the other's: not both may read 0.
.target sm_50
.kernel store_buffering
.param 8    // a block's words: those of block 0, then those of block 1
.param 8    // who has arrived at a round
.param 8    // what was read, by round and block
.param 4    // bytes of a block's words
    S2R R0, SR_CTAID.X
    MOV R1, RZ
    MOV32I R2, 0x1
    MOV R3, c[0x0][0x158]
    ISETP.EQ.U32.AND P0, PT, R0, RZ, PT
    SEL R4, RZ, R3, P0
    SEL R5, R3, RZ, P0
.Lround:
    IADD R6.CC, R1, c[0x0][0x148]
    IADD.X R7, RZ, c[0x0][0x14c]
    RED.E.ADD [R6], R2
.Lwait:
    LDG.E R8, [R6]
    ISETP.LT.U32.AND P1, PT, R8, 0x2, PT
    @P1 BRA .Lwait
    IADD R10, R1, R4
    IADD R10.CC, R10, c[0x0][0x140]
    IADD.X R11, RZ, c[0x0][0x144]
    IADD R12, R1, R5
    IADD R12.CC, R12, c[0x0][0x140]
    IADD.X R13, RZ, c[0x0][0x144]
    STG.E [R10], R2
    MEMBAR.GL
    LDG.E R14, [R12]
    SHL R16, R1, 0x1
    SHL R17, R0, 0x2
    IADD R16, R16, R17
    IADD R16.CC, R16, c[0x0][0x150]
    IADD.X R17, RZ, c[0x0][0x154]
    STG.E [R16], R14
    IADD32I R1, R1, 0x4
    ISETP.LT.U32.AND P1, PT, R1, R3, PT
    @P1 BRA .Lround
    EXIT
