//! The claims of a token as a user.

use planesmith_access::user::UserInfo;
use planesmith_expressions::authentication::{Expression, Mapped};
use planesmith_machinery::json::name_of;
use serde_json::{Value, json};

use crate::compact_token::Claims;

/// The extra attribute that identifies the token.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// The rules by which claims become a user.
#[derive(Debug)]
pub(crate) struct ClaimRules {
    pub(crate) username: Source,
    pub(crate) groups: Option<Source>,
    pub(crate) uid: Option<Source>,
    /// Extra attributes by key.
    pub(crate) extra: Vec<(String, Expression)>,
    /// Claims that must have a value.
    pub(crate) required: Vec<(String, String)>,
    /// Conditions about the claims, and the messages of those that fail.
    pub(crate) claim_conditions: Vec<(Expression, String)>,
    /// Conditions about the user.
    pub(crate) user_conditions: Vec<(Expression, String)>,
}

/// The source of an attribute.
#[derive(Debug)]
pub(crate) enum Source {
    /// A claim; its value follows a prefix.
    Claim {
        /// The claim.
        name: String,
        /// The prefix; may be empty.
        prefix: String,
    },
    /// An expression about all claims.
    Expression(Box<Expression>),
}

impl Source {
    pub(crate) fn expression(expression: Expression) -> Self {
        Self::Expression(Box::new(expression))
    }
}

impl ClaimRules {
    /// Returns the user that claims describe. The group of authenticated users is not added.
    ///
    /// # Errors
    ///
    /// A claim is missing or has the wrong type, or a condition is not met.
    pub(crate) fn user(&self, claims: &Claims) -> Result<UserInfo, String> {
        let document = Value::Object(claims.clone());
        let mut user = UserInfo {
            name: self.username(claims, &document)?,
            groups: self.groups(claims, &document)?,
            uid: self.uid(claims, &document)?,
            ..UserInfo::default()
        };
        for (key, expression) in &self.extra {
            let values = expression.evaluate(&document)?.into_texts();
            let values = values.map_err(|why| {
                let text = expression.text();
                format!("oidc: error evaluating extra claim expression: {text}: {why}")
            })?;
            if !values.is_empty() {
                user.extra.insert(key.clone(), values);
            }
        }
        if let Some(Value::String(id)) = claims.get("jti")
            && !id.is_empty()
        {
            user.extra.insert(CREDENTIAL_ID.to_owned(), vec![format!("JTI={id}")]);
        }
        self.check_required(claims)?;
        for (condition, message) in &self.claim_conditions {
            let checked = condition.check(&document, message);
            checked.map_err(|why| format!("oidc: error evaluating claim validation expression: {why}"))?;
        }
        if !self.user_conditions.is_empty() {
            let user = json!({"username": user.name, "uid": user.uid, "groups": user.groups, "extra": user.extra});
            for (condition, message) in &self.user_conditions {
                let checked = condition.check(&user, message);
                checked.map_err(|why| format!("oidc: error evaluating user info validation rule: {why}"))?;
            }
        }
        Ok(user)
    }

    fn username(&self, claims: &Claims, document: &Value) -> Result<String, String> {
        let (name, prefix) = match &self.username {
            Source::Claim { name, prefix } => (name, prefix),
            Source::Expression(expression) => {
                let failed = |why: &str| format!("oidc: error evaluating username claim expression: {why}");
                return match expression.evaluate(document).map_err(|why| failed(&why))? {
                    Mapped::Text(name) if name.is_empty() => {
                        Err(failed("username claim expression must return a non-empty string"))
                    }
                    Mapped::Text(name) => Ok(name),
                    _ => Err(failed("username claim expression must return a string")),
                };
            }
        };
        let value = claim_text(claims, name).map_err(|why| format!("oidc: parse username claims {name:?}: {why}"))?;
        if name == "email" {
            check_email(claims)?;
        }
        Ok(format!("{prefix}{value}"))
    }

