//! Who may get a program: the token that a client gives, and the addresses that it may come from.
//!
//! Any program on this machine can connect to a port, and so can, through a browser, any web page
//! that is open here. So `launch` and `attach`, which start or show a program, ask for the
//! [`Token`] besides a proper beginning of the protocol.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

/// A secret that a client has to give. The adapter prints it where it was started.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A token of 128 random bits.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// A token of the user's choice; none if the text is empty.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// Whether a client gave this token. The time that takes does not depend on where they differ.
    pub(crate) fn matches(&self, given: &str) -> bool {
        let pairs = self.0.bytes().zip(given.bytes());
        let differ = pairs.fold(0, |differ, (ours, theirs)| differ | (ours ^ theirs));
        self.0.len() == given.len() && differ == 0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Where clients may come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// From this machine.
    Loopback,
    /// From anywhere.
    Network,
}

/// The addresses that a text names.
///
/// # Errors
/// The text names none, or other machines would reach one against `reach`.
pub(crate) fn reachable(address: impl ToSocketAddrs, reach: Reach) -> io::Result<Vec<SocketAddr>> {
    let addresses: Vec<SocketAddr> = address.to_socket_addrs()?.collect();
    let open = addresses.iter().find(|address| !address.ip().is_loopback());
    match open {
        Some(open) if reach == Reach::Loopback => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("other machines reach {}, and the connection is not encrypted", open.ip()),
        )),
        _ => Ok(addresses),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_whole_or_nothing() {
        let token = Token::random().unwrap();
        let text = token.to_string();
        assert_eq!(text.len(), 32);
        assert_ne!(token, Token::random().unwrap());
        assert!(token.matches(&text));
        for wrong in ["", &text[..31], &format!("{text}0"), &"0".repeat(32)] {
            assert!(!token.matches(wrong), "{wrong}");
        }
        assert!(Token::new("").is_none());
        assert!(!format!("{token:?}").contains(&text));
    }

    #[test]
    fn other_machines_are_kept_out_unless_asked_for() {
        for open in ["0.0.0.0:1", "[::]:1", "192.0.2.7:1"] {
            let error = reachable(open, Reach::Loopback).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            assert_eq!(reachable(open, Reach::Network).unwrap().len(), 1);
        }
        for closed in ["127.0.0.1:1", "[::1]:1"] {
            assert_eq!(reachable(closed, Reach::Loopback).unwrap().len(), 1);
        }
    }
}
