//! The bytes of packets while links carry their handles.

/// Slots for packets. A slot keeps its memory when it is used again.
#[derive(Debug, Default)]
pub struct Pool {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Debug, Default)]
struct Slot {
    payload: Vec<u8>,
    /// Number of handles to the slot.
    uses: u32,
}

impl Pool {
    /// Keeps a copy of `payload` until it is released. Returns its slot; none if all 2^32 slots are in use.
    pub fn put(&mut self, payload: &[u8]) -> Option<u32> {
        let at = match self.free.pop() {
            Some(at) => at,
            None => {
                let at = u32::try_from(self.slots.len()).ok()?;
                self.slots.push(Slot::default());
                at
            }
        };
        let slot = &mut self.slots[at as usize];
        slot.payload.clear();
        slot.payload.extend_from_slice(payload);
        slot.uses = 1;
        Some(at)
    }

    /// Adds a handle to slot `at`.
    pub fn share(&mut self, at: u32) {
        self.slots[at as usize].uses += 1;
    }

    /// The bytes in slot `at`, which all its handles share.
    pub fn get(&mut self, at: u32) -> &mut [u8] {
        &mut self.slots[at as usize].payload
    }

    /// The bytes in slot `at`, to read.
    pub fn bytes(&self, at: u32) -> &[u8] {
        &self.slots[at as usize].payload
    }

    /// Whether slot `at` has more than one handle.
    pub fn shared(&self, at: u32) -> bool {
        self.slots[at as usize].uses > 1
    }

    /// Flips bit `bit`, modulo the number of bits, in slot `at`.
    pub fn flip(&mut self, at: u32, bit: u32) {
        let payload = self.get(at);
        if let Some(byte) = (bit as usize / 8).checked_rem(payload.len()) {
            payload[byte] ^= 1 << (bit % 8);
        }
    }

    /// Removes a handle to slot `at`. After the last one, the slot is free.
    pub fn release(&mut self, at: u32) {
        let slot = &mut self.slots[at as usize];
        slot.uses -= 1;
        if slot.uses == 0 {
            self.free.push(at);
        }
    }

    /// Number of slots in use.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn used(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