    fn groups(&self, claims: &Claims, document: &Value) -> Result<Vec<String>, String> {
        match &self.groups {
            None => Ok(Vec::new()),
            Some(Source::Claim { name, prefix }) => {
                let Some(value) = claims.get(name) else {
                    return Ok(Vec::new());
                };
                let groups = texts(value).map_err(|why| format!("oidc: parse groups claim {name:?}: {why}"))?;
                Ok(groups.into_iter().map(|group| format!("{prefix}{group}")).collect())
            }
            Some(Source::Expression(expression)) => {
                let groups = expression.evaluate(document).and_then(Mapped::into_texts);
                groups.map_err(|why| format!("oidc: error evaluating group claim expression: {why}"))
            }
        }
    }

    fn uid(&self, claims: &Claims, document: &Value) -> Result<String, String> {
        match &self.uid {
            None => Ok(String::new()),
            Some(Source::Claim { name, .. }) => {
                claim_text(claims, name).map_err(|why| format!("oidc: parse uid claim {name:?}: {why}"))
            }
            Some(Source::Expression(expression)) => {
                let failed = |why: &str| format!("oidc: error evaluating uid claim expression: {why}");
                match expression.evaluate(document).map_err(|why| failed(&why))? {
                    Mapped::Text(uid) => Ok(uid),
                    _ => Err(failed("uid claim expression must return a string")),
                }
            }
        }
    }

    fn check_required(&self, claims: &Claims) -> Result<(), String> {
        for (name, wanted) in &self.required {
            if !claims.contains_key(name) {
                return Err(format!("oidc: required claim {name} not present in ID token"));
            }
            let found = claim_text(claims, name).map_err(|why| format!("oidc: parse claim {name}: {why}"))?;
            if found != *wanted {
                return Err(format!(
                    "oidc: required claim {name} value does not match. Got = {found}, want = {wanted}"
                ));
            }
        }
        Ok(())
    }
}

/// An address that the issuer has not verified identifies no user. Issuers that verify all of them may leave the claim out.
fn check_email(claims: &Claims) -> Result<(), String> {
    match claims.get("email_verified") {
        None | Some(Value::Bool(true)) => Ok(()),
        Some(Value::Bool(false) | Value::Null) => Err("oidc: email not verified".to_owned()),
        Some(other) => Err(format!(
            "oidc: parse 'email_verified' claim: json: cannot unmarshal {} into Go value of type bool",
            name_of(other)
        )),
    }
}

/// Returns the text of a claim; `null` is the empty text, as in Go.
fn claim_text(claims: &Claims, name: &str) -> Result<String, String> {
    match claims.get(name) {
        None => Err("claim not present".to_owned()),
        Some(value) => go_text(value),
    }
}

fn go_text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Null => Ok(String::new()),
        other => Err(format!(
            "json: cannot unmarshal {} into Go value of type string",
            name_of(other)
        )),
    }
}

/// Returns the texts of a list, or of a single text.
fn texts(value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) => {
            let texts: Result<_, _> = list.iter().map(go_text).collect();
            texts.map_err(|_| "json: cannot unmarshal array into Go value of type string".to_owned())
        }
        single => go_text(single).map(|text| vec![text]),
    }
}

#[cfg(test)]
mod tests {
    use planesmith_expressions::authentication::Subject;

    use super::*;

    fn claim(name: &str, prefix: &str) -> Source {
        let (name, prefix) = (name.to_owned(), prefix.to_owned());
        Source::Claim { name, prefix }
    }

    fn expression(text: &str) -> Source {
        Source::expression(Expression::mapping(text, Subject::Claims).unwrap())
    }

    fn rules(username: Source) -> ClaimRules {
        ClaimRules {
            username,
            groups: Some(claim("groups", "oidc:")),
            uid: None,
            extra: Vec::new(),
            required: Vec::new(),
            claim_conditions: Vec::new(),
            user_conditions: Vec::new(),
        }
    }

    fn user(rules: &ClaimRules, claims: &Value) -> Result<UserInfo, String> {
        rules.user(claims.as_object().unwrap())
    }

