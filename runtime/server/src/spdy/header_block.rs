//! Header blocks: names and values, compressed by one compressor per connection.

use std::io;
use std::sync::LazyLock;

use flate2::{Compress, Compression, FlushCompress};

/// Words that the dictionary has with their lengths in front.
const WORDS: [&str; 64] = [
    "options",
    "head",
    "post",
    "put",
    "delete",
    "trace",
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "accept-ranges",
    "age",
    "allow",
    "authorization",
    "cache-control",
    "connection",
    "content-base",
    "content-encoding",
    "content-language",
    "content-length",
    "content-location",
    "content-md5",
    "content-range",
    "content-type",
    "date",
    "etag",
    "expect",
    "expires",
    "from",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "last-modified",
    "location",
    "max-forwards",
    "pragma",
    "proxy-authenticate",
    "proxy-authorization",
    "range",
    "referer",
    "retry-after",
    "server",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "vary",
    "via",
    "warning",
    "www-authenticate",
    "method",
    "get",
    "status",
    "200 OK",
    "version",
    "HTTP/1.1",
    "url",
    "public",
    "set-cookie",
    "keep-alive",
];

/// The rest of the dictionary.
const TAIL: &str = "\0\0\0\x06origin\
    100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505\
    203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden\
    404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable\
    Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT\
    chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,\
    publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

static DICTIONARY: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut dictionary = Vec::with_capacity(1423);
    for word in WORDS {
        push_text(word, &mut dictionary);
    }
    dictionary.extend_from_slice(TAIL.as_bytes());
    dictionary
});

/// The dictionary of the protocol's draft, which both sides start with.
pub(super) fn dictionary() -> &'static [u8] {
    &DICTIONARY
}

/// Compresses the header blocks of a connection.
#[derive(Debug)]
pub(super) struct HeaderCompressor(Compress);

impl HeaderCompressor {
    pub(super) fn new() -> io::Result<Self> {
        let mut compress = Compress::new(Compression::best(), true);
        compress.set_dictionary(dictionary())?;
        Ok(Self(compress))
    }

    /// The next block; names are in lower case.
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
            // Room that is left means that nothing waits in the compressor.
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
