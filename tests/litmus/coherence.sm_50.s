// Block 0 counts a word up; block 1 reads it twice a round: what it sees never goes back.
.target sm_50
.kernel coherence
.param 8    // the word
.param 8    // how often it went back, and what was seen last
.param 4    // rounds
    S2R R0, SR_CTAID.X
    MOV R1, RZ
    MOV R2, c[0x0][0x140]
    MOV R3, c[0x0][0x144]
    MOV R4, RZ
    MOV R5, RZ
    ISETP.NE.U32.AND P0, PT, R0, RZ, PT
    @P0 BRA .Lread
.Lwrite:
    IADD32I R1, R1, 0x1
    STG.E [R2], R1
    ISETP.LT.U32.AND P1, PT, R1, c[0x0][0x150], PT
    @P1 BRA .Lwrite
    EXIT
.Lread:
    LDG.E R6, [R2]
    LDG.E R7, [R2]
    ISETP.LT.U32.AND P1, PT, R6, R5, PT
    @P1 IADD32I R4, R4, 0x1
    ISETP.LT.U32.AND P1, PT, R7, R6, PT
    @P1 IADD32I R4, R4, 0x1
    MOV R5, R7
    ISETP.LT.U32.AND P1, PT, R7, c[0x0][0x150], PT
    @P1 BRA .Lread
    MOV R8, c[0x0][0x148]
    MOV R9, c[0x0][0x14c]
    STG.E.64 [R8], R4
    EXIT
