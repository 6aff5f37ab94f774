// Every thread draws tickets and marks each: no ticket is drawn twice, none is left out. Before it marks, its block meets.
.target sm_50
.kernel tickets
.param 8    // the next ticket
.param 8    // how often each was drawn
.param 4    // rounds
    MOV R1, RZ
    MOV R2, c[0x0][0x140]
    MOV R3, c[0x0][0x144]
    MOV32I R4, 0x1
.Lround:
    ATOM.E.ADD R6, [R2], R4
    BAR.SYNC 0x0
    SHL R8, R6, 0x2
    IADD R8.CC, R8, c[0x0][0x148]
    IADD.X R9, RZ, c[0x0][0x14c]
    RED.E.ADD [R8], R4
    IADD32I R1, R1, 0x1
    ISETP.LT.U32.AND P1, PT, R1, c[0x0][0x150], PT
    @P1 BRA .Lround
    EXIT
