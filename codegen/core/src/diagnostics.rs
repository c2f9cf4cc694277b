//! Collects all problems of one input.

use std::cell::RefCell;
use std::fmt::Display;

use proc_macro2::{Span, TokenStream};

/// Expands a derive: to the code of a valid `model`, or to all of its problems with stub impls, so that the rest of the
/// crate compiles without further errors.
pub(crate) fn expand_or_report<M>(
    model: syn::Result<M>,
    expand: impl FnOnce(&M) -> TokenStream,
    stubs: impl FnOnce() -> TokenStream,
) -> TokenStream {
    match model {
        Ok(model) => expand(&model),
        Err(error) => {
            let mut tokens = error.into_compile_error();
            tokens.extend(stubs());
            tokens
        }
    }
}

/// The problems found so far.
///
/// Parsing and checking continue after a problem, so that one compilation reports all of them.
#[derive(Debug, Default)]
pub struct Diagnostics {
    errors: RefCell<Vec<syn::Error>>,
}

impl Diagnostics {
    /// Reports a problem at a token: the mistake in the user's spelling, and the correct input.
    pub fn report(&self, at: Span, problem: impl Display, help: impl Display) {
        self.push(syn::Error::new(at, format_args!("{problem}\nhelp: {help}")));
    }

    /// Adds an error from syn.
    pub fn push(&self, error: syn::Error) {
        self.errors.borrow_mut().push(error);
    }

    /// True if there are no problems.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.errors.borrow().is_empty()
    }

    /// Returns the number of problems.
    #[must_use]
    pub fn len(&self) -> usize {
        self.errors.borrow().len()
    }

    /// Combines all problems into one error, in the order of detection.
    ///
    /// # Errors
    ///
    /// The combined error, if there are problems.
    pub fn finish(self) -> syn::Result<()> {
        let mut errors = self.errors.into_inner().into_iter();
        let Some(mut first) = errors.next() else {
            return Ok(());
        };
        first.extend(errors);
        Err(first)
    }
}
