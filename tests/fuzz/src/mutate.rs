//! Mutation of valid inputs.

use fastrand::Rng;

/// Tokens that are significant in one of the formats.
const PIECES: [&[u8]; 40] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b",",
    b":",
    b": ",
    b"- ",
    b"\n",
    b"\n  ",
    b"\0",
    b"null",
    b"true",
    b"-1",
    b"1e999",
    b"0.1",
    b"9223372036854775808",
    b"\xff",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"metadata",
    b"spec",
    b"$patch",
    b"$setElementOrder/containers",
    b"$retainKeys",
    b"delete",
    b"replace",
    b"name",
    b"k:{\"name\":\"a\"}",
    b"f:spec",
    b"&a ",
    b"*a",
    b"<<: ",
    b"!!binary ",
    b"x-kubernetes-",
    b"self.all(i, i > 0)",
    b"size()",
    b"()",
];

/// Creates new inputs from known ones, deterministically.
#[derive(Debug)]
pub struct Mutator<'s> {
    random: Rng,
    seeds: &'s [Vec<u8>],
}

impl<'s> Mutator<'s> {
    /// Creates a mutator of `seeds`; the same `random` results in the same inputs.
    #[must_use]
    pub fn new(random: u64, seeds: &'s [Vec<u8>]) -> Self {
        Self {
            random: Rng::with_seed(random),
            seeds,
        }
    }

    /// Returns the next input.
    pub fn next_input(&mut self) -> Vec<u8> {
        let mut input = self.seed().to_vec();
        for _ in 0..self.random.usize(1..6) {
            self.change(&mut input);
        }
        input
    }

    fn seed(&mut self) -> &'s [u8] {
        match self.seeds {
            [] => &[],
            seeds => &seeds[self.random.usize(..seeds.len())],
        }
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let (start, end) = (self.place(input), self.place(input));
        let (start, end) = (start.min(end), start.max(end).min(start + 64));
        match self.random.u8(..7) {
            0 => {
                if let Some(byte) = input.get_mut(start) {
                    *byte ^= 1 << self.random.u8(..8);
                }
            }
            1 => {
                if let Some(byte) = input.get_mut(start) {
                    *byte = self.random.u8(..);
                }
            }
            2 => drop(input.drain(start..end)),
            3 => {
                let piece = input[start..end].to_vec();
                input.splice(start..start, piece);
            }
            4 => {
                let piece = PIECES[self.random.usize(..PIECES.len())];
                input.splice(start..end.min(start + self.random.usize(..4)), piece.iter().copied());
            }
            5 => {
                let other = self.seed();
                let (from, to) = (self.place(other), self.place(other));
                let piece = other[from.min(to)..from.max(to)].to_vec();
                input.splice(start..end, piece);
            }
            _ => input.truncate(start),
        }
    }

    /// Returns a random position in `input`, including its end.
    fn place(&mut self, input: &[u8]) -> usize {
        self.random.usize(..=input.len())
    }
}
