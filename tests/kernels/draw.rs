//! Test data from fixed seeds.

/// A SplitMix64 generator (Steele, Lea, Flood, 2014).
pub struct Draw(u64);

impl Draw {
    pub fn new(seed: u64) -> Draw {
        Draw(seed)
    }

    pub fn u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn u32(&mut self) -> u32 {
        (self.u64() >> 32) as u32
    }

    /// Returns a number from 0 to `n - 1`.
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.u32()) * u64::from(n)) >> 32) as u32
    }

    /// Returns a number between -`scale` and `scale`.
    pub fn f32(&mut self, scale: f32) -> f32 {
        (self.u32() as i32 as f32 / 2_147_483_648.0) * scale
    }

    /// Returns a number from 0 to below 1.
    pub fn f64(&mut self) -> f64 {
        (self.u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn vec<T>(&mut self, n: usize, mut one: impl FnMut(&mut Draw) -> T) -> Vec<T> {
        (0..n).map(|_| one(self)).collect()
    }
}
