//! `completion`: scripts that complete command lines in shells.

use anyhow::Result;
use clap::Parser;
use clap_complete::Shell;

use crate::program::Program;

/// Prints a script that lets a shell complete commands and flags.
///
/// For bash: source <(planesmith completion bash)
#[derive(Debug, Parser)]
#[command(disable_version_flag = true)]
pub(super) struct Completion {
    /// The shell.
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

impl Completion {
    pub(super) fn run(&self, program: &Program, command: &mut clap::Command) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, command, program.name, &mut script);
        super::print(&script)
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, ValueEnum as _};

    use super::*;

    #[test]
    fn every_shell_gets_a_script_with_commands_and_flags() {
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            let mut command = super::super::CommandLine::command();
            clap_complete::generate(*shell, &mut command, "planesmith", &mut script);
            let script = String::from_utf8(script).unwrap();
            for word in ["create-kubeconfig", "secure-port"] {
                assert!(script.contains(word), "{shell} completes {word}");
            }
        }
    }
}