    #[test]
    fn claims_name_user_and_groups() {
        let rules = rules(claim("sub", "oidc:"));
        let carol = user(&rules, &json!({"sub": "carol", "groups": ["dev", "ops"], "jti": "7"})).unwrap();
        assert_eq!(
            (carol.name.as_str(), carol.groups.join(",")),
            ("oidc:carol", "oidc:dev,oidc:ops".to_owned())
        );
        assert_eq!(carol.extra["authentication.kubernetes.io/credential-id"], ["JTI=7"]);
        let single = user(&rules, &json!({"sub": "carol", "groups": "dev"})).unwrap();
        assert_eq!(single.groups, ["oidc:dev"]);
        for (claims, problem) in [
            (json!({}), "oidc: parse username claims \"sub\": claim not present"),
            (
                json!({"sub": 7}),
                "oidc: parse username claims \"sub\": json: cannot unmarshal number into Go value of type string",
            ),
            (
                json!({"sub": "a", "groups": {"a": 1}}),
                "oidc: parse groups claim \"groups\": json: cannot unmarshal object into Go value of type string",
            ),
        ] {
            assert_eq!(user(&rules, &claims), Err(problem.to_owned()));
        }
    }

    #[test]
    fn an_address_must_be_verified() {
        let rules = rules(claim("email", ""));
        let name = |claims: Value| user(&rules, &claims).map(|user| user.name);
        let carol = Ok("carol@example.com".to_owned());
        assert_eq!(name(json!({"email": "carol@example.com"})), carol);
        assert_eq!(
            name(json!({"email": "carol@example.com", "email_verified": true})),
            carol
        );
        let refused = name(json!({"email": "carol@example.com", "email_verified": false}));
        assert_eq!(refused, Err("oidc: email not verified".to_owned()));
        assert!(name(json!({"email": "carol@example.com", "email_verified": "true"})).is_err());
    }

    #[test]
    fn expressions_map_claims_and_conditions_check_them() {
        let condition = |text, subject| (Expression::condition(text, subject).unwrap(), "why".to_owned());
        let rules = ClaimRules {
            groups: Some(expression("claims.roles.split(',')")),
            uid: Some(expression("claims.id")),
            extra: vec![(
                "acme.io/team".to_owned(),
                Expression::mapping("claims.?team.orValue('')", Subject::Claims).unwrap(),
            )],
            required: vec![("hd".to_owned(), "acme".to_owned())],
            claim_conditions: vec![condition("claims.exp - claims.nbf <= 3600", Subject::Claims)],
            user_conditions: vec![condition("!user.username.startsWith('system:')", Subject::User)],
            ..rules(expression("claims.sub"))
        };
        let claims = |changes: Value| {
            let mut claims = json!({"sub": "carol", "roles": "a,b", "id": "7", "hd": "acme", "nbf": 10, "exp": 20});
            for (key, value) in changes.as_object().unwrap() {
                claims[key] = value.clone();
            }
            claims
        };
        let carol = user(&rules, &claims(json!({"team": "x"}))).unwrap();
        assert_eq!((carol.uid.as_str(), carol.groups.join(" ")), ("7", "a b".to_owned()));
        assert_eq!(carol.extra["acme.io/team"], ["x"]);
        assert!(user(&rules, &claims(json!({}))).unwrap().extra.is_empty());
        for (changes, problem) in [
            (
                json!({"sub": ""}),
                "oidc: error evaluating username claim expression: username claim expression must return a non-empty string",
            ),
            (
                json!({"sub": ["a"]}),
                "oidc: error evaluating username claim expression: username claim expression must return a string",
            ),
            (
                json!({"hd": "other"}),
                "oidc: required claim hd value does not match. Got = other, want = acme",
            ),
            (
                json!({"exp": 9999}),
                "oidc: error evaluating claim validation expression: validation expression 'claims.exp - claims.nbf <= 3600' \
                 failed: why",
            ),
            (
                json!({"sub": "system:admin"}),
                "oidc: error evaluating user info validation rule: validation expression \
                 '!user.username.startsWith('system:')' failed: why",
            ),
        ] {
            assert_eq!(user(&rules, &claims(changes)), Err(problem.to_owned()));
        }
    }
}
