// Block 0 writes one word after the other, and after each how far it is; block 1 looks how far that is, then at the word there.
.target sm_50
.kernel message_passing
.param 8    // words
.param 8    // how far block 0 is, in bytes
.param 8    // how often the word was not there, and how far block 1 came
.param 4    // bytes of the words but for the last one
    S2R R0, SR_CTAID.X
    MOV R1, RZ
    MOV R2, c[0x0][0x148]
    MOV R3, c[0x0][0x14c]
    MOV R4, RZ
    ISETP.NE.U32.AND P0, PT, R0, RZ, PT
    @P0 BRA .Lread
.Lwrite:
    IADD32I R1, R1, 0x4
    IADD R6.CC, R1, c[0x0][0x140]
    IADD.X R7, RZ, c[0x0][0x144]
    IADD32I R8, R1, 0x7
    STG.E [R6], R8
    MEMBAR.GL
    STG.E [R2], R1
    ISETP.LT.U32.AND P1, PT, R1, c[0x0][0x158], PT
    @P1 BRA .Lwrite
    EXIT
.Lread:
    LDG.E R5, [R2]
    ISETP.EQ.U32.AND P1, PT, R5, RZ, PT
    @P1 BRA .Lread
    MEMBAR.GL
    IADD R6.CC, R5, c[0x0][0x140]
    IADD.X R7, RZ, c[0x0][0x144]
    LDG.E R8, [R6]
    IADD32I R9, R5, 0x7
    ISETP.NE.U32.AND P1, PT, R8, R9, PT
    @P1 IADD32I R4, R4, 0x1
    ISETP.LT.U32.AND P1, PT, R5, c[0x0][0x158], PT
    @P1 BRA .Lread
    MOV R10, c[0x0][0x150]
    MOV R11, c[0x0][0x154]
    STG.E.64 [R10], R4
    EXIT
