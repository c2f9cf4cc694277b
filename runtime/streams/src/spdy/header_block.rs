//! Header blocks: names and values, compressed by one compressor per connection.

use std::io;

use flate2::{Compress, Compression, FlushCompress};

/// The dictionary of the protocol's draft, which both sides start with.
pub(super) const DICTIONARY: &[u8] = include_bytes!("dictionary.bin");

/// Compresses the header blocks of a connection.
#[derive(Debug)]
pub(super) struct HeaderCompressor(Compress);

impl HeaderCompressor {
    pub(super) fn new() -> io::Result<Self> {
        let mut compress = Compress::new(Compression::best(), true);
        compress.set_dictionary(DICTIONARY)?;
        Ok(Self(compress))
    }

    /// The next block; names must be in lower case.
    pub(super) fn block(&mut self, headers: &[(&str, &str)]) -> io::Result<Vec<u8>> {
        let mut plain = Vec::new();
        push_length(headers.len(), &mut plain);
        for (name, value) in headers {
            push_text(name, &mut plain);
            push_text(value, &mut plain);
        }
        let start = self.0.total_in();
        let mut block = Vec::with_capacity(plain.len() + 64);
        loop {
            let taken = usize::try_from(self.0.total_in() - start).unwrap_or(usize::MAX);
            let rest = plain.get(taken..).unwrap_or_default();
            self.0.compress_vec(rest, &mut block, FlushCompress::Sync)?;
            let is_taken = self.0.total_in() - start == plain.len() as u64;
            // Unused capacity means that no output waits in the compressor.
            if is_taken && block.len() < block.capacity() {
                return Ok(block);
            }
            block.reserve(256);
        }
    }
}

fn push_text(text: &str, out: &mut Vec<u8>) {
    push_length(text.len(), out);
    out.extend_from_slice(text.as_bytes());
}

fn push_length(length: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
}
