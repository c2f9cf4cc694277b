//! The names in scope for expressions of admission policies and webhooks, and their result types.

use std::collections::BTreeMap;

use planesmith_machinery::field_error::FieldErrors;

use crate::program::{Environment, Program};
use crate::types::Type;
use crate::types::{ANY_OBJECT, JSON_PATCH};

/// The variables of a policy expression besides the request.
#[derive(Clone, Copy, Debug, Default)]
pub struct PolicyVariables {
    /// `params`: the policy has parameters.
    pub params: bool,
    /// `authorizer`.
    pub authorizer: bool,
    /// `variables`: values that the policy declares.
    pub variables: bool,
}

/// The names in scope for a policy's expressions, including the variables declared so far.
#[derive(Clone, Debug)]
pub struct PolicyEnvironment {
    base: Environment,
    variables: Option<BTreeMap<String, Type>>,
}

impl PolicyEnvironment {
    /// Creates an environment with the variables that the server provides.
    #[must_use]
    pub fn new(provided: PolicyVariables) -> Self {
        let mut base = Environment::new()
            .with("object", Type::Dyn)
            .with("oldObject", Type::Dyn)
            .with("request", request())
            .with("namespaceObject", namespace());
        if provided.params {
            base = base.with("params", Type::Dyn);
        }
        if provided.authorizer {
            let authorizer = Type::Library("kubernetes.authorization.Authorizer");
            let check = Type::Library("kubernetes.authorization.ResourceCheck");
            base = base
                .with("authorizer", authorizer)
                .with("authorizer.requestResource", check);
        }
        Self {
            base,
            variables: provided.variables.then(BTreeMap::new),
        }
    }

    /// Declares `variables.name`, whose expression has the type `ty`, for expressions compiled later.
    pub fn declare(&mut self, name: &str, ty: &Type) {
        let variables = self.variables.get_or_insert_default();
        variables.insert(name.to_owned(), type_of_variable(ty));
    }

    /// Declares `variables.name` with an unknown type.
    pub fn declare_unknown(&mut self, name: &str) {
        self.declare(name, &Type::Dyn);
    }

    /// Takes over the variables of `other`.
    pub fn share_variables(&mut self, other: &Self) {
        self.variables.clone_from(&other.variables);
    }

    /// Declares the objects that mutations create: `Object{..}` and `JSONPatch{..}`.
    pub fn allow_objects(&mut self) {
        let patch = [
            ("op", Type::String),
            ("path", Type::String),
            ("from", Type::String),
            ("value", Type::Dyn),
        ];
        let fields = patch.map(|(name, ty)| (name.to_owned(), ty)).into();
        self.base = std::mem::take(&mut self.base)
            .with_object(Type::object(JSON_PATCH, fields))
            .with_object(Type::object(ANY_OBJECT, BTreeMap::new()));
    }

    /// Compiles an expression.
    ///
    /// # Errors
    ///
    /// The expression does not compile, its type is not in `results` (an empty list allows all types), or it can never run.
    pub fn compile(&self, expression: &str, results: &[Type]) -> Result<Program, CompileError> {
        let program = self.checked(expression, results).map_err(CompileError::Invalid)?;
        program.instantiated().map_err(CompileError::Internal)
    }

    fn checked(&self, expression: &str, results: &[Type]) -> Result<Program, String> {
        let mut environment = self.base.clone();
        if let Some(variables) = &self.variables {
            environment = environment.with("variables", Type::object("kubernetes.variables", variables.clone()));
        }
        let program = environment
            .compile(expression)
            .map_err(|problems| format!("compilation failed: {problems}"))?;
        let found = program.result_type();
        if results.is_empty() || results.contains(found) {
            return Ok(program);
        }
        let found = found.result_name();
        Err(match results {
            [only] => format!("must evaluate to {} but got {found}", only.result_name()),
            several => {
                let names: Vec<String> = several.iter().map(Type::result_name).collect();
                format!("must evaluate to one of [{}] but got {found}", names.join(" "))
            }
        })
    }
}

/// The reason why an expression cannot be used, worded as kube-apiserver words it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// The expression does not compile, or has a result of the wrong type.
    Invalid(String),
    /// No program can be created from the compiled expression.
    Internal(String),
}

