//! Authorizer queries: `authorizer.group('apps').resource('deployments').check('create').allowed()`.

use std::rc::Rc;

use planesmith_machinery::names;

use super::{Context, Entry, text_argument, unfit};
use crate::authorization::{AuthorizerDecision, Check, Query, ResourceCheck, ServiceAccount};
use crate::value::{Evaluated, Fault, Library, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("path: authorizer.(string) path_check", "authorizer_path", path),
    ("group: authorizer.(string) group_check", "authorizer_group", group),
    (
        "serviceAccount: authorizer.(string, string) authorizer",
        "authorizer_serviceaccount",
        service_account,
    ),
    (
        "resource: group_check.(string) resource_check",
        "groupcheck_resource",
        resource,
    ),
    (
        "subresource: resource_check.(string) resource_check",
        "resourcecheck_subresource",
        subresource,
    ),
    (
        "namespace: resource_check.(string) resource_check",
        "resourcecheck_namespace",
        namespace,
    ),
    (
        "name: resource_check.(string) resource_check",
        "resourcecheck_name",
        name,
    ),
    (
        "fieldSelector: resource_check.(string) resource_check",
        "authorizer_fieldselector",
        field_selector,
    ),
    (
        "labelSelector: resource_check.(string) resource_check",
        "authorizer_labelselector",
        label_selector,
    ),
    ("check: path_check.(string) decision", "pathcheck_check", check),
    ("check: resource_check.(string) decision", "resourcecheck_check", check),
    ("errored: decision.() bool", "decision_errored", errored),
    ("error: decision.() string", "decision_error", error),
    ("allowed: decision.() bool", "decision_allowed", allowed),
    ("reason: decision.() string", "decision_reason", reason),
];

type Subject = Option<Rc<ServiceAccount>>;

fn subject<'a>(args: &'a [Value<'_>]) -> Result<&'a Subject, Fault> {
    match args.first() {
        Some(Value::Library(Library::Authorizer(subject))) => Ok(subject),
        _ => Err(unfit()),
    }
}

fn target<'a>(args: &'a [Value<'_>]) -> Result<(&'a Rc<Check>, &'a Subject), Fault> {
    match args.first() {
        Some(Value::Library(Library::Check(check, subject))) => Ok((check, subject)),
        _ => Err(unfit()),
    }
}

fn with<'d>(check: Check, subject: &Subject) -> Evaluated<'d> {
    Ok(Value::Library(Library::Check(Rc::new(check), subject.clone())))
}

fn path<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let path = text_argument(&args, 1)?;
    if path.trim().is_empty() {
        return Err(Fault::new("path must not be empty"));
    }
    with(Check::Path(path.to_owned()), subject(&args)?)
}

fn group<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    with(Check::Group(text_argument(&args, 1)?.to_owned()), subject(&args)?)
}

fn service_account<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let (namespace, name) = (text_argument(&args, 1)?, text_argument(&args, 2)?);
    subject(&args)?;
    if !names::dns_subdomain(name).is_empty() {
        return Err(Fault::new("Invalid service account name"));
    }
    if !names::dns_label(namespace).is_empty() {
        return Err(Fault::new("Invalid service account namespace"));
    }
    let account = ServiceAccount {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    Ok(Value::Library(Library::Authorizer(Some(Rc::new(account)))))
}

fn resource<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let resource = text_argument(&args, 1)?;
    let (check, subject) = target(&args)?;
    let Check::Group(group) = &**check else {
        return Err(unfit());
    };
    if resource.trim().is_empty() {
        return Err(Fault::new("resource must not be empty"));
    }
    let check = ResourceCheck {
        group: group.clone(),
        resource: resource.to_owned(),
        ..ResourceCheck::default()
    };
    with(Check::Resource(check), subject)
}

/// Returns the resource check with one field set.
fn set<'d>(args: &[Value<'d>], field: fn(&mut ResourceCheck) -> &mut String) -> Evaluated<'d> {
    let value = text_argument(args, 1)?;
    let (check, subject) = target(args)?;
    let Check::Resource(check) = &**check else {
        return Err(unfit());
    };
    let mut check = check.clone();
    value.clone_into(field(&mut check));
    with(Check::Resource(check), subject)
}

fn subresource<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    set(&args, |check| &mut check.subresource)
}

fn namespace<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    set(&args, |check| &mut check.namespace)
}

fn name<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    set(&args, |check| &mut check.name)
}

fn field_selector<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    set(&args, |check| &mut check.field_selector)
}

fn label_selector<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    set(&args, |check| &mut check.label_selector)
}

fn check<'d>(context: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    let verb = text_argument(&args, 1)?;
    let (check, subject) = target(&args)?;
    let Some(authorizer) = context.authorizer else {
        return Err(Fault::new("no authorizer is available to this expression"));
    };
    let query = Query {
        service_account: subject.as_deref().cloned(),
        verb: verb.to_owned(),
        check: Check::clone(check),
    };
    let verdict = authorizer.decide(&query).ok_or(Fault::Suspended)?;
    Ok(Value::Library(Library::Decision(verdict)))
}

fn verdict<'a>(args: &'a [Value<'_>]) -> Result<&'a AuthorizerDecision, Fault> {
    match args.first() {
        Some(Value::Library(Library::Decision(verdict))) => Ok(verdict),
        _ => Err(unfit()),
    }
}

fn errored<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    verdict(&args).map(|verdict| Value::Bool(verdict.error.is_some()))
}

fn error<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    verdict(&args).map(|verdict| Value::text(verdict.error.as_deref().unwrap_or_default()))
}

fn allowed<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    verdict(&args).map(|verdict| Value::Bool(verdict.allowed))
}

fn reason<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    verdict(&args).map(|verdict| Value::text(verdict.reason.as_str()))
}
