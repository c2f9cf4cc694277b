//! Compression of large answers.

use axum::response::Response;

use super::{Exchange, Filter, Step};
use crate::compression::{Compression, accepts_gzip};
use crate::features::API_RESPONSE_COMPRESSION;
use crate::request::Verb;

/// Compresses large answers to reads of resources for clients that accept gzip.
#[derive(Clone, Debug)]
pub struct Compress {
    compression: Compression,
}

impl Default for Compress {
    fn default() -> Self {
        Self {
            compression: Compression::new(),
        }
    }
}

impl Filter for Compress {
    fn name(&self) -> &'static str {
        "compression"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let info = &exchange.ctx.info;
        exchange.gzip = exchange.ctx.features.has(&API_RESPONSE_COMPRESSION)
            && info.is_resource()
            && matches!(info.verb(), Verb::Get | Verb::List)
            && !info.is_long_running()
            && accepts_gzip(exchange.request.headers());
        Step::Continue
    }

    fn leave(&self, exchange: &mut Exchange, response: &mut Response) {
        if exchange.gzip {
            self.compression.compress(response);
        }
    }
}
