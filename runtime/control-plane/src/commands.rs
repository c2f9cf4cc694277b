//! The command line of a server binary: it serves, unless a command says otherwise.

mod access;
mod completion;
mod config;
mod convert;
mod empty_lists;
mod flags;
mod help;
mod status;
mod store;

use std::process::ExitCode;

use anyhow::Result;
use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use planesmith_server::version::Version;

use crate::component_command::ComponentCommand;
use crate::feature_gates::FeatureGates;
use crate::options::{AuthorizationMode, Controllers, Options, VersionFlag, named_value};
use crate::process::Process;
use crate::program::Program;

/// Serves the Kubernetes API from one binary, on an embedded store.
///
/// Without flags it creates its certificates, writes an admin kubeconfig, listens on loopback and prints the next
/// command.
#[derive(Debug, Parser)]
#[command(disable_version_flag = true, disable_help_subcommand = true, max_term_width = 100)]
#[command(args_conflicts_with_subcommands = true, args_override_self = true)]
struct CommandLine {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Access(access::Access),
    Convert(convert::Convert),
    Config(config::Config),
    Status(status::Status),
    Store(store::Store),
    Completion(completion::Completion),
}

/// A parsed command line.
#[derive(Debug)]
pub(crate) enum ParsedCommand {
    /// Run the server.
    Serve(Box<Options>),
    /// A command that is finished, with its exit code.
    Done(ExitCode),
}

/// Parses the command line of this process, and runs its command, unless that is to serve. After a mistake it prints
/// the problem and exits with 2. Commands run in `process`.
pub(crate) fn read(program: &Program, process: &Process) -> ParsedCommand {
    // One command for both kinds of mistakes: it knows under which name the program was started.
    let (mut command, words) = empty_lists::taken_out(help::in_sections(command(program)), std::env::args_os());
    let matches = command
        .try_get_matches_from_mut(words)
        .unwrap_or_else(|error| error.exit());
    if let Some((of_component, matches)) = command_of_component(program, &matches) {
        let result = of_component.run(matches, process.runtime());
        return ParsedCommand::Done(result.map_or_else(|error| fail(&error), |()| ExitCode::SUCCESS));
    }
    let line = CommandLine::from_arg_matches(&matches);
    let mut line = line.unwrap_or_else(|error| error.format(&mut command).exit());
    let result = match line.command {
        None if matches!(line.options.version, VersionFlag::Print | VersionFlag::PrintRaw) => {
            print_version(program, &line.options.version)
        }
        None => {
            let of_components = || {
                program
                    .components
                    .iter()
                    .try_for_each(|part| part.check_flags(&matches))
            };
            let options = &line.options;
            let modes = || program.check_authorization_modes(&options.authorization_mode);
            if let Err(error) = options.check().and_then(|()| modes()).and_then(|()| of_components()) {
                command.error(ErrorKind::ValueValidation, error).exit()
            }
            line.options.listed = flags::listed(&command, &matches);
            line.options.matches = matches;
            return ParsedCommand::Serve(Box::new(line.options));
        }
        Some(Command::Access(access)) => access.run(process.runtime()),
        Some(Command::Convert(convert)) => convert.run(program),
        Some(Command::Config(config)) => config.run(program),
        Some(Command::Status(status)) => status.run(program, process.runtime()),
        Some(Command::Store(store)) => {
            let code = store.run(program, &matches, process);
            return ParsedCommand::Done(code.unwrap_or_else(|error| fail(&error)));
        }
        Some(Command::Completion(completion)) => completion.run(program, &mut command),
    };
    ParsedCommand::Done(result.map_or_else(|error| fail(&error), |()| ExitCode::SUCCESS))
}

/// Returns the command of a component that the command line names, with its arguments.
fn command_of_component<'a>(
    program: &Program,
    matches: &'a ArgMatches,
) -> Option<(&'static dyn ComponentCommand, &'a ArgMatches)> {
    let (name, matches) = matches.subcommand()?;
    let mut commands = program.components.iter().flat_map(|component| component.commands());
    let command = commands.find(|command| command.command().get_name() == name)?;
    Some((*command, matches))
}

/// Prints the reason of a failure, and returns the exit code for it.
#[expect(
    clippy::print_stderr,
    reason = "the reason of an early end is for the person at the terminal, whatever the log level"
)]
pub(crate) fn fail(error: &anyhow::Error) -> ExitCode {
    eprintln!("error: {error:#}");
    ExitCode::FAILURE
}

