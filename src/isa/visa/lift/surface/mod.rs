//! Messages to surfaces.
