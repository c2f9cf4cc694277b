//! The flags of the component.

use std::path::PathBuf;

use clap::Args;
use planesmith_control_plane::options::check_readable;

/// Flags of a server.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Storage and controllers")]
pub(crate) struct EncryptionOptions {
    #[command(flatten)]
    pub(crate) file: ConfigurationFile,

    /// Follow changes of the file of --encryption-provider-config without a restart.
    #[arg(
        long,
        value_name = "BOOL",
        default_value_t = false,
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        action = clap::ArgAction::Set
    )]
    pub(crate) encryption_provider_config_automatic_reload: bool,
}

/// The flag that commands about a whole store have, too.
#[derive(Args, Clone, Debug)]
pub(crate) struct ConfigurationFile {
    /// File with the keys with which stored objects are encrypted, by resource (an EncryptionConfiguration).
    #[arg(long, value_name = "FILE")]
    pub(crate) encryption_provider_config: Option<PathBuf>,
}

impl EncryptionOptions {
    pub(crate) fn check(&self) -> Result<(), String> {
        match &self.file.encryption_provider_config {
            Some(file) => check_readable("--encryption-provider-config", file),
            None if self.encryption_provider_config_automatic_reload => Err(
                "--encryption-provider-config-automatic-reload needs --encryption-provider-config with the file to follow"
                    .to_owned(),
            ),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches as _};

    use super::*;

    fn check(flags: &[&str]) -> Result<EncryptionOptions, String> {
        let command = EncryptionOptions::augment_args(Command::new("server"));
        let matches = command.try_get_matches_from(std::iter::once(&"server").chain(flags));
        let matches = matches.map_err(|error| error.to_string())?;
        let options = EncryptionOptions::from_arg_matches(&matches).map_err(|error| error.to_string())?;
        options.check()?;
        Ok(options)
    }

    #[test]
    fn a_reload_needs_a_file() {
        let file = "--encryption-provider-config=/dev/null";
        let reload = "--encryption-provider-config-automatic-reload";
        assert!(check(&[]).is_ok());
        assert!(!check(&[file]).unwrap().encryption_provider_config_automatic_reload);
        assert!(
            check(&[file, reload])
                .unwrap()
                .encryption_provider_config_automatic_reload
        );
        assert!(check(&[&format!("{reload}=false")]).is_ok());
        assert!(
            check(&[reload])
                .unwrap_err()
                .contains("needs --encryption-provider-config")
        );
        assert!(check(&["--encryption-provider-config=/does/not/exist"]).is_err());
    }
}
