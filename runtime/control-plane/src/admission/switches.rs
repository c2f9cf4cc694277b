//! The plugins that the flags leave on.

use anyhow::{Result, ensure};
use planesmith_machinery::go_format;

use super::Registration;
use crate::feature_gates::FeatureGates;
use crate::options::Options;

/// Checks the names in `--enable-admission-plugins`, `--disable-admission-plugins` and `--admission-control`.
///
/// # Errors
///
/// A name that is not in `registrations`, or that is in both of the first two flags, or the last one beside them.
pub fn check_switches(registrations: &[Registration], options: &Options) -> Result<()> {
    let mut problems = Vec::new();
    // An empty list is one without plugins.
    let only = options.admission_control.iter().flatten();
    let only: Vec<String> = only.filter(|name| !name.is_empty()).cloned().collect();
    if options.admission_control.is_some()
        && !(options.enable_admission_plugins.is_empty() && options.disable_admission_plugins.is_empty())
    {
        problems.push(
            "admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive"
                .to_owned(),
        );
    }
    for (flag, names) in [
        ("admission-control", &only),
        ("enable-admission-plugins", &options.enable_admission_plugins),
        ("disable-admission-plugins", &options.disable_admission_plugins),
    ] {
        for name in names {
            if !registrations.iter().any(|registration| registration.name == name) {
                problems.push(format!("{flag} plugin {name:?} is unknown"));
            }
        }
    }
    let disabled = &options.disable_admission_plugins;
    let enabled = options.enable_admission_plugins.iter();
    let mut both: Vec<&str> = enabled
        .filter(|name| disabled.contains(name))
        .map(String::as_str)
        .collect();
    both.sort_unstable();
    both.dedup();
    if !both.is_empty() {
        problems.push(format!(
            "[{}] in enable-admission-plugins and disable-admission-plugins overlapped",
            both.join(" ")
        ));
    }
    ensure!(problems.is_empty(), "{}", go_format::aggregate(&problems));
    Ok(())
}

/// True if the flags leave a plugin on, with the features of `gates`.
#[must_use]
pub fn is_on(registration: &Registration, options: &Options, gates: &FeatureGates) -> bool {
    if registration.feature.is_some_and(|feature| !gates.enabled(feature)) {
        return false;
    }
    let named = |names: &[String]| names.iter().any(|name| name == registration.name);
    if let Some(only) = &options.admission_control {
        return named(only);
    }
    named(&options.enable_admission_plugins) || registration.on_by_default && !named(&options.disable_admission_plugins)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::admission::{ALWAYS_DENY, GENERIC};

    const LISTED: [Registration; 3] = [
        Registration::place("PodSecurity", true),
        Registration::place("Priority", true),
        ALWAYS_DENY,
    ];

    fn options(flags: &[&str]) -> Options {
        Options::try_parse_from(std::iter::once(&"test").chain(flags)).unwrap()
    }

    fn on(flags: &[&str]) -> Vec<&'static str> {
        let options = options(flags);
        let registrations = LISTED.iter();
        registrations
            .filter(|registration| is_on(registration, &options, &options.features()))
            .map(|registration| registration.name)
            .collect()
    }

    #[test]
    fn flags_add_to_and_take_from_the_plugins_that_are_on() {
        let usual = on(&[]);
        assert!(usual.contains(&"PodSecurity") && !usual.contains(&"AlwaysDeny"));
        let changed = on(&[
            "--enable-admission-plugins=AlwaysDeny",
            "--disable-admission-plugins=PodSecurity,Priority",
        ]);
        assert!(changed.contains(&"AlwaysDeny") && !changed.contains(&"PodSecurity"));
        assert_eq!(changed.len(), usual.len() - 1);
    }

    #[test]
    fn the_old_flag_names_all_plugins_that_are_on() {
        assert_eq!(
            on(&["--admission-control=AlwaysDeny,Priority"]),
            ["Priority", "AlwaysDeny"]
        );
        let none = "--admission-control=";
        assert!(on(&[none]).is_empty());
        assert!(check_switches(&LISTED, &options(&[none])).is_ok());
    }

    #[test]
    fn wrong_names_are_refused() {
        let refused = |registrations: &[Registration], flags: &[&str]| {
            let error = check_switches(registrations, &options(flags)).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            refused(&LISTED, &["--enable-admission-plugins=Nonsense"]),
            "enable-admission-plugins plugin \"Nonsense\" is unknown"
        );
        assert_eq!(
            refused(&LISTED, &["--admission-control=Nonsense"]),
            "admission-control plugin \"Nonsense\" is unknown"
        );
        assert_eq!(
            refused(
                &LISTED,
                &["--admission-control=Priority", "--disable-admission-plugins=AlwaysDeny"]
            ),
            "admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive"
        );
        assert_eq!(
            refused(GENERIC, &["--disable-admission-plugins=LimitRanger"]),
            "disable-admission-plugins plugin \"LimitRanger\" is unknown"
        );
        assert_eq!(
            refused(
                &LISTED,
                &[
                    "--enable-admission-plugins=Priority",
                    "--disable-admission-plugins=Priority"
                ]
            ),
            "[Priority] in enable-admission-plugins and disable-admission-plugins overlapped"
        );
    }
}
