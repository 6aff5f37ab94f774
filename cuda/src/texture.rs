//! Texture and surface objects.

use warploom::exec::ImagePool;

/// The descriptors that handles are indices of.
pub fn pool() -> Option<ImagePool> {
    None
}
