//! Messages on a byte stream: a header block, an empty line, a JSON body of `Content-Length` bytes.
//!
//! ```text
//! Content-Length: 52\r\n
//! \r\n
//! {"seq":1,"type":"request","command":"threads", … }
//! ```
//!
//! A [`Reader`] never gives up on a fault that it can read past: a header without a length, a body
//! that is too long, text that is not JSON. It reports the fault as an item and continues with the
//! next header block. It gives up, with an error that says why, where it cannot continue: the first
//! header block is not one of this protocol (for instance an HTTP request from a web page), headers
//! do not end, two lengths contradict each other, or a body would take forever to skip.
//!
//! It never allocates what a length merely claims: the buffer grows with the bytes that arrive.
//! [`write()`] sends a message with one call. On a TCP connection, a body that is written after its
//! header would wait until the peer acknowledges the header.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};

use serde_json::Value;

/// The longest header block. Real ones are under 60 bytes.
const MAX_HEADER: usize = 8 * 1024;

/// The longest body. Real requests are under 100 kB; an evaluated expression could be larger.
const MAX_BODY: u64 = 32 * 1024 * 1024;

/// The longest body that is skipped. A longer one ends the stream.
const MAX_SKIPPED: u64 = 1 << 30;

/// The most commas, colons and brackets in a body: each may begin a value, which takes up to a
/// hundred times the memory of its text. Real requests have thousands.
const MAX_VALUES: usize = 500_000;

/// A fault of one message. The stream is still good.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The header block has no readable length.
    NoContentLength,
    /// The body is longer than [`MAX_BODY`]; its length.
    TooLong(u64),
    /// The body has more values than [`MAX_VALUES`]; their number.
    TooMany(usize),
    /// The body is not JSON.
    NotJson {
        /// The parser's message.
        reason: String,
        /// The sequence number that it seems to have, for the answer to the client.
        seq: Option<i64>,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoContentLength => {
                f.write_str("a message header has no readable Content-Length; it was skipped")
            }
            Self::TooLong(length) => {
                write!(f, "a message of {length} bytes was skipped; the limit is {MAX_BODY}")
            }
            Self::TooMany(count) => {
                write!(f, "a message of {count} values was skipped; the limit is {MAX_VALUES}")
            }
            Self::NotJson { reason, .. } => write!(f, "a message is not JSON: {reason}"),
        }
    }
}

/// Reads messages from a stream.
pub(crate) struct Reader<R> {
    input: BufReader<R>,
    /// Whether a header block of this protocol has arrived.
    is_begun: bool,
    /// Bytes of a too long body that are still to be skipped.
    unread: u64,
    /// Bytes of the last message's body.
    length: usize,
}

impl<R: Read> Reader<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input: BufReader::new(input), is_begun: false, unread: 0, length: 0 }
    }

    /// The stream that this reads from.
    pub(crate) fn stream(&mut self) -> &mut R {
        self.input.get_mut()
    }

    /// The next message, or its fault; None at the end of the stream.
    ///
    /// # Errors
    /// Reading fails, or the peer does not speak this protocol (`InvalidData`). The stream is lost.
    pub(crate) fn next(&mut self) -> io::Result<Option<Result<Value, Fault>>> {
        self.skip()?;
        let length = match self.header()? {
            Header::End => return Ok(None),
            Header::NoLength => return Ok(Some(Err(Fault::NoContentLength))),
            Header::Length(length) => length,
        };
        if length > MAX_SKIPPED {
            return Err(lost(&format!("a message claims to have {length} bytes")));
        }
        if length > MAX_BODY {
            // Skipped by the next call, when the client has its answer.
            self.unread = length;
            return Ok(Some(Err(Fault::TooLong(length))));
        }
        let mut bytes = Vec::new();
        self.input.by_ref().take(length).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < length {
            return Ok(None); // The peer left in the middle of a message.
        }
        self.length = bytes.len();
        Ok(Some(message(&bytes)))
    }

    /// How many bytes the last message's body has.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    fn skip(&mut self) -> io::Result<()> {
        let unread = std::mem::take(&mut self.unread);
        if unread > 0 {
            io::copy(&mut self.input.by_ref().take(unread), &mut io::sink())?;
        }
        Ok(())
    }

    fn header(&mut self) -> io::Result<Header> {
        let mut length = None;
        let mut read = 0;
        let mut line = Vec::new();
        loop {
            line.clear();
            let room = (MAX_HEADER - read) as u64;
            read += self.input.by_ref().take(room).read_until(b'\n', &mut line)?;
            if line.last() != Some(&b'\n') {
                if read < MAX_HEADER {
                    return Ok(Header::End);
                }
                return Err(lost(&format!("a message header does not end within {read} bytes")));
            }
            let text = line.trim_ascii();
            if text.is_empty() {
                break;
            }
            if !self.is_begun && !is_field(text) {
                let shown = String::from_utf8_lossy(&text[..text.len().min(40)]);
                return Err(lost(&format!("its first message begins with {shown:?}")));
            }
            let found = content_length(text);
            if length.is_some() && found.is_some() && length != found {
                return Err(lost("a message has two lengths"));
            }
            length = length.or(found);
        }
        self.is_begun |= length.is_some();
        Ok(length.map_or(Header::NoLength, Header::Length))
    }
}

