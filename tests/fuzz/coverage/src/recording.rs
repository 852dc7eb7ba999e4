//! A recorded run is inspected and gives its launch, or is refused. The first byte of each chunk of
//! the input is its tag, so that the fuzzer need not find checksums: they are made here.
#![no_main]

use std::io::Write as _;

use libfuzzer_sys::fuzz_target;
use recording::Recorded;

const TAGS: [&[u8; 4]; 6] = [b"FILE", b"LNCH", b"PART", b"END ", b"ABOU", b"RSLT"];

/// Where a chunk of the input ends.
const SEPARATOR: &[u8] = b"\0\0\xff\xff";

fuzz_target!(|bytes: &[u8]| {
    let mut file = b"IREEDBGR\x01\0\0\0\0\0\0\0".to_vec();
    let mut rest = bytes;
    while let [tag, after @ ..] = rest {
        let end = after.windows(SEPARATOR.len()).position(|it| it == SEPARATOR);
        let payload = &after[..end.unwrap_or(after.len())];
        rest = end.map_or(&[], |end| &after[end + SEPARATOR.len()..]);
        let tag = TAGS[usize::from(*tag) % TAGS.len()];
        let length = (payload.len() as u64).to_le_bytes();
        let checksum = crc32fast::hash(&[&tag[..], &length, payload].concat()).to_le_bytes();
        [&tag[..], &checksum, &length, payload].iter().for_each(|it| file.extend(*it));
    }
    let mut kept = tempfile::NamedTempFile::new().expect("a file");
    kept.write_all(&file).expect("there is room");
    let Ok(recorded) = Recorded::open(kept.path()) else { return };
    let _ = (recorded.summary(), recorded.inspect(), recorded.modules());
    let _ = recorded.launch_options(Default::default());
});