/// Returns `command` with what `add` adds, and its own description: derived flags also bring that of their type.
fn keeping_about(command: clap::Command, add: impl FnOnce(clap::Command) -> clap::Command) -> clap::Command {
    let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
    let mut command = add(command);
    if let Some(about) = about {
        command = command.about(about);
    }
    if let Some(long_about) = long_about {
        command = command.long_about(long_about);
    }
    command
}

/// Returns the command line of `program`: that of every server, with the flags, commands, controllers and feature gates of its
/// components.
fn command(program: &Program) -> clap::Command {
    let command = CommandLine::command().name(program.name);
    let components = program.components.iter();
    let command = components.fold(command, |command, component| {
        keeping_about(command, |command| component.flags(command)).next_help_heading(None::<&str>)
    });
    let commands = program.components.iter().flat_map(|component| component.commands());
    let command = command.subcommands(commands.map(|of_component| of_component.command()));
    let known = program.controller_names();
    let command = store::with_schemes(command, program);
    let command = command.mut_arg("controllers", |flag| {
        flag.value_parser(move |text: &str| Controllers::parse(text, &known))
    });
    let gates = program.feature_gates();
    let command = command.mut_arg("feature_gates", |flag| {
        flag.value_parser(move |text: &str| FeatureGates::parse(text, &gates))
    });
    let command = command.mut_arg("storage", |flag| {
        flag.value_parser(named_value::parser(program.storage_kinds()))
    });
    let modes = program.default_authorization_modes();
    let known = program.known_authorization_modes();
    command.mut_arg("authorization_mode", |flag| {
        flag.value_parser(named_value::parser(known))
            .default_values(modes.into_iter().map(AuthorizationMode::as_str))
    })
}

fn print_version(program: &Program, flag: &VersionFlag) -> Result<()> {
    let text = match flag {
        VersionFlag::PrintRaw => serde_json::to_string_pretty(&Version::default())?,
        _ => version_line(program),
    };
    print(format!("{text}\n").as_bytes())
}

/// Returns the served version and that of the program. The first two words are those that kube-apiserver prints: scripts take the
/// second one as the version.
fn version_line(program: &Program) -> String {
    let served = Version::default().git_version;
    format!("Kubernetes {served} ({} {})", program.name, env!("CARGO_PKG_VERSION"))
}

