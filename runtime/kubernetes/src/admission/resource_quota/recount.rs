//! Counts the usage of a quota anew: writes do not see what is released when objects are deleted.

use planesmith_api_defs::core::v1::{ResourceList, ResourceQuota};
use planesmith_machinery::object::Object;

use super::evaluator::{Evaluator, number};
use super::request::scopes_of;

/// A count in progress.
pub(crate) struct Recount<'q> {
    quota: &'q ResourceQuota,
    used: ResourceList,
}

impl<'q> Recount<'q> {
    /// Begins with the recorded usage of the resources that `quota` bounds.
    pub(crate) fn new(quota: &'q ResourceQuota) -> Self {
        let hard = &quota.spec.hard;
        let known = quota.status.used.iter().filter(|(name, _)| hard.contains_key(*name));
        Self {
            quota,
            used: known.map(|(name, amount)| (name.clone(), amount.clone())).collect(),
        }
    }

    /// Counts objects of the kind of `evaluator`: their number, or the usage of each, for kinds with more than a
    /// number.
    pub(crate) fn add<O>(
        &mut self,
        evaluator: &Evaluator<'_>,
        objects: &[O],
        decode: impl Fn(&O) -> Option<Box<dyn Object>>,
    ) {
        let hard = self.quota.spec.hard.keys();
        let counted: Vec<&String> = hard.filter(|name| evaluator.counts(name)).collect();
        let mut used: ResourceList = counted.iter().map(|name| ((*name).clone(), number(0))).collect();
        let mut charge = |usage: &ResourceList| {
            for (name, amount) in usage {
                if let Some(own) = used.get_mut(name) {
                    *own = own.rounded_add(amount);
                }
            }
        };
        match evaluator {
            Evaluator::Objects(names) if scopes_of(self.quota).next().is_none() => {
                let amount = number(i64::try_from(objects.len()).unwrap_or(i64::MAX));
                charge(&names.iter().map(|name| (name.clone(), amount.clone())).collect());
            }
            // None of the scopes is about other kinds.
            Evaluator::Objects(_) => {}
            Evaluator::Pods(_) | Evaluator::Services | Evaluator::Claims | Evaluator::Devices(_) => {
                for object in objects.iter().filter_map(decode) {
                    if scopes_of(self.quota).all(|scope| evaluator.is_in_scope(&*object, &scope)) {
                        charge(&evaluator.usage(&*object));
                    }
                }
            }
        }
        self.used.extend(used);
    }

    /// Returns the counted usage.
    pub(crate) fn used(self) -> ResourceList {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use planesmith_api_defs::core::v1::Pod;
    use planesmith_machinery::clock::SystemClock;
    use planesmith_machinery::object::Resource as _;
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::testing::{Few, object};

    fn quota(spec: &Value, used: &Value) -> ResourceQuota {
        object(json!({"metadata": {"name": "q"}, "spec": spec, "status": {"used": used}}))
    }

    fn pod(cpu: &str, phase: &str) -> Value {
        json!({
            "metadata": {"name": "p"},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
            "status": {"phase": phase},
        })
    }

    fn rendered(list: &ResourceList) -> String {
        let amounts: Vec<String> = list.iter().map(|(name, amount)| format!("{name}={amount}")).collect();
        amounts.join(",")
    }

    #[test]
    fn pods_are_counted_by_what_they_ask_for() {
        let spec = json!({"hard": {"requests.cpu": "2", "pods": "5", "count/pods": "9", "count/secrets": "1"}});
        let nothing = Few::default().lister();
        let quota = quota(&spec, &json!({"pods": "4", "count/secrets": "1", "gone": "1"}));
        let mut recount = Recount::new(&quota);
        let evaluator = Evaluator::of_kind("", &Pod::RESOURCE.plural, &*nothing, &SystemClock);
        let pods = vec![pod("500m", "Running"), pod("1", "Pending"), pod("1", "Failed")];
        assert!(evaluator.bounds(&quota));
        recount.add(&evaluator, &pods, |pod| Some(Box::new(object::<Pod>(pod.clone()))));
        assert_eq!(
            rendered(&recount.used()),
            "count/pods=3,count/secrets=1,pods=2,requests.cpu=1500m"
        );
    }

    #[test]
    fn other_objects_are_counted_where_no_scope_is_set() {
        let nothing = Few::default().lister();
        let count = |spec: &Value| {
            let quota = quota(spec, &json!({}));
            let mut recount = Recount::new(&quota);
            let evaluator = Evaluator::of_kind("apps", "deployments", &*nothing, &SystemClock);
            recount.add(&evaluator, &[(), ()], |()| None);
            rendered(&recount.used())
        };
        let hard = json!({"count/deployments.apps": "5", "count/secrets": "2"});
        assert_eq!(count(&json!({"hard": hard})), "count/deployments.apps=2");
        assert_eq!(
            count(&json!({"hard": hard, "scopes": ["BestEffort"]})),
            "count/deployments.apps=0"
        );
    }

    #[test]
    fn a_pod_that_ends_gives_back() {
        let (runs, failed) = (object::<Pod>(pod("1", "Running")), object::<Pod>(pod("1", "Failed")));
        let nothing = Few::default().lister();
        let changed = |now: &Pod| Evaluator::Pods(&SystemClock).changed(&runs, now);
        assert!(changed(&failed) && !changed(&runs));
        let mut bounded = runs.clone();
        bounded.spec.active_deadline_seconds = Some(60);
        assert!(changed(&bounded), "it is in the other scope now");
        let can_change = |plural: &str| Evaluator::of_kind("", plural, &*nothing, &SystemClock).can_change();
        assert!(can_change("services") && !can_change("secrets"));
    }
}
