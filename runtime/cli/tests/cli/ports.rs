//! Who can reach a port: this machine only, and clients with a token that cannot be guessed.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use support::text;

use crate::program::IREE_DBG;

#[test]
fn a_port_that_other_machines_reach_is_asked_for() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let module = concat!(env!("CARGO_MANIFEST_DIR"), "/example/newton.vmfb");
    for address in ["0.0.0.0:0", "[::]:0"] {
        let listen = format!("--listen={address}");
        let attach: &[&str] =
            &["run", "--module", module, "--function=main", "--input=2.0", "--input=5", &listen];
        for arguments in [&["dap", &listen], attach] {
            let output = IREE_DBG.run(folder.path(), arguments);
            let errors = text(&output.stderr);
            assert!(!output.status.success(), "{arguments:?}");
            assert!(errors.contains("add --allow-remote"), "{arguments:?}: {errors}");
        }
        // Without a token, it cannot be asked for.
        let both = ["dap", &listen, "--allow-remote", "--no-token"];
        let output = IREE_DBG.run(folder.path(), &both);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    }
}

/// 128 bits, others each time.
#[test]
fn tokens_cannot_be_guessed() {
    let mut tokens = BTreeSet::new();
    for _ in 0..8 {
        let mut server = IREE_DBG
            .command()
            .args(["dap", "--listen=127.0.0.1:0"])
            .env_remove("IREE_DBG_TOKEN")
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        let errors = BufReader::new(server.stderr.take().expect("it is piped"));
        let token = errors
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("token: ").map(str::to_owned));
        server.kill().expect("it is ours");
        server.wait().expect("it is ours");
        let token = token.expect("it says its token");
        assert!(token.len() == 32 && token.bytes().all(|it| it.is_ascii_hexdigit()), "{token}");
        tokens.insert(token);
    }
    assert_eq!(tokens.len(), 8, "{tokens:?}");
    // No half of it is always the same.
    for half in [0..16, 16..32] {
        let halves: BTreeSet<&str> = tokens.iter().map(|it| &it[half.clone()]).collect();
        assert_eq!(halves.len(), 8, "{tokens:?}");
    }
}
