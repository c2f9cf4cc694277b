//! Expressions that map the claims of a token to a user, and that check both.

use serde_json::Value as Json;

use crate::ast::{Expr, Literal, Node, operator, walk};
use crate::program::{Environment, PER_CALL_LIMIT, Program};
use crate::types::Type;
use crate::value::{Fault, Value, from_plain_json};

/// The document that an expression is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// `claims`: the claims of a token.
    Claims,
    /// `user`: the user that they were mapped to, with the fields of a UserInfo.
    User,
}

/// A compiled expression.
#[derive(Debug)]
pub struct Expression {
    text: String,
    subject: Subject,
    program: Program,
}

/// The result of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mapped {
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A string.
    Text(String),
    /// A list of strings.
    Texts(Vec<String>),
    /// A value of another type.
    Other,
}

impl Subject {
    fn variable(self) -> &'static str {
        match self {
            Self::Claims => "claims",
            Self::User => "user",
        }
    }

    fn declared(self) -> Type {
        match self {
            Self::Claims => Type::map(Type::Dyn),
            Self::User => {
                let fields = [
                    ("username", Type::String),
                    ("uid", Type::String),
                    ("groups", Type::list(Type::String)),
                    ("extra", Type::map(Type::list(Type::String))),
                ];
                let fields = fields.map(|(name, ty)| (name.to_owned(), ty));
                Type::object("kubernetes.UserInfo", fields.into())
            }
        }
    }
}

impl Expression {
    /// Compiles an expression with a result of any type.
    ///
    /// # Errors
    ///
    /// The compile errors, worded as kube-apiserver words them.
    pub fn mapping(text: &str, subject: Subject) -> Result<Self, String> {
        let environment = Environment::new().with(subject.variable(), subject.declared());
        let program = environment
            .compile(text)
            .map_err(|problems| format!("compilation failed: {problems}"))?
            .instantiated()?;
        Ok(Self {
            text: text.to_owned(),
            subject,
            program,
        })
    }

    /// Compiles an expression that is true or false.
    ///
    /// # Errors
    ///
    /// As [`Self::mapping`], and for an expression of another type.
    pub fn condition(text: &str, subject: Subject) -> Result<Self, String> {
        let expression = Self::mapping(text, subject)?;
        match expression.program.result_type() {
            Type::Bool => Ok(expression),
            _ => Err("must evaluate to bool".to_owned()),
        }
    }

    /// Returns the source text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True if the expression selects `field` of the document by its name: `claims.field`, `claims.?field` or a test.
    #[must_use]
    pub fn selects(&self, field: &str) -> bool {
        let variable = self.subject.variable();
        let is_variable = |expr: &Expr| matches!(&expr.node, Node::Ident(name) if name == variable);
        let is_field = |expr: &Expr| matches!(&expr.node, Node::Literal(Literal::String(text)) if text == field);
        let mut found = false;
        walk(&self.program.expr, &mut |expr| {
            found |= match &expr.node {
                Node::Select(select) => select.field == field && is_variable(&select.operand),
                Node::Call(call) => match call.args.as_slice() {
                    [operand, name] => {
                        call.function == operator::OPTIONAL_SELECT && is_variable(operand) && is_field(name)
                    }
                    _ => false,
                },
                _ => false,
            };
        });
        found
    }

    /// Evaluates the expression for a document.
    ///
    /// # Errors
    ///
    /// The reason that there is no result, with the expression.
    pub fn evaluate(&self, document: &Json) -> Result<Mapped, String> {
        let value = Ok(from_plain_json(document));
        let evaluation = self
            .program
            .evaluate(&[(self.subject.variable(), value)], PER_CALL_LIMIT);
        let mapped = evaluation.result.and_then(|value| mapped(&value));
        mapped.map_err(|fault| format!("expression '{}' resulted in error: {}", self.text, fault.message()))
    }

    /// Evaluates a condition that must be true for a document. `message` explains a failure.
    ///
    /// # Errors
    ///
    /// The condition is false or has no result.
    pub fn check(&self, document: &Json, message: &str) -> Result<(), String> {
        match self.evaluate(document)? {
            Mapped::Bool(true) => Ok(()),
            Mapped::Bool(false) => Err(format!("validation expression '{}' failed: {message}", self.text)),
            _ => Err("validation expression must return a boolean".to_owned()),
        }
    }
}