/// Writes the result of a command, which may go into a pipe that is closed early.
fn print(text: &[u8]) -> Result<()> {
    use std::io::Write as _;
    match std::io::stdout().write_all(text) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(anyhow::Error::new(error).context("the output cannot be written"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::StorageKind;
    use planesmith_machinery::feature::Feature;
    use tokio::runtime::Handle;

    use crate::component::Component;
    use crate::feature_gates::FeatureGate;
    use crate::options::ControllerName;

    fn line(words: &[&str]) -> Result<CommandLine, String> {
        let words = std::iter::once(&"planesmith").chain(words);
        CommandLine::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn the_command_line_is_put_together_well() {
        CommandLine::command().debug_assert();
    }

    /// A component with a flag, a command, a feature gate, a controller, a mode of authorization and a store.
    #[derive(Debug)]
    struct Warehouse;

    #[derive(Debug)]
    struct CountShelves;

    static LOCKERS: Feature = Feature::off("Lockers");

    impl ComponentCommand for CountShelves {
        fn command(&self) -> clap::Command {
            clap::Command::new("count-shelves").arg(clap::Arg::new("HALL").required(true))
        }

        fn run(&self, matches: &ArgMatches, _: &Handle) -> Result<()> {
            let hall = matches.get_one::<String>("HALL").map_or("", String::as_str);
            anyhow::bail!("there is no hall {hall}")
        }
    }

    const SHELVES: StorageKind = StorageKind::new("shelves", "On the shelves");

    const KEYS: AuthorizationMode = AuthorizationMode::new("Keys", "Users may do what their keys open");

    impl Component for Warehouse {
        fn flags(&self, command: clap::Command) -> clap::Command {
            command
                .next_help_heading("Warehouse")
                .arg(clap::Arg::new("shelf").long("shelf"))
        }

        fn commands(&self) -> &'static [&'static dyn ComponentCommand] {
            &[&CountShelves]
        }

        fn feature_gates(&self) -> &'static [FeatureGate] {
            const { &[FeatureGate::alpha(&LOCKERS)] }
        }

        fn controller_names(&self) -> &'static [ControllerName] {
            const { &[ControllerName::renamed("restock-controller", "restock")] }
        }

        fn storage_kinds(&self) -> &'static [StorageKind] {
            &[SHELVES]
        }

        fn authorization_modes(&self) -> &'static [AuthorizationMode] {
            &[KEYS]
        }

        fn default_authorization_modes(&self) -> &'static [AuthorizationMode] {
            &[KEYS]
        }
    }

    #[test]
    fn a_component_has_flags_controllers_modes_and_stores_of_its_own() {
        let read = |program: &Program, words: &[&str]| {
            let mut command = command(program);
            let matches = command.try_get_matches_from_mut(std::iter::once(&"test").chain(words));
            let matches = matches.map_err(|error| error.to_string())?;
            let line = CommandLine::from_arg_matches(&matches).map_err(|error| error.to_string())?;
            Ok::<_, String>((line.options, matches))
        };
        let with = Program::of_test(&[&Warehouse]);
        let words = [
            "--shelf=top",
            "--controllers=*,-restock,-namespace",
            "--authorization-mode=AlwaysDeny,Keys",
            "--storage=shelves",
        ];
        let (options, matches) = read(&with, &words).unwrap();
        assert_eq!(matches.get_one::<String>("shelf").map(String::as_str), Some("top"));
        assert!(!options.controllers.enabled("restock-controller"));
        assert!(!options.controllers.enabled("namespace-controller"));
        assert!(options.controllers.enabled("garbage-collector-controller"));
        assert_eq!(options.authorization_mode, [AuthorizationMode::ALWAYS_DENY, KEYS]);
        assert_eq!(options.storage, SHELVES);
        let (options, _) = read(&with, &[]).unwrap();
        assert_eq!(options.authorization_mode, [KEYS]);
        assert_eq!(with.check_authorization_modes(&[KEYS, AuthorizationMode::ABAC]), Ok(()));

        let without = Program::of_test(&[]);
        assert!(read(&without, &["--shelf=top"]).is_err());
        assert!(read(&without, &["--authorization-mode=Keys"]).is_err());
        assert!(read(&without, &["--storage=shelves"]).is_err());
        let refused = read(&without, &["--controllers=restock"]).unwrap_err();
        assert!(
            refused.contains("unknown controller `restock`; there are: garbage-"),
            "{refused}"
        );
        command(&with).debug_assert();
        let help = help::in_sections(command(&with)).render_long_help().to_string();
        assert!(help.contains("\nWarehouse:\n      --shelf"), "{help}");
    }

    #[test]
    fn a_component_has_commands_and_feature_gates_of_its_own() {
        let with = Program::of_test(&[&Warehouse]);
        let parse = |program: &Program, words: &[&str]| {
            let parsed = command(program).try_get_matches_from(std::iter::once(&"test").chain(words));
            parsed.map_err(|error| error.to_string())
        };
        let matches = parse(&with, &["count-shelves", "north"]).unwrap();
        let (of_component, arguments) = command_of_component(&with, &matches).unwrap();
        let failed = of_component
            .run(arguments, Process::start().unwrap().runtime())
            .unwrap_err();
        assert_eq!(failed.to_string(), "there is no hall north");
        let matches = parse(&with, &["status"]).unwrap();
        assert!(command_of_component(&with, &matches).is_none());

        let features = |words: &[&str]| {
            let line = CommandLine::from_arg_matches(&parse(&with, words).unwrap()).unwrap();
            with.features(&line.options)
        };
        assert!(!features(&[]).enabled("Lockers"));
        assert!(features(&["--feature-gates=WatchList=false", "--feature-gates=Lockers=true"]).enabled("Lockers"));
        assert!(features(&["--feature-gates=AllAlpha=true"]).enabled("Lockers"));

        let without = Program::of_test(&[]);
        assert!(parse(&without, &["count-shelves", "north"]).is_err());
        let refused = parse(&without, &["--feature-gates=Lockers=true"]).unwrap_err();
        assert!(refused.contains("unrecognized feature gate: Lockers"), "{refused}");
    }

    #[test]
    fn the_printed_version_with_a_suffix_can_be_reported() {
        let printed = version_line(&Program::of_test(&[]));
        let version = printed.split_whitespace().nth(1).unwrap();
        assert_eq!(version, Version::default().git_version);
        let custom = format!("{version}-custom");
        assert_eq!(custom.parse(), Ok(VersionFlag::Reported(custom)));
        assert!(printed.ends_with(")") && printed.contains("(test "), "{printed}");
    }

    #[test]
    fn flags_of_the_server_and_commands_do_not_mix() {
        assert!(line(&["--secure-port=0"]).unwrap().command.is_none());
        assert!(line(&["status", "--data-dir=d"]).unwrap().command.is_some());
        assert!(line(&["--secure-port=0", "status"]).is_err());
        assert!(line(&["config"]).is_err());
    }
}
