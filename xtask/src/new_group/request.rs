//! The validated arguments of the command.

use anyhow::{Result, bail};
use planesmith_codegen_core::names;

/// The names of a new group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// The group, e.g. `shop.example.com`.
    pub(crate) group: String,
    /// The version, e.g. `v1`.
    pub(crate) version: String,
    /// The kind, e.g. `Order`.
    pub(crate) kind: String,
    /// The folder in `examples`, e.g. `shop`.
    pub(crate) name: String,
    /// The module of the group, e.g. `shop`.
    pub(crate) module: String,
    /// The file and module of the kind, e.g. `order`.
    pub(crate) file: String,
    /// The package, e.g. `planesmith-shop`.
    pub(crate) package: String,
}

impl Request {
    /// Validates the arguments.
    ///
    /// # Errors
    ///
    /// The mistake and its correction.
    pub(crate) fn read(group_version: &str, kind: &str, name: Option<&str>) -> Result<Self> {
        let Some((group, version)) = group_version.split_once('/') else {
            bail!("\"{group_version}\" has no version; write GROUP/VERSION, such as shop.example.com/v1");
        };
        if group.is_empty() {
            bail!("the core group is reserved for Kubernetes; write a DNS name that you own, such as shop.example.com");
        }
        if let Some(help) = names::group_problem(group) {
            bail!("\"{group}\" is not an API group: {help}");
        }
        if !group.contains('.') {
            bail!(
                "the group \"{group}\" needs a dot: names without one are Kubernetes' own; write {group}.example.com"
            );
        }
        if let Some(help) = names::version_problem(version) {
            bail!("\"{version}\" is not an API version: {help}");
        }
        if let Some(help) = names::kind_problem(kind) {
            bail!("\"{kind}\" is not a kind: {help}");
        }
        if kind.ends_with("List") {
            bail!("the kind \"{kind}\" ends with List, as the kinds of lists do; write another one");
        }
        let first = group.split('.').next().unwrap_or_default();
        let name = name.unwrap_or(first);
        let module = name.replace('-', "_");
        if !is_module(&module) || names::resource_problem(name).is_some() {
            let help = "it becomes a folder and a Rust module: write --name with lower-case letters, digits and `-`";
            bail!("\"{name}\" is not a name for the crate; {help}");
        }
        let mut file = snake_case(kind);
        if syn::parse_str::<syn::Ident>(&file).is_err() {
            file.push_str("_kind");
        }
        Ok(Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            package: format!("planesmith-{name}"),
            name: name.to_owned(),
            module,
            file,
        })
    }
}

/// True if `name` is a legal module name and does not conflict with `generated`.
fn is_module(name: &str) -> bool {
    name != "generated" && syn::parse_str::<syn::Ident>(name).is_ok()
}

/// Converts `HTTPOrder` to `http_order`.
fn snake_case(kind: &str) -> String {
    let letters: Vec<char> = kind.chars().collect();
    let mut name = String::new();
    for (index, letter) in letters.iter().enumerate() {
        let starts_word = index > 0
            && letter.is_ascii_uppercase()
            && (!letters[index - 1].is_ascii_uppercase()
                || letters.get(index + 1).is_some_and(char::is_ascii_lowercase));
        if starts_word {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}
