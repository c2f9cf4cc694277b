//! Compression of large answers.

use axum::response::Response;

use super::{Exchange, Filter, Step};
use crate::compression::{Compression, accepts_gzip};
use crate::features::API_RESPONSE_COMPRESSION;

/// Compresses large objects and discovery documents for clients that accept gzip.
#[derive(Clone, Debug)]
pub struct Compress {
    compression: Compression,
}

impl Compress {
    pub(crate) fn new(compression: Compression) -> Self {
        Self { compression }
    }
}

impl Filter for Compress {
    fn name(&self) -> &'static str {
        "compression"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let info = &exchange.ctx.info;
        exchange.gzip = exchange.ctx.features.has(&API_RESPONSE_COMPRESSION)
            && (info.is_resource() || is_discovery(info.path()))
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

/// True for the paths of discovery documents, if `path` is not that of a resource.
fn is_discovery(path: &str) -> bool {
    let root = path.trim_start_matches('/').split('/').next();
    matches!(root, Some("api" | "apis"))
}
