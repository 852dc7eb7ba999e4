//! A child can compute on what it shares, and do nothing else. This program is both: with the
//! argument of children it serves as one, without arguments it tests them.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn main() {}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn main() {
    if std::env::args().nth(1).as_deref() == Some(sandbox::ARGUMENT) {
        child::serve();
        return;
    }
    let filter = std::env::args().nth(1).filter(|it| !it.starts_with('-')).unwrap_or_default();
    for (name, test) in owner::TESTS {
        if name.contains(&filter) {
            test();
            println!("test {name} ... ok");
        }
    }
}

/// What a child is asked to do: the first word of a request.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod requests {
    /// Adds one to the byte at an address, and answers what it is then.
    pub(super) const ADD: u64 = 1;
    /// Makes a system call of a number and three arguments, and answers with its result.
    pub(super) const CALL: u64 = 2;
    /// Answers when it is told to.
    pub(super) const WAIT: u64 = 3;
    /// Does not answer.
    pub(super) const SLEEP: u64 = 4;
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod child {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;
    use std::time::Duration;

    use sandbox::{Inside, Message, Requests};

    use super::requests;

    pub(super) fn serve() {
        let inside = Inside::enter().expect("an owner");
        let interrupted = Arc::new(AtomicU32::new(0));
        let (requests, seen) = (inside.requests(), interrupted.clone());
        thread::spawn(move || answer(requests, &seen));
        inside.close().expect("rules");
        while let Ok(message) = inside.receive() {
            match message {
                Message::Interrupt(number) => interrupted.store(number, Ordering::SeqCst),
                Message::Other(kind, bytes) => inside.send(kind + 1, &bytes).expect("an owner"),
            }
        }
    }

    fn answer(mut requests: Requests, interrupted: &AtomicU32) {
        while let Ok((number, words)) = requests.wait() {
            let answer = match words[..] {
                [requests::ADD, address] => {
                    let byte = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
                    // SAFETY: none; the owner may want a fault.
                    unsafe {
                        byte.write_volatile(byte.read_volatile().wrapping_add(1));
                        u64::from(byte.read_volatile())
                    }
                }
                [requests::CALL, call, first, second, third, fourth] => {
                    // SAFETY: none; the owner wants to see what happens.
                    let result = unsafe {
                        libc::syscall(call as i64, first, second, third, fourth, u64::MAX, 0)
                    };
                    result as u64
                }
                [requests::WAIT] => {
                    while interrupted.load(Ordering::SeqCst) != number {
                        thread::sleep(Duration::from_millis(1));
                    }
                    number.into()
                }
                _ => loop {
                    thread::sleep(Duration::from_secs(1));
                },
            };
            requests.answer(&[answer]);
        }
    }
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod owner {
    use std::os::unix::process::ExitStatusExt;
    use std::sync::Arc;
    use std::time::Instant;

    use sandbox::{Child, Gone, Program, Rights, SharedMemory};

    use super::requests;

    pub(super) const TESTS: [(&str, fn()); 6] = [
        ("memory_is_the_same_on_both_sides", memory_is_the_same_on_both_sides),
        ("only_what_is_allocated_can_be_accessed", only_what_is_allocated_can_be_accessed),
        ("other_system_calls_end_it", other_system_calls_end_it),
        ("arguments_that_reach_outside_end_it", arguments_that_reach_outside_end_it),
        ("it_answers_when_it_is_told_to_or_is_ended", it_answers_when_it_is_told_to_or_is_ended),
        ("messages_of_any_length_arrive", messages_of_any_length_arrive),
    ];

    fn start(memory: &Arc<SharedMemory>) -> Child {
        let file = std::env::current_exe().expect("this program");
        let program = Program { file, rights: Rights::Compute { memory: 1 << 30 } };
        Child::start(&program, memory).and_then(Child::closed).expect("a child")
    }

    fn ask(child: &Child, words: &[u64]) -> Result<u64, Gone> {
        child.call(words, &mut || false).map(|answer| answer[0])
    }

    /// The signal that ends a child which is asked this.
    fn signal(memory: &Arc<SharedMemory>, words: &[u64]) -> Option<i32> {
        match ask(&start(memory), words) {
            Err(Gone::Ended(status)) => status.signal(),
            _ => None,
        }
    }

    fn memory_is_the_same_on_both_sides() {
        let memory = SharedMemory::new().expect("memory");
        let child = start(&memory);
        let mut blocks = Vec::new();
        for round in 0..300_u64 {
            let block = memory.allocate(1 + 977 * round as usize, 64).expect("memory");
            let address = block.address();
            // SAFETY: it is the first byte of the block.
            unsafe { address.write_volatile(round as u8) };
            let request = [requests::ADD, address.as_ptr().expose_provenance() as u64];
            assert_eq!(ask(&child, &request).expect("an answer"), (round + 1) % 256);
            // SAFETY: as above.
            assert_eq!(unsafe { address.read_volatile() }, (round as u8).wrapping_add(1));
            blocks.push(block);
            if round % 5 == 4 {
                blocks.remove(blocks.len() / 2);
            }
            if round == 250 {
                blocks.clear();
            }
        }
    }

    fn only_what_is_allocated_can_be_accessed() {
        let memory = SharedMemory::new().expect("memory");
        let guarded = memory.allocate_guarded(4096, 8192).expect("memory");
        let start_of = guarded.address().as_ptr().expose_provenance() as u64;
        let child = start(&memory);
        assert_eq!(ask(&child, &[requests::ADD, start_of + 8192]).expect("an answer"), 1);
        for place in [start_of, start_of + 8191, start_of + 8192 + 4096, start_of + (1 << 30)] {
            assert_eq!(signal(&memory, &[requests::ADD, place]), Some(libc::SIGSEGV), "{place:#x}");
        }
        // Once the guards are free, they are memory like any other.
        drop(guarded);
        assert_eq!(ask(&child, &[requests::ADD, start_of]).expect("an answer"), 1);
    }

    /// Calls that concern only the process itself.
    const ALLOWED: [i64; 27] = [
        libc::SYS_read,
        libc::SYS_write,
        libc::SYS_mmap,
        libc::SYS_mprotect,
        libc::SYS_munmap,
        libc::SYS_brk,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sched_yield,
        libc::SYS_mremap,
        libc::SYS_madvise,
        libc::SYS_nanosleep,
        libc::SYS_getpid,
        libc::SYS_sigaltstack,
        libc::SYS_prctl,
        libc::SYS_arch_prctl,
        libc::SYS_gettid,
        libc::SYS_futex,
        libc::SYS_sched_getaffinity,
        libc::SYS_restart_syscall,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_tgkill,
        libc::SYS_set_robust_list,
        libc::SYS_getrandom,
        libc::SYS_rseq,
    ];

    fn other_system_calls_end_it() {
        let memory = SharedMemory::new().expect("memory");
        let own = ask(&start(&memory), &call(libc::SYS_getpid, [0; 4])).expect("an answer");
        assert!(own > 1);
        // More than there are today, and those of the other interface for 64 bits.
        let all = (0..480).chain([0x4000_0000, 0x4000_0029]);
        // The kernel excepts those of its own probes from all filters; elsewhere they do nothing.
        let all = all.filter(|number| !matches!(number, 335 | 336));
        for number in all.filter(|number| !ALLOWED.contains(number)) {
            let found = signal(&memory, &call(number, [0; 4]));
            assert_eq!(found, Some(libc::SIGSYS), "system call {number}");
        }
    }

    fn call(number: i64, arguments: [u64; 4]) -> Vec<u64> {
        [&[requests::CALL, number as u64][..], &arguments].concat()
    }

    fn arguments_that_reach_outside_end_it() {
        let memory = SharedMemory::new().expect("memory");
        let (read, shared) = (libc::PROT_READ as u64, libc::MAP_SHARED as u64);
        let anonymous = libc::MAP_ANONYMOUS as u64;
        let owner = u64::from(std::process::id());
        let set = [0x1001, 0, 0, 0];
        for (number, arguments) in [
            (libc::SYS_read, [0, 0, 0, 0]),
            (libc::SYS_write, [1, 0, 0, 0]),
            (libc::SYS_write, [2, 0, 0, 0]),
            (libc::SYS_mmap, [0, 4096, read, shared | anonymous]),
            (libc::SYS_mmap, [0, 4096, read, libc::MAP_PRIVATE as u64]),
            (libc::SYS_madvise, [0, 0, libc::MADV_HWPOISON as u64, 0]),
            (libc::SYS_madvise, [0, 0, libc::MADV_REMOVE as u64, 0]),
            (libc::SYS_tgkill, [owner, owner, 0, 0]),
            (libc::SYS_prctl, [libc::PR_SET_DUMPABLE as u64, 1, 0, 0]),
            (libc::SYS_prctl, [libc::PR_SET_PDEATHSIG as u64, 0, 0, 0]),
            (libc::SYS_arch_prctl, set),
        ] {
            let found = signal(&memory, &call(number, arguments));
            assert_eq!(found, Some(libc::SIGSYS), "system call {number} {arguments:?}");
        }
        // Memory of its own has a bound: 2 GiB where 1 is allowed.
        let rights = (libc::PROT_READ | libc::PROT_WRITE) as u64;
        let private = libc::MAP_PRIVATE as u64 | anonymous;
        let request = call(libc::SYS_mmap, [0, 2 << 30, rights, private]);
        let found = ask(&start(&memory), &request).expect("an answer");
        assert_eq!(found as i64, -1);
    }

    fn it_answers_when_it_is_told_to_or_is_ended() {
        let memory = SharedMemory::new().expect("memory");
        let child = start(&memory);
        let began = Instant::now();
        let mut is_stopping = || began.elapsed().as_millis() > 20;
        let answer = child.call(&[requests::WAIT], &mut is_stopping).expect("an answer");
        assert_eq!(answer, [1]);
        let found = child.call(&[requests::SLEEP], &mut || true);
        assert!(matches!(found, Err(Gone::Silent)), "{found:?}");
    }

    fn messages_of_any_length_arrive() {
        let memory = SharedMemory::new().expect("memory");
        let child = start(&memory);
        for length in [0, 1, 8, 9, 5_000, 3 << 20] {
            let bytes: Vec<u8> = (0..length).map(|at| at as u8).collect();
            std::thread::scope(|scope| {
                scope.spawn(|| child.send(7, &bytes).expect("it listens"));
                let (kind, found) = child.receive(&mut || false).expect("it answers");
                assert!(kind == 8 && found == bytes, "{length} bytes");
            });
        }
    }
}