impl CompileError {
    /// Reports the error of `expression`, the value of `field`.
    pub fn report(self, errors: &mut FieldErrors, field: &str, expression: &str) {
        match self {
            CompileError::Invalid(problem) => errors.invalid(field, expression, problem),
            CompileError::Internal(problem) => errors.internal(field, problem),
        }
    }

    /// Returns the text.
    #[must_use]
    pub fn into_message(self) -> String {
        let (CompileError::Invalid(message) | CompileError::Internal(message)) = self;
        message
    }
}

/// Returns the type that other expressions see of a variable whose expression has the type `ty`. Simple types, lists and maps
/// are known; a value of any other type is checked when it is used.
pub(super) fn type_of_variable(ty: &Type) -> Type {
    match ty {
        Type::Null
        | Type::Bool
        | Type::Int
        | Type::Uint
        | Type::Double
        | Type::String
        | Type::Bytes
        | Type::Duration
        | Type::Timestamp => ty.clone(),
        Type::List(element) => Type::list(type_of_variable(element)),
        Type::Map(key, value) => Type::Map(type_of_variable(key).into(), type_of_variable(value).into()),
        Type::Dyn
        | Type::Error
        | Type::Type(_)
        | Type::Optional(_)
        | Type::Library(_)
        | Type::Struct(_)
        | Type::Param(_) => Type::Dyn,
    }
}

fn object<const N: usize>(name: &str, fields: [(&str, Type); N]) -> Type {
    Type::object(name, fields.map(|(name, ty)| (name.to_owned(), ty)).into())
}

/// Returns the type of `request`.
pub(super) fn request() -> Type {
    let kind = object(
        "kubernetes.GroupVersionKind",
        [
            ("group", Type::String),
            ("version", Type::String),
            ("kind", Type::String),
        ],
    );
    let resource = object(
        "kubernetes.GroupVersionResource",
        [
            ("group", Type::String),
            ("version", Type::String),
            ("resource", Type::String),
        ],
    );
    let user = object(
        "kubernetes.UserInfo",
        [
            ("username", Type::String),
            ("uid", Type::String),
            ("groups", Type::list(Type::String)),
            ("extra", Type::map(Type::list(Type::String))),
        ],
    );
    object(
        "kubernetes.AdmissionRequest",
        [
            ("kind", kind.clone()),
            ("resource", resource.clone()),
            ("subResource", Type::String),
            ("requestKind", kind),
            ("requestResource", resource),
            ("requestSubResource", Type::String),
            ("name", Type::String),
            ("namespace", Type::String),
            ("operation", Type::String),
            ("userInfo", user),
            ("dryRun", Type::Bool),
            ("options", Type::Dyn),
        ],
    )
}

/// Returns the type of `namespaceObject`.
pub(super) fn namespace() -> Type {
    let metadata = object(
        "kubernetes.NamespaceMetadata",
        [
            ("name", Type::String),
            ("generateName", Type::String),
            ("namespace", Type::String),
            ("labels", Type::map(Type::String)),
            ("annotations", Type::map(Type::String)),
            ("UID", Type::String),
            ("creationTimestamp", Type::Timestamp),
            ("deletionGracePeriodSeconds", Type::Int),
            ("deletionTimestamp", Type::Timestamp),
            ("generation", Type::Int),
            ("resourceVersion", Type::String),
            ("finalizers", Type::list(Type::String)),
        ],
    );
    let spec = object("kubernetes.NamespaceSpec", [("finalizers", Type::list(Type::String))]);
    let condition = object(
        "kubernetes.NamespaceCondition",
        [
            ("status", Type::String),
            ("type", Type::String),
            ("lastTransitionTime", Type::Timestamp),
            ("message", Type::String),
            ("reason", Type::String),
        ],
    );
    let conditions = Type::list(condition);
    let status = object(
        "kubernetes.NamespaceStatus",
        [("conditions", conditions), ("phase", Type::String)],
    );
    object(
        "kubernetes.Namespace",
        [("metadata", metadata), ("spec", spec), ("status", status)],
    )
}
