//! The client side of a watch: lines of JSON, one per event.

use anyhow::{Context as _, Result};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::Value;

/// An open watch. Dropping it closes the stream.
#[derive(Debug)]
pub struct Watch {
    body: Incoming,
    buffer: BytesMut,
}

impl Watch {
    pub(crate) fn new(body: Incoming) -> Self {
        Self {
            body,
            buffer: BytesMut::new(),
        }
    }

    /// Returns the next event's line without its newline; `None` after a clean end.
    ///
    /// # Errors
    ///
    /// The stream breaks, or ends in the middle of a line.
    pub async fn line(&mut self) -> Result<Option<Bytes>> {
        let mut searched = 0;
        loop {
            if let Some(at) = self.buffer[searched..].iter().position(|&byte| byte == b'\n') {
                let mut line = self.buffer.split_to(searched + at + 1);
                line.truncate(searched + at);
                return Ok(Some(line.freeze()));
            }
            searched = self.buffer.len();
            let Some(frame) = self.body.frame().await else {
                let rest = self.buffer.len();
                anyhow::ensure!(rest == 0, "the watch ended {rest} bytes into a line");
                return Ok(None);
            };
            if let Ok(data) = frame?.into_data() {
                self.buffer.extend_from_slice(&data);
            }
        }
    }

    /// Returns the next event; `None` after a clean end.
    ///
    /// # Errors
    ///
    /// Those of [`line`](Self::line), and lines that are not JSON.
    pub async fn event(&mut self) -> Result<Option<Value>> {
        let Some(line) = self.line().await? else {
            return Ok(None);
        };
        serde_json::from_slice(&line)
            .map(Some)
            .with_context(|| format!("watch line {}", String::from_utf8_lossy(&line)))
    }
}