fn mapped(value: &Value<'_>) -> Result<Mapped, Fault> {
    Ok(match value {
        Value::Null => Mapped::Null,
        Value::Bool(value) => Mapped::Bool(*value),
        Value::String(text) => Mapped::Text(text.to_string()),
        Value::List(list) => {
            let texts = list.elements()?.into_iter().map(|element| match element {
                Value::String(text) => Some(text.to_string()),
                _ => None,
            });
            texts.collect::<Option<_>>().map_or(Mapped::Other, Mapped::Texts)
        }
        _ => Mapped::Other,
    })
}

impl Mapped {
    /// Returns the string, or the strings of the list, without empty ones; none for `null`.
    ///
    /// # Errors
    ///
    /// The value has another type.
    pub fn into_texts(self) -> Result<Vec<String>, String> {
        let mut texts = match self {
            Self::Null => Vec::new(),
            Self::Text(text) => vec![text],
            Self::Texts(texts) => texts,
            Self::Bool(_) | Self::Other => {
                return Err("expression must return a string or a list of strings".to_owned());
            }
        };
        texts.retain(|text| !text.is_empty());
        Ok(texts)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(expression: &str, claims: &Json) -> Result<Mapped, String> {
        Expression::mapping(expression, Subject::Claims)?.evaluate(claims)
    }

    #[test]
    fn claims_are_mapped_to_texts() {
        let claims = json!({"sub": "carol", "roles": ["a", "", "b"], "n": 7, "org": {"name": "acme"}, "none": null});
        let texts = |expression| map(expression, &claims).and_then(Mapped::into_texts);
        assert_eq!(
            texts("claims.sub + '@' + claims.org.name"),
            Ok(vec!["carol@acme".to_owned()])
        );
        assert_eq!(texts("claims.roles"), Ok(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(
            texts("claims.roles.filter(r, r == 'b').map(r, 'x:' + r)"),
            Ok(vec!["x:b".to_owned()])
        );
        assert_eq!(texts("claims.none"), Ok(Vec::new()));
        assert_eq!(texts("claims.?missing.orValue('')"), Ok(Vec::new()));
        let wrong = Err("expression must return a string or a list of strings".to_owned());
        assert_eq!(texts("claims.n"), wrong);
        assert_eq!(texts("[claims.n]"), wrong);
        assert_eq!(
            texts("claims.missing"),
            Err("expression 'claims.missing' resulted in error: no such key: missing".to_owned())
        );
    }

    #[test]
    fn conditions_are_about_claims_or_the_user() {
        let user = json!({"username": "carol", "uid": "", "groups": ["dev"], "extra": {"acme.io/x": ["y"]}});
        let check = |expression: &str| {
            let expression = Expression::condition(expression, Subject::User)?;
            expression.check(&user, "why")
        };
        assert_eq!(check("!user.username.startsWith('system:')"), Ok(()));
        assert_eq!(
            check("user.groups.all(g, g != 'admin') && user.extra['acme.io/x'] == ['y']"),
            Ok(())
        );
        assert_eq!(
            check("user.uid != ''"),
            Err("validation expression 'user.uid != ''' failed: why".to_owned())
        );
        assert_eq!(check("user.uid"), Err("must evaluate to bool".to_owned()));
        let problem = check("claims.sub == 'x'").unwrap_err();
        assert!(
            problem.starts_with("compilation failed: ERROR: <input>:1:1: undeclared reference to 'claims'"),
            "{problem}"
        );
    }

    #[test]
    fn fields_that_are_selected_by_name_are_found() {
        let selects = |text| Expression::mapping(text, Subject::Claims).unwrap().selects("email");
        for text in [
            "claims.email",
            "'a' + claims.email",
            "has(claims.email) ? claims.email : ''",
            "claims.?email.orValue('')",
            "[1].map(x, claims.email)[0]",
            "{'a': claims.email}.a",
        ] {
            assert!(selects(text), "{text}");
        }
        for text in [
            "claims.emails",
            "claims.user.email",
            "claims['email']",
            "'claims.email'",
        ] {
            assert!(!selects(text), "{text}");
        }
    }

    #[test]
    fn no_expression_runs_for_long() {
        let expression = "claims.l.all(a, claims.l.all(b, claims.l.all(c, claims.l.all(d, a + b + c + d >= 0))))";
        let claims = json!({"l": vec![1; 200]});
        let problem = map(expression, &claims).unwrap_err();
        assert!(problem.ends_with("cost limit exceeded"), "{problem}");
    }
}
