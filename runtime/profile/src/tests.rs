use super::bytes::Bytes;
use super::layout::{CHUNK, CLOCK_ROW, CLOCKS, DISPATCH_EVENT_ROW, DISPATCH_EVENTS, NONE};
use super::*;

fn profile() -> Profile {
    let function = |ordinal, name: &str| Function {
        executable: 1,
        ordinal,
        name: name.to_owned(),
        constants: 1,
        bindings: 2,
        workgroup_size: [1, 1, 1],
    };
    let dispatch = |ordinal, start, end| Span {
        work: Work::Dispatch { executable: 1, ordinal, workgroup_count: [4, 2, 1] },
        command_index: Some(3),
        start,
        end,
    };
    let fill = Span { work: Work::Fill { bytes: 64 }, command_index: None, start: 1000, end: 1010 };
    Profile {
        device: "local-sync".to_owned(),
        functions: vec![function(0, "first"), function(1, "second")],
        spans: vec![
            dispatch(0, 1100, 1150),
            fill,
            dispatch(1, 1200, 1207),
            dispatch(0, 1300, 1310),
        ],
    }
}

#[test]
fn what_is_written_is_read() {
    let written = profile().to_bytes();
    assert_eq!(Profile::parse(&written), Ok(profile()));
    let read = profile();
    let times = read.times();
    assert_eq!(times["first"], FunctionTimes { count: 2, total: 60, longest: 50 });
    assert_eq!(times["second"], FunctionTimes { count: 1, total: 7, longest: 7 });
}

#[test]
fn a_command_buffer_begins_where_places_do_not_go_on() {
    let span =
        |command_index| Span { work: Work::Fill { bytes: 4 }, command_index, start: 0, end: 1 };
    let spans = [Some(0), Some(2), None, Some(3), Some(3), Some(0), Some(1)].map(span);
    assert_eq!(command_buffers::numbers(&spans), [1, 1, 0, 1, 2, 3, 3]);
    assert_eq!(command_buffers::rows(&[1, 0, 2]).0.len(), 96);
}

#[test]
fn damaged_files_are_refused_and_never_panic() {
    let written = profile().to_bytes();
    assert_eq!(Profile::parse(b"PK\x03\x04"), Err(ProfileError::Magic));
    for end in 24..written.len() {
        assert!(Profile::parse(&written[..end]).is_err(), "{end}");
    }
    for at in 0..written.len() {
        for value in [0, 0x7f, 0xff] {
            let mut damaged = written.clone();
            damaged[at] = value;
            let _ = Profile::parse(&damaged);
        }
    }
    // A recorder that was killed has not stated the length.
    let mut unfinished = written.clone();
    unfinished[16..24].fill(0);
    assert_eq!(Profile::parse(&unfinished), Ok(profile()));
    unfinished.truncate(written.len() - 200);
    assert!(Profile::parse(&unfinished).is_ok());
}

/// A file in which a device has measured itself, with ticks of two nanoseconds.
fn ticked(has_clock: bool) -> Vec<u8> {
    let mut file = Bytes(profile().to_bytes());
    file.0[16..24].fill(0);
    let mut event = Bytes::default();
    event.all(&[DISPATCH_EVENT_ROW, 0]);
    [7, 0, 0, 1].into_iter().for_each(|it| event.u64(it));
    event.all(&[NONE, 1, 4, 2, 1, 1, 1, 1]);
    event.u64(150);
    event.u64(160);
    file.record(CHUNK, DISPATCH_EVENTS, "gpu", &event.0);
    let mut clocks = Bytes::default();
    for (tick, time) in [(100, 5000), (200, 5200)] {
        clocks.all(&[CLOCK_ROW, 3, NONE, 0]);
        [0, tick, time, 0, 0, 0, 0].into_iter().for_each(|it| clocks.u64(it));
    }
    if has_clock {
        file.record(CHUNK, CLOCKS, "gpu", &clocks.0);
    }
    file.0
}

#[test]
fn ticks_of_a_device_are_told_by_its_clock() {
    let read = Profile::parse(&ticked(true)).expect("is read");
    let last = read.spans.last().expect("is there");
    assert_eq!((last.start, last.end), (5100, 5120));
    assert_eq!(read.times()["second"], FunctionTimes { count: 2, total: 27, longest: 20 });
    assert_eq!(Profile::parse(&ticked(false)), Err(ProfileError::NoClock));
}
