//! Messages on a byte stream: a header block, an empty line, a JSON body of `Content-Length` bytes.
//!
//! ```text
//! Content-Length: 52\r\n
//! \r\n
//! {"seq":1,"type":"request","command":"threads", … }
//! ```
//!
//! A [`Reader`] never gives up on a fault that it can read past: a header without a length, a body
//! that is too long, text that is not JSON. It reports the fault as an item and goes on with the
//! next header block. It never allocates what a length merely claims: the buffer grows with the
//! bytes that arrive. A message is written with one call, because a header and a body written
//! apart wait for each other's acknowledgement on a TCP connection.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};

use serde_json::Value;

/// The longest header block. Real ones are under 60 bytes.
const MAX_HEADER: usize = 8 * 1024;

/// The longest body. Real requests are under 100 kB; an evaluated expression could be larger.
const MAX_BODY: u64 = 32 * 1024 * 1024;

/// What was wrong with a message. The stream is still good.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The header block has no readable length.
    NoContentLength,
    /// The body is longer than we take.
    TooLong(u64),
    /// The body is not JSON.
    NotJson {
        /// What the parser said.
        reason: String,
        /// The sequence number that it seems to have, so that the client can be answered.
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
            Self::NotJson { reason, .. } => write!(f, "a message is not JSON: {reason}"),
        }
    }
}

/// Takes messages from a stream.
pub(crate) struct Reader<R> {
    input: BufReader<R>,
}

impl<R: Read> Reader<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input: BufReader::new(input) }
    }

    /// The next message; None at the end of the stream. An error means that the stream is lost.
    pub(crate) fn next(&mut self) -> io::Result<Option<Result<Value, Fault>>> {
        let length = match self.header()? {
            Header::End => return Ok(None),
            Header::NoLength => return Ok(Some(Err(Fault::NoContentLength))),
            Header::Length(length) => length,
        };
        let mut body = self.input.by_ref().take(length);
        if length > MAX_BODY {
            io::copy(&mut body, &mut io::sink())?;
            return Ok(Some(Err(Fault::TooLong(length))));
        }
        let mut bytes = Vec::new();
        body.read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < length {
            return Ok(None); // The peer left in the middle of a message.
        }
        let message = serde_json::from_slice(&bytes);
        Ok(Some(message.map_err(|error| Fault::NotJson {
            reason: error.to_string(),
            seq: salvaged_seq(&bytes),
        })))
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
                return if read < MAX_HEADER {
                    Ok(Header::End)
                } else {
                    let message = "the peer does not speak the Debug Adapter Protocol: its message \
                                   header does not end";
                    Err(io::Error::new(io::ErrorKind::InvalidData, message))
                };
            }
            let text = line.trim_ascii();
            if text.is_empty() {
                break;
            }
            length = length.or_else(|| content_length(text));
        }
        Ok(length.map_or(Header::NoLength, Header::Length))
    }
}

enum Header {
    End,
    NoLength,
    Length(u64),
}

/// The name may have anything before it: after a body that nobody knew the length of, the next
/// header begins in the middle of a line, and this is where the stream is found again.
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

/// Writes a message with one call and sends it off.
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
        let bytes = b"X-Client: a\ncontent-length : 2\nContent-Type: json\n\n{}";
        assert_eq!(messages(bytes), [Ok(json!({}))]);
    }

    #[test]
    fn a_fault_does_not_lose_the_messages_after_it() {
        let good = framed("[]");
        let endless = format!("Content-Length: {}\r\n\r\n", MAX_BODY + 1).into_bytes();
        let body = vec![b' '; usize::try_from(MAX_BODY).unwrap() + 1];
        let cases: [(Vec<u8>, Fault); 5] = [
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
        ];
        for (bytes, fault) in cases {
            let all = messages(&[bytes, good.clone()].concat());
            assert_eq!(all, [Err(fault), Ok(json!([]))]);
        }
    }

    #[test]
    fn a_stream_may_end_anywhere() {
        let bytes = framed("{\"seq\":1}");
        for end in 0..bytes.len() {
            assert_eq!(messages(&bytes[..end]), [], "cut at {end}");
        }
        assert_eq!(
            messages(b"Content-Length: 18446744073709551615\r\n\r\n{}"),
            [Err(Fault::TooLong(u64::MAX))]
        );
    }

    #[test]
    fn a_header_that_does_not_end_loses_the_stream() {
        let mut reader = Reader::new(io::repeat(b'x'));
        assert_eq!(reader.next().unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
