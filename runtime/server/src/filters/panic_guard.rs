//! A 500 answer for requests whose handler panics.

use std::any::Any;

use axum::response::Response;

use super::{Exchange, Failure, Filter, Step};
use crate::failure;

/// Answers 500 when anything further in panics, and logs the panic with the request's id.
#[derive(Clone, Copy, Debug)]
pub struct PanicGuard;

impl Filter for PanicGuard {
    fn name(&self) -> &'static str {
        "panic-guard"
    }

    fn enter<'a>(&'a self, _: &'a mut Exchange) -> Step<'a> {
        Step::Continue
    }

    fn recover(&self, exchange: &Exchange, failure: Failure) -> Result<Response, Failure> {
        let Failure::Panicked(panic) = failure else {
            return Err(failure);
        };
        let ctx = &exchange.ctx;
        tracing::error!(
            request = %ctx.id,
            verb = %ctx.info.verb_text(),
            path = ctx.info.path(),
            panic = words(&*panic),
            "a request panicked; this is a bug",
        );
        Ok(failure::panicked())
    }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    match panic.downcast_ref::<String>() {
        Some(words) => words,
        None => panic.downcast_ref::<&str>().copied().unwrap_or("not a text"),
    }
}
