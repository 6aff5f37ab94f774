//! Control flow, waiting and messages.

family! { ($) sopp {
    /// Nothing.
    SNop unimplemented "s_nop simm16" { sopp 0x00 }
    /// Ends the wave.
    SEndpgm unimplemented "s_endpgm optional_simm16" { sopp 0x01 }
    /// Branch.
    SBranch unimplemented "s_branch label" { sopp 0x02 }
    /// Wakes the other waves of the block.
    SWakeup unimplemented "s_wakeup" { sopp 0x03 }
    /// Branch if SCC is clear.
    SCbranchScc0 unimplemented "s_cbranch_scc0 label" { sopp 0x04 }
    /// Branch if SCC is set.
    SCbranchScc1 unimplemented "s_cbranch_scc1 label" { sopp 0x05 }
    /// Branch if VCC is zero.
    SCbranchVccz unimplemented "s_cbranch_vccz label" { sopp 0x06 }
    /// Branch if VCC is not zero.
    SCbranchVccnz unimplemented "s_cbranch_vccnz label" { sopp 0x07 }
    /// Branch if EXEC is zero.
    SCbranchExecz unimplemented "s_cbranch_execz label" { sopp 0x08 }
    /// Branch if EXEC is not zero.
    SCbranchExecnz unimplemented "s_cbranch_execnz label" { sopp 0x09 }
    /// Waits for the other waves of the block.
    SBarrier unimplemented "s_barrier" { sopp 0x0a }
    /// Sets the kill bit.
    SSetkill unimplemented "s_setkill simm16" { sopp 0x0b }
    /// Waits until at most so many operations are outstanding.
    SWaitcnt unimplemented "s_waitcnt waitcnt" { sopp 0x0c }
    /// Halts the wave.
    SSethalt unimplemented "s_sethalt simm16" { sopp 0x0d }
    /// Sleeps for a while.
    SSleep unimplemented "s_sleep simm16" { sopp 0x0e }
    /// Sets the priority of the wave.
    SSetprio unimplemented "s_setprio simm16" { sopp 0x0f }
    /// Sends a message.
    SSendmsg unimplemented "s_sendmsg message" { sopp 0x10 }
    /// Sends a message and halts.
    SSendmsghalt unimplemented "s_sendmsghalt message" { sopp 0x11 }
    /// Enters the trap handler.
    STrap unimplemented "s_trap simm16" { sopp 0x12 }
    /// Invalidates the instruction cache.
    SIcacheInv unimplemented "s_icache_inv" { sopp 0x13 }
    /// Changes a performance counter's level.
    SIncperflevel unimplemented "s_incperflevel simm16" { sopp 0x14 }
    /// Changes a performance counter's level.
    SDecperflevel unimplemented "s_decperflevel simm16" { sopp 0x15 }
    /// Sends M0 to the thread trace.
    STtracedata unimplemented "s_ttracedata" { sopp 0x16 }
    /// Branch by the debug state.
    SCbranchCdbgsys unimplemented "s_cbranch_cdbgsys label" { sopp 0x17 }
    /// Branch by the debug state.
    SCbranchCdbguser unimplemented "s_cbranch_cdbguser label" { sopp 0x18 }
    /// Branch by the debug state.
    SCbranchCdbgsysOrUser unimplemented "s_cbranch_cdbgsys_or_user label" { sopp 0x19 }
    /// Branch by the debug state.
    SCbranchCdbgsysAndUser unimplemented "s_cbranch_cdbgsys_and_user label" { sopp 0x1a }
    /// Ends the wave whose context was saved.
    SEndpgmSaved unimplemented "s_endpgm_saved" { sopp 0x1b }
    /// Switches VGPR indexing off.
    SSetGprIdxOff unimplemented "s_set_gpr_idx_off" { sopp 0x1c }
    /// Sets what VGPR indexing applies to.
    SSetGprIdxMode unimplemented "s_set_gpr_idx_mode gpr_idx_mode" { sopp 0x1d }
    /// Ends the wave of an ordered pixel shader.
    SEndpgmOrderedPsDone unimplemented "s_endpgm_ordered_ps_done" { sopp 0x1e }
} }
