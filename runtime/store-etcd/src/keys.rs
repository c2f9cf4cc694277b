//! The keys of the store, as they are in etcd.

use std::borrow::Cow;
use std::sync::Arc;

/// The beginning of the store's keys.
const REGISTRY: &str = "/registry";

/// Translates between keys of the store, which begin with `/registry`, and those in etcd, which begin with a prefix.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    prefix: Arc<str>,
}

impl Keys {
    /// Returns the translation for `prefix`, which kube-apiserver reads as a path from the root.
    pub(crate) fn new(prefix: &str) -> Self {
        let mut path = String::new();
        for part in prefix.split('/').filter(|part| !part.is_empty() && *part != ".") {
            path.push('/');
            path.push_str(part);
        }
        Self { prefix: path.into() }
    }

    /// Returns the key in etcd.
    pub(crate) fn to_etcd(&self, key: &str) -> Vec<u8> {
        match key.strip_prefix(REGISTRY) {
            Some(rest) => [&*self.prefix, rest].concat().into_bytes(),
            None => key.as_bytes().to_vec(),
        }
    }

    /// Returns the key in etcd as text, with which kube-apiserver authenticates an encrypted value.
    pub(crate) fn authenticated<'k>(&self, key: &'k str) -> Cow<'k, str> {
        match key.strip_prefix(REGISTRY) {
            Some(rest) if *self.prefix != *REGISTRY => Cow::Owned([&*self.prefix, rest].concat()),
            Some(_) | None => Cow::Borrowed(key),
        }
    }

    /// Returns the key of the store; `None` if it is not under the prefix, or not UTF-8.
    pub(crate) fn to_store(&self, key: &[u8]) -> Option<Arc<str>> {
        let rest = key.strip_prefix(self.prefix.as_bytes())?;
        let rest = std::str::from_utf8(rest).ok()?;
        rest.starts_with('/').then(|| [REGISTRY, rest].concat().into())
    }

    /// Returns the key that kube-apiserver reads to check etcd's health.
    pub(crate) fn health(&self) -> Vec<u8> {
        format!("{}/health", self.prefix).into_bytes()
    }
}

/// Returns the end of the range of the keys that begin with `prefix`.
pub(crate) fn range_end(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return end;
        }
    }
    // etcd's name for the end of all keys.
    vec![0]
}

#[cfg(test)]
mod tests {
    use super::{Keys, range_end};

    #[test]
    fn the_prefix_stands_for_the_registry() {
        let keys = Keys::new("cluster//one/");
        let key = keys.to_etcd("/registry/pods/a/b");
        assert_eq!(key, b"/cluster/one/pods/a/b");
        assert_eq!(keys.to_store(&key).as_deref(), Some("/registry/pods/a/b"));
        assert_eq!(keys.to_store(b"/cluster/onetwo"), None);
        assert_eq!(keys.to_store(b"/cluster/one/\xff"), None);
        assert_eq!(keys.health(), b"/cluster/one/health");
        assert_eq!(Keys::new("/").health(), b"/health");
    }

    #[test]
    fn a_range_ends_after_the_prefix() {
        assert_eq!(range_end(b"/registry/"), b"/registry0");
        assert_eq!(range_end(b"a\xff\xff"), b"b");
        assert_eq!(range_end(b"\xff"), b"\0");
    }
}
