//! `annalist serve`

use crate::args::ServeArgs;
use crate::error::CliError;
use crate::holder;
use crate::output::{Out, status};
use crate::place::Place;
use annalist_server::{Login, Options, Places, Server, StartError};
use std::env;
use std::io::Write as _;
use std::net::IpAddr;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// Threads for work that blocks: readers of the record, and files.
const BLOCKING: usize = 32;

pub(crate) fn run(args: &ServeArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    tracing_subscriber::fmt().with_max_level(args.log_level.level()).with_writer(std::io::stderr).with_target(false).init();
    let options = options(args)?;
    let store = place.open_or_make_to_serve()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING)
        .thread_keep_alive(Duration::from_secs(5))
        .build()?;
    let served = runtime.block_on(async {
        // Before the line that says we are here: who reads it may send a signal at once.
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let server = Server::bind(store, options).await.map_err(not_started)?;
        let address = server.address();
        let name = if address.is_ipv6() { format!("[{}]", address.ip()) } else { args.hostname.clone() };
        writeln!(out, "opencode server listening on http://{name}:{}", address.port())?;
        out.finish()?;
        let ended = async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        Ok(server.run(ended).await?)
    });
    // What a request that was given up left running must not hold the process.
    runtime.shutdown_timeout(Duration::from_secs(2));
    served
}

fn options(args: &ServeArgs) -> Result<Options, CliError> {
    let here = env::current_dir()?;
    let mut options = Options::new(here, Places::from_env());
    options.port = args.port;
    options.address = match args.hostname.as_str() {
        "localhost" => IpAddr::from([127, 0, 0, 1]),
        name => name.trim_matches(['[', ']']).parse().map_err(|_| CliError::NoAddress { name: name.to_owned() })?,
    };
    options.hostname = Some(args.hostname.clone());
    let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
    options.login = set("OPENCODE_SERVER_PASSWORD")
        .map(|password| Login { username: set("OPENCODE_SERVER_USERNAME").unwrap_or_else(|| "opencode".to_owned()), password });
    options.cors.clone_from(&args.cors);
    if options.login.is_none() {
        status("annalist: no password is set (OPENCODE_SERVER_PASSWORD); whoever reaches the port may read and write");
    }
    Ok(options)
}

fn not_started(error: StartError) -> CliError {
    match error.taken_port() {
        Some(port) => {
            CliError::PortTaken { port, holder: holder::of_port(port).map(|holder| format!(" by {holder}")).unwrap_or_default() }
        }
        None => CliError::Serve(error),
    }
}