/// The error for a peer that does not speak this protocol.
fn lost(why: &str) -> io::Error {
    let text = format!("the peer does not speak the Debug Adapter Protocol: {why}");
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// The message of a body.
fn message(bytes: &[u8]) -> Result<Value, Fault> {
    let begins_value = |byte: &&u8| matches!(byte, b',' | b':' | b'[' | b'{');
    let values = bytes.iter().filter(begins_value).count();
    if values > MAX_VALUES {
        return Err(Fault::TooMany(values));
    }
    serde_json::from_slice(bytes)
        .map_err(|error| Fault::NotJson { reason: error.to_string(), seq: salvaged_seq(bytes) })
}

/// Whether a line is one of the protocol's header fields. The first line of HTTP is not, nor are
/// `Host` and `Origin`, at least one of which every browser sends.
fn is_field(line: &[u8]) -> bool {
    let Some(end) = line.iter().position(|byte| *byte == b':') else { return false };
    let name = line[..end].trim_ascii();
    name.eq_ignore_ascii_case(b"Content-Length") || name.eq_ignore_ascii_case(b"Content-Type")
}

enum Header {
    End,
    NoLength,
    Length(u64),
}

/// The value of a `Content-Length` field. Anything may precede the name: after a body of unknown
/// length the next header begins in the middle of a line, and this finds it.
fn content_length(line: &[u8]) -> Option<u64> {
    const NAME: &[u8] = b"content-length";
    let is_name = |window: &[u8]| window.eq_ignore_ascii_case(NAME);
    let start = line.windows(NAME.len()).rposition(is_name)?;
    let value = line[start + NAME.len()..].trim_ascii_start().strip_prefix(b":")?;
    str::from_utf8(value).ok()?.trim().parse().ok()
}

/// The number after the first `"seq":` of a broken message.
fn salvaged_seq(body: &[u8]) -> Option<i64> {
    const KEY: &[u8] = b"\"seq\"";
    let start = body.windows(KEY.len()).position(|window| window == KEY)?;
    let value = body[start + KEY.len()..].trim_ascii_start().strip_prefix(b":")?;
    let value = value.trim_ascii_start();
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    str::from_utf8(&value[..digits]).ok()?.parse().ok()
}

/// Writes a message with one call and flushes it.
pub(crate) fn write(output: &mut impl Write, body: &[u8]) -> io::Result<()> {
    let mut message = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    message.extend_from_slice(body);
    output.write_all(&message)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn messages(bytes: &[u8]) -> Vec<Result<Value, Fault>> {
        let mut reader = Reader::new(bytes);
        std::iter::from_fn(|| reader.next().unwrap()).collect()
    }

    fn framed(body: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, body.as_bytes()).unwrap();
        bytes
    }

    #[test]
    fn messages_are_read_one_by_one() {
        let bytes = [framed("{\"a\":1}"), framed("\"\u{e9}\"")].concat();
        assert_eq!(bytes[..21], *b"Content-Length: 7\r\n\r\n");
        assert_eq!(messages(&bytes), [Ok(json!({"a": 1})), Ok(json!("\u{e9}"))]);
    }

    #[test]
    fn header_names_are_read_in_any_case_and_others_are_ignored() {
        let bytes = b"content-length : 2\nContent-Type: json\n\n{}X: a\nContent-length: 2\n\n[]";
        assert_eq!(messages(bytes), [Ok(json!({})), Ok(json!([]))]);
    }

    #[test]
    fn a_fault_does_not_lose_the_messages_after_it() {
        let good = framed("[]");
        let endless = format!("Content-Length: {}\r\n\r\n", MAX_BODY + 1).into_bytes();
        let body = vec![b' '; usize::try_from(MAX_BODY).unwrap() + 1];
        let values = format!("[{}0]", "0,".repeat(MAX_VALUES));
        let deep = "[".repeat(10_000);
        let cases: [(Vec<u8>, Fault); 7] = [
            (b"Content-Size: 3\r\n\r\n".to_vec(), Fault::NoContentLength),
            (b"Content-Size: 3\r\n\r\n{ }".to_vec(), Fault::NoContentLength),
            (b"Content-Length: -3\r\n\r\n".to_vec(), Fault::NoContentLength),
            (
                framed("{\"seq\" : 12,"),
                Fault::NotJson {
                    reason: "EOF while parsing a value at line 1 column 12".into(),
                    seq: Some(12),
                },
            ),
            ([endless, body].concat(), Fault::TooLong(MAX_BODY + 1)),
            (framed(&values), Fault::TooMany(MAX_VALUES + 1)),
            (
                framed(&deep),
                Fault::NotJson {
                    reason: "recursion limit exceeded at line 1 column 128".into(),
                    seq: None,
                },
            ),
        ];
        for (bytes, fault) in cases {
            let all = messages(&[good.clone(), bytes, good.clone()].concat());
            assert_eq!(all, [Ok(json!([])), Err(fault), Ok(json!([]))]);
        }
    }

    #[test]
    fn a_stream_may_end_anywhere() {
        let bytes = framed("{\"seq\":1}");
        for end in 0..bytes.len() {
            assert_eq!(messages(&bytes[..end]), [], "cut at {end}");
        }
    }

    /// Why a stream that begins with these bytes is lost.
    fn lost_for(bytes: impl Read) -> String {
        let mut reader = Reader::new(bytes);
        loop {
            match reader.next() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the stream is good"),
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
                    let text = error.to_string();
                    let (_, why) = text.split_once("Debug Adapter Protocol: ").unwrap();
                    return why.to_owned();
                }
            }
        }
    }

    #[test]
    fn what_is_not_the_protocol_loses_the_stream() {
        let good = framed("[]");
        let huge = b"Content-Length: 1000000000000000000\r\n\r\n{}".to_vec();
        let twice = b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ".to_vec();
        assert_eq!(lost_for(io::repeat(b'x')), "a message header does not end within 8192 bytes");
        assert_eq!(lost_for(&huge[..]), "a message claims to have 1000000000000000000 bytes");
        assert_eq!(lost_for(&[good, twice].concat()[..]), "a message has two lengths");
        for first in ["POST / HTTP/1.1", "GET /x HTTP/1.1", "Host: a", "Origin: http://a", "{}"] {
            let request = format!("{first}\r\nContent-Length: 2\r\n\r\n{{}}");
            let expected = format!("its first message begins with {first:?}");
            assert_eq!(lost_for(request.as_bytes()), expected);
        }
        let between = b"Content-Length: 2\r\nOrigin: null\r\n\r\n{}";
        assert_eq!(lost_for(&between[..]), "its first message begins with \"Origin: null\"");
    }

    #[test]
    fn a_body_that_is_too_long_is_reported_before_it_arrives() {
        let claim = format!("Content-Length: {}\r\n\r\n", MAX_BODY + 1);
        let mut reader = Reader::new(claim.as_bytes());
        assert_eq!(reader.next().unwrap(), Some(Err(Fault::TooLong(MAX_BODY + 1))));
        assert_eq!(reader.next().unwrap(), None);
    }
}
