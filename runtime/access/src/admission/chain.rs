//! The admission plugins of a server, in order.

use std::sync::Arc;
use std::time::Instant;

use planesmith_machinery::status::ApiResult;

use super::{Attributes, Objects, Observer, Operation, Phase, Plugin, PluginCall, Reinvocation};

/// The admission plugins of a server, in call order. The empty chain admits everything.
#[derive(Clone, Default)]
pub struct Chain {
    plugins: Vec<Arc<dyn Plugin>>,
    observer: Option<Arc<dyn Observer>>,
}

impl Chain {
    /// Creates a chain of `plugins`.
    #[must_use]
    pub fn new(plugins: Vec<Arc<dyn Plugin>>) -> Self {
        Self {
            plugins,
            observer: None,
        }
    }

    /// Adds an observer, which records the plugins' latencies.
    #[must_use]
    pub fn observed_by(self, observer: Arc<dyn Observer>) -> Self {
        Self {
            observer: Some(observer),
            ..self
        }
    }

    /// Appends a plugin.
    pub fn push(&mut self, plugin: Arc<dyn Plugin>) {
        self.plugins.push(plugin);
    }

    /// Returns the plugin names, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.plugins.iter().map(|plugin| plugin.name())
    }

    /// True if any plugin handles `operation` in `phase`.
    #[must_use]
    pub fn handles(&self, operation: Operation, phase: Phase) -> bool {
        self.call(operation, phase).next().is_some()
    }

    /// Runs the mutating plugins, and runs all of them again if one requests it.
    ///
    /// # Errors
    ///
    /// The error of the first plugin that refuses.
    pub async fn mutate(&self, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> ApiResult<()> {
        let reinvocation = Reinvocation::default();
        let attributes = Attributes {
            reinvocation: Some(&reinvocation),
            ..*attributes
        };
        let begin = Instant::now();
        let mut answer = self.mutate_once(&attributes, objects).await;
        if answer.is_ok() && reinvocation.begin_second() {
            answer = self.mutate_once(&attributes, objects).await;
        }
        self.observe(Phase::Mutating, attributes.operation, &answer, None, begin);
        answer
    }

    async fn mutate_once(&self, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> ApiResult<()> {
        let mut begin = Instant::now();
        for (index, plugin) in self.call(attributes.operation, Phase::Mutating) {
            let answer = plugin.mutate(attributes, objects).await;
            begin = self.observe(Phase::Mutating, attributes.operation, &answer, Some(index), begin);
            answer?;
        }
        Ok(())
    }

    /// Runs the validating plugins.
    ///
    /// # Errors
    ///
    /// The error of the first plugin that refuses.
    pub async fn validate(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let begin = Instant::now();
        let answer = self.validate_once(attributes, objects).await;
        self.observe(Phase::Validating, attributes.operation, &answer, None, begin);
        answer
    }

    async fn validate_once(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let mut begin = Instant::now();
        for (index, plugin) in self.call(attributes.operation, Phase::Validating) {
            let answer = plugin.validate(attributes, objects).await;
            begin = self.observe(Phase::Validating, attributes.operation, &answer, Some(index), begin);
            answer?;
        }
        Ok(())
    }

    /// Reports the result of one plugin, or of a whole phase, to the observer; returns the current time.
    fn observe(
        &self,
        phase: Phase,
        operation: Operation,
        answer: &ApiResult<()>,
        plugin: Option<usize>,
        begin: Instant,
    ) -> Instant {
        let Some(observer) = &self.observer else { return begin };
        let now = Instant::now();
        let call = PluginCall {
            phase,
            operation,
            rejected: answer.is_err(),
        };
        match plugin {
            Some(index) => observer.plugin(index, call, now - begin),
            None => observer.step(call, now - begin),
        }
        now
    }

    fn call(&self, operation: Operation, phase: Phase) -> impl Iterator<Item = (usize, &Arc<dyn Plugin>)> {
        let plugins = self.plugins.iter().enumerate();
        plugins.filter(move |(_, plugin)| plugin.handles(operation, phase))
    }
}

impl std::fmt::Debug for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::sync::Mutex;
    use std::task::{Context, Poll, Waker};

    use planesmith_machinery::Resource;
    use planesmith_machinery::meta::ObjectMeta;
    use planesmith_machinery::object::Resource as _;

    use super::*;
    use crate::admission::{AdmissionFuture, decided};
    use crate::user::UserInfo;

    /// An object to write.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "example.com", version = "v1", kind = "Thing")]
    struct Thing {
        /// Metadata.
        #[field(proto = 1)]
        metadata: ObjectMeta,
    }

    /// Records its calls; `again` requests a second round.
    struct Scribe {
        name: &'static str,
        again: bool,
        book: Arc<Mutex<Vec<String>>>,
    }

    impl Plugin for Scribe {
        fn name(&self) -> &'static str {
            self.name
        }

        fn handles(&self, operation: Operation, _: Phase) -> bool {
            operation == Operation::Create
        }

        fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, _: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
            let round = if attributes.is_second_round() { 2 } else { 1 };
            self.book.lock().unwrap().push(format!("{} {round}", self.name));
            if self.again {
                attributes.reinvoke();
            }
            decided(Ok(()))
        }

        fn validate<'a>(&'a self, _: &'a Attributes<'a>, _: &'a Objects<'_>) -> AdmissionFuture<'a> {
            self.book.lock().unwrap().push(format!("{} validates", self.name));
            decided(Ok(()))
        }
    }

    fn finish<T>(future: impl Future<Output = T>) -> T {
        let mut future = std::pin::pin!(future);
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => unreachable!("nothing here waits"),
        }
    }

    fn call(again: bool) -> Vec<String> {
        let book = Arc::default();
        let scribe = |name, again| -> Arc<dyn Plugin> {
            let book = Arc::clone(&book);
            Arc::new(Scribe { name, again, book })
        };
        let chain = Chain::new(vec![scribe("first", false), scribe("last", again)]);
        let user = UserInfo::default();
        let attributes = Attributes::new(Operation::Create, Thing::RESOURCE, &user);
        let mut objects = Objects { new: None, old: None };
        finish(chain.mutate(&attributes, &mut objects)).unwrap();
        finish(chain.validate(&attributes, &objects)).unwrap();
        drop(chain);
        Arc::into_inner(book).unwrap().into_inner().unwrap()
    }

    #[test]
    fn mutating_plugins_run_before_validating_ones() {
        assert_eq!(call(false), ["first 1", "last 1", "first validates", "last validates"]);
    }

    #[test]
    fn a_second_round_is_the_last() {
        let expected = [
            "first 1",
            "last 1",
            "first 2",
            "last 2",
            "first validates",
            "last validates",
        ];
        assert_eq!(call(true), expected);
    }
}
