//! Control flow, waiting and messages.

family! { ($) sopp {
    /// Does nothing.
    SNop (exact control::s_nop) "s_nop simm16" { sopp 0x00 }
    /// Ends the wave.
    SEndpgm (exact control::s_endpgm) "s_endpgm optional_simm16" { sopp 0x01 }
    /// Branch.
    SBranch (exact control::s_branch) "s_branch label" { sopp 0x02 }
    /// Wakes the other waves of the block.
    SWakeup (exact control::s_wakeup) "s_wakeup" { sopp 0x03 }
    /// Branch if SCC is clear.
    SCbranchScc0 (exact control::s_cbranch_scc0) "s_cbranch_scc0 label" { sopp 0x04 }
    /// Branch if SCC is set.
    SCbranchScc1 (exact control::s_cbranch_scc1) "s_cbranch_scc1 label" { sopp 0x05 }
    /// Branch if VCC is zero.
    SCbranchVccz (exact control::s_cbranch_vccz) "s_cbranch_vccz label" { sopp 0x06 }
    /// Branch if VCC is not zero.
    SCbranchVccnz (exact control::s_cbranch_vccnz) "s_cbranch_vccnz label" { sopp 0x07 }
    /// Branch if EXEC is zero.
    SCbranchExecz (exact control::s_cbranch_execz) "s_cbranch_execz label" { sopp 0x08 }
    /// Branch if EXEC is not zero.
    SCbranchExecnz (exact control::s_cbranch_execnz) "s_cbranch_execnz label" { sopp 0x09 }
    /// Waits for the other waves of the block.
    SBarrier (exact control::s_barrier) "s_barrier" { sopp 0x0a }
    /// Sets the kill bit.
    SSetkill unimplemented "s_setkill simm16" { sopp 0x0b }
    /// Waits until the outstanding operations are at most the given counts.
    SWaitcnt (exact control::s_waitcnt) "s_waitcnt waitcnt" { sopp 0x0c }
    /// Halts the wave.
    SSethalt (exact control::s_sethalt) "s_sethalt simm16" { sopp 0x0d }
    /// Sleeps for a while.
    SSleep (exact control::s_sleep) "s_sleep simm16" { sopp 0x0e }
    /// Sets the priority of the wave.
    SSetprio (exact control::s_setprio) "s_setprio simm16" { sopp 0x0f }
    /// Sends a message.
    SSendmsg (exact control::s_sendmsg) "s_sendmsg message" { sopp 0x10 }
    /// Sends a message and halts.
    SSendmsghalt (exact control::s_sendmsghalt) "s_sendmsghalt message" { sopp 0x11 }
    /// Enters the trap handler.
    STrap (exact control::s_trap) "s_trap simm16" { sopp 0x12 }
    /// Invalidates the instruction cache.
    SIcacheInv (exact control::s_icache_inv) "s_icache_inv" { sopp 0x13 }
    /// Changes a performance counter's level.
    SIncperflevel (exact control::s_incperflevel) "s_incperflevel simm16" { sopp 0x14 }
    /// Changes a performance counter's level.
    SDecperflevel (exact control::s_decperflevel) "s_decperflevel simm16" { sopp 0x15 }
    /// Sends M0 to the thread trace.
    STtracedata (exact control::s_ttracedata) "s_ttracedata" { sopp 0x16 }
    /// Branch by the debug state.
    SCbranchCdbgsys (exact control::s_cbranch_cdbgsys) "s_cbranch_cdbgsys label" { sopp 0x17 }
    /// Branch by the debug state.
    SCbranchCdbguser (exact control::s_cbranch_cdbguser) "s_cbranch_cdbguser label" { sopp 0x18 }
    /// Branch by the debug state.
    SCbranchCdbgsysOrUser (exact control::s_cbranch_cdbgsys_or_user) "s_cbranch_cdbgsys_or_user label" { sopp 0x19 }
    /// Branch by the debug state.
    SCbranchCdbgsysAndUser (exact control::s_cbranch_cdbgsys_and_user) "s_cbranch_cdbgsys_and_user label" { sopp 0x1a }
    /// Ends the wave whose context was saved.
    SEndpgmSaved (exact control::s_endpgm_saved) "s_endpgm_saved" { sopp 0x1b }
    /// Switches VGPR indexing off.
    SSetGprIdxOff (exact control::s_set_gpr_idx_off) "s_set_gpr_idx_off" { sopp 0x1c }
    /// Sets the operands to which VGPR indexing applies.
    SSetGprIdxMode (exact control::s_set_gpr_idx_mode) "s_set_gpr_idx_mode gpr_idx_mode" { sopp 0x1d }
    /// Ends the wave of an ordered pixel shader.
    SEndpgmOrderedPsDone (exact control::s_endpgm_ordered_ps_done) "s_endpgm_ordered_ps_done" { sopp 0x1e }
} }
