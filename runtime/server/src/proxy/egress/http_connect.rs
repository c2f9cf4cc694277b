//! Connections through HTTP proxies: the request with the method CONNECT, and its answer.

use std::io;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::ProxyError;
use crate::proxy::dialer::BoxedStream;
use crate::proxy::link::go_message;

/// Maximum bytes of an answer, as in kube-apiserver.
const MAX_ANSWER: usize = 1 << 20;

/// Bytes that are read at once, as in kube-apiserver.
const CHUNK: usize = 4096;

/// Requests a connection to `address` from the HTTP proxy behind `stream`, and returns it. `proxy` is its name in messages.
///
/// # Errors
///
/// The answer is not 200, or not valid HTTP.
pub(super) async fn tunnel(mut stream: BoxedStream, proxy: &str, address: &str) -> Result<BoxedStream, ProxyError> {
    let unreadable = |problem| ProxyError::Response {
        address: address.to_owned(),
        proxy: proxy.to_owned(),
        problem,
    };
    let request = format!("CONNECT {address} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    let sent = async {
        stream.write_all(request.as_bytes()).await?;
        stream.flush().await
    };
    // A proxy may have answered before it closed the connection.
    let _: io::Result<()> = sent.await;
    let (head, rest) = read_head(&mut stream).await.map_err(unreadable)?;
    let answer = Answer::parse(&head).map_err(unreadable)?;
    if answer.code != 200 {
        return Err(ProxyError::Refused {
            address: address.to_owned(),
            proxy: proxy.to_owned(),
            code: answer.code,
            status: answer.status.to_owned(),
        });
    }
    match rest {
        0 => Ok(stream),
        // The client of the connection has sent nothing yet, so no server has a reason to answer.
        bytes => Err(ProxyError::EarlyData {
            bytes,
            proxy: proxy.to_owned(),
        }),
    }
}

/// Reads the lines of an answer up to the empty one. Returns them, and the number of bytes that were read after them.
async fn read_head(stream: &mut BoxedStream) -> Result<(String, usize), String> {
    let (mut read, mut chunk) = (Vec::new(), [0; CHUNK]);
    while read.len() < MAX_ANSWER {
        let most = CHUNK.min(MAX_ANSWER - read.len());
        let count = match stream.read(&mut chunk[..most]).await {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => 0,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                return Err("read: connection reset by peer".to_owned());
            }
            Err(error) => return Err(go_message(&error)),
        };
        if count == 0 {
            // As in Go, the last line counts without its end.
            let head = String::from_utf8_lossy(&read);
            if !head.is_empty() {
                Answer::parse(&head)?;
            }
            break;
        }
        // The end may be in two chunks.
        let checked = read.len().saturating_sub(3);
        read.extend_from_slice(&chunk[..count]);
        if let Some(end) = end_of_head(&read, checked) {
            let head = String::from_utf8_lossy(&read[..end]).into_owned();
            return Ok((head, read.len() - end));
        }
    }
    Err("unexpected EOF".to_owned())
}

/// The position after the empty line, if it is there; the search begins at `from`.
fn end_of_head(read: &[u8], from: usize) -> Option<usize> {
    (from..read.len()).find_map(|at| match &read[at..] {
        [b'\n', b'\n', ..] => Some(at + 2),
        [b'\n', b'\r', b'\n', ..] => Some(at + 3),
        _ => None,
    })
}

/// The first line of an answer.
#[derive(Debug, PartialEq, Eq)]
struct Answer<'a> {
    code: u16,
    /// The status code and its text.
    status: &'a str,
}

impl<'a> Answer<'a> {
    /// Reads the first line of `head`, and checks that the others are headers.
    ///
    /// # Errors
    ///
    /// The problem, in the words of Go.
    fn parse(head: &'a str) -> Result<Self, String> {
        let mut lines = head.lines();
        let line = lines.next().unwrap_or_default();
        let Some((version, status)) = line.split_once(' ') else {
            return Err(format!("malformed HTTP response {line:?}"));
        };
        let status = status.trim_start_matches(' ');
        let digits = status.split(' ').next().unwrap_or_default();
        let is_code = digits.len() == 3 && digits.bytes().all(|digit| digit.is_ascii_digit());
        let code = digits.parse().ok().filter(|_| is_code);
        let code = code.ok_or_else(|| format!("malformed HTTP status code {digits:?}"))?;
        let is_version = |version: &[u8]| {
            matches!(version, [b'H', b'T', b'T', b'P', b'/', major, b'.', minor]
                if major.is_ascii_digit() && minor.is_ascii_digit())
        };
        if !is_version(version.as_bytes()) {
            return Err(format!("malformed HTTP version {version:?}"));
        }
        match lines.find(|line| !line.is_empty() && !line.contains(':')) {
            None => Ok(Self { code, status }),
            Some(line) => Err(format!("malformed MIME header: missing colon: {line:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_by_go() {
        for (head, expected) in [
            ("HTTP/1.1 200 OK\r\n\r\n", Ok((200, "200 OK"))),
            (
                "HTTP/1.0 200 Connection established\n\n",
                Ok((200, "200 Connection established")),
            ),
            (
                "HTTP/1.1 503 Service Unavailable\r\nVia: x\r\n\r\n",
                Ok((503, "503 Service Unavailable")),
            ),
            (
                "SSH-2.0-OpenSSH\r\n\r\n",
                Err("malformed HTTP response \"SSH-2.0-OpenSSH\""),
            ),
            ("HTTP/1.1 20 OK\r\n\r\n", Err("malformed HTTP status code \"20\"")),
            ("HTTPS/1 200 OK\r\n\r\n", Err("malformed HTTP version \"HTTPS/1\"")),
            (
                "HTTP/1.1 200 OK\r\nnone\r\n\r\n",
                Err("malformed MIME header: missing colon: \"none\""),
            ),
        ] {
            let expected = expected.map_err(str::to_owned);
            let expected = expected.map(|(code, status)| Answer { code, status });
            assert_eq!(Answer::parse(head), expected, "{head:?}");
        }
    }
}
