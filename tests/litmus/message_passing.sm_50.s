// Block 0 writes a word, then a flag; block 1 waits for the flag, then reads the word.
.target sm_50
.kernel message_passing
.param 8    // words
.param 8    // flags
.param 8    // what block 1 read
.param 4    // bytes of each
    S2R R0, SR_CTAID.X
    MOV R1, RZ
    MOV32I R2, 0x1
    MOV R3, c[0x0][0x158]
    ISETP.EQ.U32.AND P0, PT, R0, RZ, PT
.Lround:
    IADD R4.CC, R1, c[0x0][0x140]
    IADD.X R5, RZ, c[0x0][0x144]
    IADD R6.CC, R1, c[0x0][0x148]
    IADD.X R7, RZ, c[0x0][0x14c]
    @!P0 BRA .Lwait
    IADD32I R8, R1, 0x7
    STG.E [R4], R8
    MEMBAR.GL
    STG.E [R6], R2
    BRA .Lnext
.Lwait:
    LDG.E R8, [R6]
    ISETP.EQ.U32.AND P1, PT, R8, RZ, PT
    @P1 BRA .Lwait
    MEMBAR.GL
    LDG.E R8, [R4]
    IADD R10.CC, R1, c[0x0][0x150]
    IADD.X R11, RZ, c[0x0][0x154]
    STG.E [R10], R8
.Lnext:
    IADD32I R1, R1, 0x4
    ISETP.LT.U32.AND P1, PT, R1, R3, PT
    @P1 BRA .Lround
    EXIT
