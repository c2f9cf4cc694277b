//! Building blocks for tests of plugins.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use planesmith_access::admission::{Attributes, Lister, Objects, Operation, Phase, Plugin};
use planesmith_access::user::UserInfo;
use planesmith_machinery::json::{self, Strictness};
use planesmith_machinery::object::{Object, Resource};
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::ApiResult;
use serde_json::Value;

/// A lister of a few objects.
#[derive(Default)]
pub(crate) struct Few {
    objects: Vec<Arc<dyn Object>>,
}

impl Few {
    /// Adds an object, written as JSON.
    pub(crate) fn with<R: Resource>(mut self, value: Value) -> Self {
        self.objects.push(Arc::new(object::<R>(value)));
        self
    }

    pub(crate) fn lister(self) -> Arc<dyn Lister> {
        Arc::new(self)
    }
}

impl Lister for Few {
    fn get(&self, kind: &ResourceFacts, namespace: &str, name: &str) -> ApiResult<Option<Arc<dyn Object>>> {
        let mut objects = self.list(kind, namespace)?.into_iter();
        Ok(objects.find(|object| object.meta().name == name))
    }

    fn list(&self, kind: &ResourceFacts, namespace: &str) -> ApiResult<Vec<Arc<dyn Object>>> {
        let objects = self.objects.iter();
        let wanted = objects.filter(|object| {
            object.resource() == kind && (namespace.is_empty() || object.meta().namespace == namespace)
        });
        Ok(wanted.cloned().collect())
    }
}

/// An object of a kind, written as JSON.
#[expect(clippy::needless_pass_by_value, reason = "cases are written in place")]
pub(crate) fn object<R: Resource>(value: Value) -> R {
    let mut object = R::default();
    json::decode(value.to_string().as_bytes(), &mut object, Strictness::Strict).expect("a well-formed object");
    object
}

/// A request to a plugin: the user, the operation and the object.
pub(super) struct Request {
    pub(super) operation: Operation,
    pub(super) resource: &'static ResourceFacts,
    pub(super) subresource: &'static str,
    pub(super) namespace: &'static str,
    pub(super) user: UserInfo,
    pub(super) warnings: Mutex<Vec<String>>,
}

impl Request {
    /// A creation in the namespace `ns`.
    pub(super) fn create<R: Resource>() -> Self {
        Self::new::<R>(Operation::Create)
    }

    /// An update in the namespace `ns`.
    pub(super) fn update<R: Resource>() -> Self {
        Self::new::<R>(Operation::Update)
    }

    fn new<R: Resource>(operation: Operation) -> Self {
        Self {
            operation,
            resource: R::RESOURCE,
            subresource: "",
            namespace: "ns",
            user: UserInfo {
                name: "alice".to_owned(),
                ..UserInfo::default()
            },
            warnings: Mutex::default(),
        }
    }

    /// Directs the request to a subresource.
    pub(super) fn below(mut self, subresource: &'static str) -> Self {
        self.subresource = subresource;
        self
    }

    /// Runs `plugin` in both phases. Returns the error's message if it refuses.
    pub(super) fn admit(
        &self,
        plugin: &dyn Plugin,
        new: Option<&mut dyn Object>,
        old: Option<&dyn Object>,
    ) -> Result<(), String> {
        finish(self.answer(plugin, new, old))
    }

    /// As `admit`, for a plugin that awaits other work.
    pub(super) async fn answer(
        &self,
        plugin: &dyn Plugin,
        new: Option<&mut dyn Object>,
        old: Option<&dyn Object>,
    ) -> Result<(), String> {
        let name = old.map(|old| old.meta().name.clone()).unwrap_or_default();
        let warn = |text: String| self.warnings.lock().unwrap().push(text);
        let attributes = Attributes {
            subresource: self.subresource,
            namespace: self.namespace,
            name: &name,
            warn: &warn,
            ..Attributes::new(self.operation, self.resource, &self.user)
        };
        let mut objects = Objects { new, old };
        let answer = async {
            if plugin.handles(self.operation, Phase::Mutating) {
                plugin.mutate(&attributes, &mut objects).await?;
            }
            if plugin.handles(self.operation, Phase::Validating) {
                plugin.validate(&attributes, &objects).await?;
            }
            Ok(())
        };
        answer
            .await
            .map_err(|error: planesmith_machinery::status::ApiError| error.message().to_owned())
    }

    /// Creates `object` and returns it as the plugin left it.
    pub(super) fn created<R: Resource>(&self, plugin: &dyn Plugin, mut object: R) -> Result<R, String> {
        self.admit(plugin, Some(&mut object), None)?;
        Ok(object)
    }

    /// Changes `old` to `new` and returns it as the plugin left it.
    pub(super) fn updated<R: Resource>(&self, plugin: &dyn Plugin, old: &R, mut new: R) -> Result<R, String> {
        self.admit(plugin, Some(&mut new), Some(old))?;
        Ok(new)
    }

    /// Returns the warnings so far.
    pub(super) fn warned(&self) -> Vec<String> {
        self.warnings.lock().unwrap().clone()
    }
}

/// Runs a future that waits for nothing outside the test.
pub(super) fn finish<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the plugin waits"),
    }
}
