//! Options of a create, an update or a patch.

use std::borrow::Cow;

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::status::ApiResult;
use planesmith_machinery::value::Struct;
use planesmith_machinery::{meta, validation};

use crate::request::Query;

/// The parameters of a create, an update or a patch.
#[derive(Clone, Debug)]
pub(crate) struct WriteOptions<'q> {
    /// True if everything is done except for storing the result.
    pub(crate) dry_run: bool,
    /// The field manager; empty when the client did not name one.
    pub(crate) field_manager: Cow<'q, str>,
    pub(crate) field_validation: FieldValidation,
    /// The same as the client named it; empty when it did not.
    sent_validation: Cow<'q, str>,
    /// True if an apply takes over fields from other managers.
    pub(crate) force: bool,
    kind: &'static str,
}

/// The treatment of unknown and repeated fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldValidation {
    /// They are ignored.
    Ignore,
    /// The client is warned.
    Warn,
    /// The request is refused.
    Strict,
}

impl<'q> WriteOptions<'q> {
    /// Reads the parameters of a POST.
    pub(crate) fn for_create(query: Query<'q>) -> ApiResult<Self> {
        Self::read(query, "CreateOptions", FieldErrors::default())
    }

    /// Reads the parameters of a PUT.
    pub(crate) fn for_update(query: Query<'q>) -> ApiResult<Self> {
        Self::read(query, "UpdateOptions", FieldErrors::default())
    }

    /// Reads the parameters of a PATCH that is not an apply.
    pub(crate) fn for_patch(query: Query<'q>) -> ApiResult<Self> {
        let mut errors = FieldErrors::default();
        if query.flag("force").is_some() {
            errors.forbidden("force", "may not be specified for non-apply patch");
        }
        Self::read(query, "PatchOptions", errors)
    }

    /// Reads the parameters of a PATCH that is an apply.
    pub(crate) fn for_apply(query: Query<'q>) -> ApiResult<Self> {
        let mut errors = FieldErrors::default();
        if query.first("fieldManager").is_none_or(|manager| manager.is_empty()) {
            errors.required("fieldManager", "is required for apply patch");
        }
        let options = Self::read(query, "PatchOptions", errors)?;
        let force = query.flag("force").unwrap_or_default();
        Ok(Self { force, ..options })
    }

    fn read(query: Query<'q>, kind: &'static str, errors: FieldErrors) -> ApiResult<Self> {
        let field_manager = query.first("fieldManager").unwrap_or_default();
        let dry_run: Vec<String> = query.all("dryRun").map(Cow::into_owned).collect();
        let sent_validation = query.first("fieldValidation").unwrap_or_default();
        validation::check_write_options(kind, &field_manager, &dry_run, &sent_validation, errors)?;
        let field_validation = match &*sent_validation {
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            _ => FieldValidation::Warn,
        };
        Ok(Self {
            dry_run: !dry_run.is_empty(),
            field_manager,
            field_validation,
            sent_validation,
            force: false,
            kind,
        })
    }

    /// The parameters as an API object.
    pub(crate) fn as_sent(&self) -> Box<dyn Struct> {
        let dry_run: Vec<String> = self.dry_run.then(|| "All".to_owned()).into_iter().collect();
        let field_manager = self.field_manager.clone().into_owned();
        let field_validation = self.sent_validation.clone().into_owned();
        match self.kind {
            "CreateOptions" => Box::new(meta::CreateOptions {
                dry_run,
                field_manager,
                field_validation,
            }),
            "UpdateOptions" => Box::new(meta::UpdateOptions {
                dry_run,
                field_manager,
                field_validation,
            }),
            _ => Box::new(meta::PatchOptions {
                dry_run,
                field_manager,
                field_validation,
                force: self.force.then_some(true),
            }),
        }
    }
}
