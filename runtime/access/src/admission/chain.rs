//! The plugins of a server, in order.

use std::sync::Arc;

use planesmith_machinery::status::ApiResult;

use super::{Attributes, Objects, Operation, Phase, Plugin};

/// The plugins of a server, in the order in which they are asked. The empty chain admits everything.
#[derive(Clone, Default)]
pub struct Chain {
    plugins: Vec<Arc<dyn Plugin>>,
}

impl Chain {
    /// A chain of these plugins.
    #[must_use]
    pub fn new(plugins: Vec<Arc<dyn Plugin>>) -> Self {
        Self { plugins }
    }

    /// Appends a plugin.
    pub fn push(&mut self, plugin: Arc<dyn Plugin>) {
        self.plugins.push(plugin);
    }

    /// Names of the plugins, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.plugins.iter().map(|plugin| plugin.name())
    }

    /// Whether any plugin is asked about `operation` in `phase`.
    #[must_use]
    pub fn handles(&self, operation: Operation, phase: Phase) -> bool {
        self.asked(operation, phase).next().is_some()
    }

    /// Lets each mutating plugin change the write.
    ///
    /// # Errors
    ///
    /// That of the first plugin that refuses.
    pub async fn mutate(&self, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> ApiResult<()> {
        for plugin in self.asked(attributes.operation, Phase::Mutating) {
            plugin.mutate(attributes, objects).await?;
        }
        Ok(())
    }

    /// Asks each validating plugin.
    ///
    /// # Errors
    ///
    /// That of the first plugin that refuses.
    pub async fn validate(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        for plugin in self.asked(attributes.operation, Phase::Validating) {
            plugin.validate(attributes, objects).await?;
        }
        Ok(())
    }

    fn asked(&self, operation: Operation, phase: Phase) -> impl Iterator<Item = &Arc<dyn Plugin>> {
        self.plugins
            .iter()
            .filter(move |plugin| plugin.handles(operation, phase))
    }
}

impl std::fmt::Debug for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
