//! The `eigentone` command.
//!
//! Exit status: 0 done, 2 wrong usage, 1 anything else, with an error that names the file, what was wrong and what to do.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod files;
mod output;
mod progress;

use args::{Cli, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Demo(args) => commands::demo::run(&args),
        Command::Model(args) => commands::model::run(&args),
        Command::Shape(args) => commands::shape::run(&args),
        Command::Fit(args) => commands::fit::run(&args),
        Command::Strike(args) => commands::strike::run(&args),
        Command::Render(args) => commands::render::run(&args),
        Command::Play(args) => commands::play::run(&args),
        Command::Studio(args) => commands::studio::run(&args),
        Command::Bake(args) => commands::bake::run(&args),
        Command::Merge(args) => commands::bake::merge(&args),
        Command::Query(args) => commands::query::run(&args),
        Command::Inspect(args) => commands::inspect::run(&args),
        Command::Materials(args) => commands::materials::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::print_failure(&failure);
            failure.exit_code()
        }
    }
}
