//! Resolves names in a module to items.

use std::collections::BTreeMap;

use super::{Item, RustPath, Sources};

/// The maximum number of imports to follow; more of them mean a cycle.
const STEPS: u32 = 32;

impl Sources {
    /// Resolves `path`, written in `module`, to the path of the item's declaration.
    ///
    /// `None` if the name cannot be resolved. Names of other crates are returned unchanged.
    pub(crate) fn resolve(&self, module: &RustPath, path: &[String]) -> Option<RustPath> {
        self.resolve_within(module, path, STEPS)
    }

    fn resolve_within(&self, module: &RustPath, path: &[String], steps: u32) -> Option<RustPath> {
        let steps = steps.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => RustPath(vec![module.crate_name().to_owned()]),
            "self" => module.clone(),
            "super" => module.parent()?,
            // A leading `::`.
            "" => return self.descend(RustPath(vec![rest.first()?.clone()]), &rest[1..], steps),
            name => self
                .lookup(module, name, steps)
                .or_else(|| self.is_crate(name).then(|| RustPath(vec![name.to_owned()])))?,
        };
        self.descend(start, rest, steps)
    }

    /// Resolves the rest of a path, starting from a module.
    fn descend(&self, start: RustPath, rest: &[String], steps: u32) -> Option<RustPath> {
        let mut place = start;
        for name in rest {
            place = match name.as_str() {
                "super" => place.parent()?,
                "self" => place,
                name if self.module(&place).is_some() => match self.lookup(&place, name, steps) {
                    Some(found) => found,
                    None if self.is_library(place.crate_name()) => place.join(name),
                    None => return None,
                },
                name => place.join(name),
            };
        }
        Some(place)
    }

    /// Resolves `name` inside `module`.
    fn lookup(&self, module: &RustPath, name: &str, steps: u32) -> Option<RustPath> {
        let steps = steps.checked_sub(1)?;
        let content = self.module(module)?;
        if content.items.contains_key(name) {
            return Some(module.join(name));
        }
        if let Some(import) = content.uses.get(name) {
            return self.resolve_within(module, &import.target, steps);
        }
        content.globs.iter().find_map(|glob| {
            let target = self.resolve_within(module, &glob.target, steps)?;
            (target != *module).then(|| self.lookup(&target, name, steps)).flatten()
        })
    }

    fn is_crate(&self, name: &str) -> bool {
        matches!(name, "std" | "core" | "alloc") || self.packages.iter().any(|package| package.crate_name() == name)
    }

    /// Returns the item declared at `path`.
    pub(crate) fn item(&self, path: &RustPath) -> Option<&Item> {
        self.module(&path.parent()?)?.items.get(path.name())
    }

    /// Returns the shortest path by which other crates can import the item declared at `path`; the first of equally short ones.
    ///
    /// `None` if no public module exports it.
    pub(crate) fn public_path(&self, path: &RustPath) -> Option<RustPath> {
        self.public.get_or_init(|| self.public_paths()).get(path).cloned()
    }

    /// Returns the shortest public paths of all definitions.
    fn public_paths(&self) -> BTreeMap<RustPath, RustPath> {
        let mut shortest = BTreeMap::new();
        let mut offer = |declared: RustPath, public: RustPath| {
            let known: &mut RustPath = shortest.entry(declared).or_insert_with(|| public.clone());
            if public.0.len() < known.0.len() {
                *known = public;
            }
        };
        for (module, content) in self.modules.iter().filter(|(module, _)| self.is_public(module)) {
            for name in content.public_definitions() {
                offer(module.join(name), module.join(name));
            }
            for (name, import) in content.uses.iter().filter(|(_, import)| import.public) {
                if let Some(target) = self.resolve(module, &import.target)
                    && target.crate_name() == module.crate_name()
                {
                    offer(target, module.join(name));
                }
            }
            for glob in content.globs.iter().filter(|glob| glob.public) {
                let Some(target) = self.resolve(module, &glob.target) else {
                    continue;
                };
                let inner = self
                    .module(&target)
                    .filter(|_| target.crate_name() == module.crate_name());
                for name in inner.into_iter().flat_map(super::Module::public_definitions) {
                    offer(target.join(name), module.join(name));
                }
            }
        }
        shortest
    }

    /// True if other crates can access a module.
    fn is_public(&self, module: &RustPath) -> bool {
        let mut place = Some(module.clone());
        while let Some(path) = place {
            if path.0.len() > 1 && !self.module(&path).is_some_and(|module| module.public) {
                return false;
            }
            place = path.parent();
        }
        true
    }
}
