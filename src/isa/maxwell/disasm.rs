//! Text of an instruction, as nvdisasm prints it.
