//! `eigentone studio`.

use crate::args::StudioArgs;
use crate::output::{self, Failure};
use eigentone::scene::cache::ModelCache;
use eigentone_studio::{Options, StartError, Studio};
use serde_json::json;
use std::process::{Command, Stdio};

pub fn run(args: &StudioArgs) -> Result<(), Failure> {
    let studio = Studio::start(Options {
        scene: args.scene.clone(),
        port: args.port,
        page_dir: args.page_dir.clone(),
        cache: if args.no_cache { ModelCache::none() } else { ModelCache::standard() },
        home: None,
    })
    .map_err(|error| match error {
        StartError::Scene(error) => Failure::from(error),
        other => Failure::Other(other.to_string()),
    })?;
    let stopper = studio.stopper();
    // Without a handler ctrl-c ends the program at once; unsaved work has then been kept up to a few seconds before.
    let _ = ctrlc::set_handler(move || stopper.stop());
    let url = studio.url();
    if args.json {
        output::say_json(&json!({ "url": url, "port": studio.address().port(), "token": studio.token() }));
    } else {
        output::say(format_args!("studio: {url}"));
        output::say(format_args!("ctrl-c ends it; the address is for this machine and this run only"));
    }
    if !args.no_open {
        open(&url);
    }
    studio.wait();
    Ok(())
}

/// Opens a browser, where there is one.
fn open(url: &str) {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(target_os = "windows") {
        let mut command = Command::new("cmd");
        command.args(["/c", "start", ""]);
        command
    } else if ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some_and(|v| !v.is_empty())) {
        Command::new("xdg-open")
    } else {
        return;
    };
    // The address has been printed: whoever has no browser here opens it elsewhere.
    let _ = command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}
