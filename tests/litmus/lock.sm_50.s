// Two blocks take turns by a lock and change two words without atomics.
.target sm_50
.kernel lock
.param 8    // the lock
.param 8    // two words that are always alike
.param 4    // rounds
    MOV R1, RZ
    MOV R2, c[0x0][0x140]
    MOV R3, c[0x0][0x144]
    MOV R4, c[0x0][0x148]
    MOV R5, c[0x0][0x14c]
    MOV R10, RZ
    MOV32I R11, 0x1
.Ltake:
    ATOM.E.CAS R6, [R2], R10, R11
    ISETP.NE.U32.AND P0, PT, R6, RZ, PT
    @P0 BRA .Ltake
    MEMBAR.GL
    LDG.E R7, [R4]
    LDG.E R8, [R4+0x4]
    IADD32I R7, R7, 0x1
    IADD32I R8, R8, 0x1
    STG.E [R4], R7
    STG.E [R4+0x4], R8
    MEMBAR.GL
    STG.E [R2], RZ
    IADD32I R1, R1, 0x1
    ISETP.LT.U32.AND P1, PT, R1, c[0x0][0x150], PT
    @P1 BRA .Ltake
    EXIT
