//! The resources of a server, by the names that people use.

use anyhow::{Result, bail};
use http::Method;
use serde_json::Value;

use crate::delegation::Host;
use crate::resource_client::text;

/// A resource in the preferred version of its group.
#[derive(Debug, PartialEq, Eq)]
struct Resource {
    group: String,
    plural: String,
    /// Other names: the singular, the kind and the short ones, all in lower case.
    names: Vec<String>,
}

/// The resources of a server, in the order of its discovery.
#[derive(Debug)]
pub(super) struct Resources(Vec<Resource>);

impl Resources {
    /// Reads the discovery of a server.
    pub(super) async fn read(host: &Host) -> Result<Self> {
        let get = async |path: &str| host.send(Method::GET, path, None).await.map_err(anyhow::Error::msg);
        let mut resources = Self(Vec::new());
        resources.add("", &get("/api/v1").await?);
        let groups = get("/apis").await?;
        for group in groups["groups"].as_array().into_iter().flatten() {
            let version = text(group, "/preferredVersion/groupVersion");
            // A server behind the aggregator may not answer; its resources need their full names.
            if let Ok(list) = get(&format!("/apis/{version}")).await {
                resources.add(text(group, "/name"), &list);
            }
        }
        Ok(resources)
    }

    fn add(&mut self, group: &str, list: &Value) {
        let resources = list["resources"].as_array().into_iter().flatten();
        let whole = resources.filter(|resource| !text(resource, "/name").contains('/'));
        self.0.extend(whole.map(|resource| {
            let short = resource["shortNames"].as_array().into_iter().flatten();
            let others = [text(resource, "/singularName"), text(resource, "/kind")];
            let names = short.filter_map(Value::as_str).chain(others);
            Resource {
                group: group.to_owned(),
                plural: text(resource, "/name").to_owned(),
                names: names.map(str::to_lowercase).collect(),
            }
        }));
    }

    /// Returns the group and the plural name of the resource that people call `name`.
    ///
    /// # Errors
    ///
    /// The server has no such resource. A name with a group is taken as it is: roles may be about resources that do not exist.
    pub(super) fn find(&self, name: &str) -> Result<(String, String)> {
        let wanted = name.to_lowercase();
        let (plain, group) = match wanted.split_once('.') {
            Some((plain, group)) => (plain, Some(group)),
            None => (&*wanted, None),
        };
        let is_it = |resource: &&Resource| {
            group.is_none_or(|group| group == resource.group)
                && (resource.plural == plain || resource.names.iter().any(|name| name == plain))
        };
        match (self.0.iter().find(is_it), group) {
            (Some(found), _) => Ok((found.group.clone(), found.plural.clone())),
            (None, Some(group)) => Ok((group.to_owned(), plain.to_owned())),
            (None, None) if plain == "*" => Ok(("*".to_owned(), "*".to_owned())),
            (None, None) => {
                bail!("the server has no resource {name:?}; see kubectl api-resources, or name its group: {name}.GROUP")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn resources_have_the_names_that_people_use() {
        let mut resources = Resources(Vec::new());
        resources.add(
            "apps",
            &json!({"resources": [
                {"name": "deployments", "singularName": "deployment", "kind": "Deployment", "shortNames": ["deploy"]},
                {"name": "deployments/scale", "kind": "Scale"},
            ]}),
        );
        for name in [
            "deployments",
            "deployment",
            "Deployment",
            "deploy",
            "deployments.apps",
            "deploy.apps",
        ] {
            let found = resources.find(name).expect(name);
            assert_eq!(found, ("apps".to_owned(), "deployments".to_owned()), "{name}");
        }
        assert_eq!(resources.find("a.b.c").unwrap(), ("b.c".to_owned(), "a".to_owned()));
        let error = resources.find("scale").unwrap_err().to_string();
        assert!(error.contains("no resource \"scale\""), "{error}");
    }
}
