//! A server on its own: `cargo run --example server -- DIRECTORY [PORT]`. It prints its address and runs until its
//! standard input ends.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is a program for the terminal")]

use std::io::Read;

use ottla_zookeeper::Server;

fn main() -> Result<(), ottla_zookeeper::Error> {
    let mut arguments = std::env::args().skip(1);
    let Some(directory) = arguments.next() else {
        eprintln!("usage: server DIRECTORY [PORT]");
        std::process::exit(2);
    };
    let port = arguments.next().and_then(|port| port.parse().ok()).unwrap_or(0);
    let server = match directory.as_str() {
        "memory" => Server::builder().in_memory().port(port).start()?,
        _ => Server::builder().data_dir(directory).port(port).start()?,
    };
    println!("{}", server.local_addr());
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input).ok();
    server.stop()
}
