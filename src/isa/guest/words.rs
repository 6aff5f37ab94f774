//! Words of the small languages that the tables' lines are written in.
//!
//! Lines are read at compile time, where every step counts: a search through lists of words took
//! most of the time of checking this crate. So a hash finds the words.

/// More than twice the number of words of a language.
const SLOTS: usize = 512;

/// The meaning of each word of a language.
pub struct Words<T> {
    slots: [Option<(&'static [u8], T)>; SLOTS],
}

impl<T: Copy> Words<T> {
    pub const NONE: Self = Words { slots: [None; SLOTS] };

    pub const fn of(words: &[(&'static str, T)]) -> Self {
        let mut all = Self::NONE;
        let mut i = 0;
        while i < words.len() {
            all.add(words[i].0, words[i].1);
            i += 1;
        }
        all
    }

    pub const fn add(&mut self, word: &'static str, meaning: T) {
        let word = word.as_bytes();
        let mut slot = hash(word);
        while self.slots[slot % SLOTS].is_some() {
            slot += 1;
        }
        self.slots[slot % SLOTS] = Some((word, meaning));
    }

    pub const fn get(&self, word: &[u8]) -> Option<T> {
        let mut slot = hash(word);
        while let Some((known, meaning)) = self.slots[slot % SLOTS] {
            if equal(known, word) {
                return Some(meaning);
            }
            slot += 1;
        }
        None
    }
}

const fn hash(word: &[u8]) -> usize {
    let (mut hash, mut i) = (word.len(), 0);
    while i < word.len() {
        hash = hash * 31 % SLOTS + word[i] as usize;
        i += 1;
    }
    hash
}

const fn equal(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}
