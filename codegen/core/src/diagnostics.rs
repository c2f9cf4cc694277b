//! Every problem of one input, collected.

use std::cell::RefCell;
use std::fmt::Display;

use proc_macro2::Span;

/// The problems found so far.
///
/// Reading and checking go on after a problem, so that one compile shows all of them.
#[derive(Debug, Default)]
pub struct Diagnostics {
    errors: RefCell<Vec<syn::Error>>,
}

impl Diagnostics {
    /// Reports a problem at a token: what is wrong in the user's spelling, and what to type instead.
    pub fn report(&self, at: Span, problem: impl Display, help: impl Display) {
        self.push(syn::Error::new(at, format_args!("{problem}\nhelp: {help}")));
    }

    /// Adds a problem that was found by syn.
    pub fn push(&self, error: syn::Error) {
        self.errors.borrow_mut().push(error);
    }

    /// Whether nothing was reported.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.errors.borrow().is_empty()
    }

    /// How many problems were reported.
    #[must_use]
    pub fn len(&self) -> usize {
        self.errors.borrow().len()
    }

    /// All problems as one error, in the order in which they were found.
    ///
    /// # Errors
    ///
    /// When anything was reported.
    pub fn finish(self) -> syn::Result<()> {
        let mut errors = self.errors.into_inner().into_iter();
        let Some(mut first) = errors.next() else {
            return Ok(());
        };
        first.extend(errors);
        Err(first)
    }
}
