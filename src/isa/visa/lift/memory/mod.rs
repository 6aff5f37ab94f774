//! Messages to memory.
