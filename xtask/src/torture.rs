//! `cargo xtask torture`: proves what the stores promise.

use std::ffi::OsString;

use anyhow::{Context as _, Result};

use crate::cargo::{built, cargo, run};

/// Tortures the stores: random clients during restarts, crashes, losses of power and faults, whose observations are checked.
///
/// Fails with the first broken promise, or if a store lacks what the torture needs. `--help` behind `--` lists the options.
/// `--store cluster` runs two servers on three members of etcd, which are killed, stopped and cut off; it knows `--minutes` and
/// `--seed`.
#[derive(Debug, clap::Args)]
pub(crate) struct Torture {
    /// The options, such as `--minutes 10 --seed 1 --store sled`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<OsString>,
}

impl Torture {
    pub(crate) fn run(&self) -> Result<()> {
        if self.option("--store")? == Some("cluster") {
            return self.run_cluster();
        }
        // A folder of its own: these few crates are built in seconds, whatever the rest of the workspace needs.
        let mut torture = cargo();
        torture
            .args(["run", "--quiet", "--package", "planesmith-torture", "--"])
            .args(&self.options)
            .env("CARGO_TARGET_DIR", built("torture", ""));
        run(&mut torture)
    }

    /// Runs the test of whole servers, which builds them.
    fn run_cluster(&self) -> Result<()> {
        let mut test = cargo();
        test.args([
            "test",
            "--package",
            "planesmith-e2e",
            "--test",
            "it",
            "--",
            "--nocapture",
            "cluster::",
        ]);
        test.env("PLANESMITH_CLUSTER_MINUTES", self.option("--minutes")?.unwrap_or("1"));
        if let Some(seed) = self.option("--seed")? {
            test.env("PLANESMITH_CLUSTER_SEED", seed);
        }
        run(&mut test)
    }

    /// The value behind the option `name` or its `=`; `None` if it is absent.
    fn option(&self, name: &str) -> Result<Option<&str>> {
        let mut options = self.options.iter().map(|option| option.to_str());
        while let Some(option) = options.next() {
            let rest = option.and_then(|option| option.strip_prefix(name));
            match rest {
                Some("") => {
                    let value = options.next().flatten();
                    return value.map(Some).with_context(|| format!("{name} needs a value"));
                }
                Some(rest) if rest.starts_with('=') => return Ok(Some(&rest[1..])),
                Some(_) | None => {}
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::Torture;

    #[test]
    fn options_have_their_value_behind_them() {
        let options = ["--short", "--store", "cluster", "--seed=7", "--minutes"];
        let torture = Torture {
            options: options.map(Into::into).into(),
        };
        assert_eq!(torture.option("--store").unwrap(), Some("cluster"));
        assert_eq!(torture.option("--seed").unwrap(), Some("7"));
        assert_eq!(torture.option("--scenario").unwrap(), None);
        assert!(torture.option("--minutes").is_err());
    }
}
