//! What a child may do: the system calls that computing and talking to the owner take, and no
//! others.
//!
//! Machine code in the child may do all that these rules allow, with any arguments that they allow.
//! None of it reaches outside of the child: its own memory, its own threads, and the socket, whose
//! other end expects anything.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;

use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetStatus, Scope};
use rustix::process::{Resource, Rlimit, setrlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// Calls that are allowed with any arguments: they concern the child's own memory and threads.
const ALWAYS: [i64; 20] = [
    libc::SYS_brk,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_restart_syscall,
    // By which the handler of a fault of our own ends the process.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_rseq,
];

/// An argument and what it must be: its place, the bits that count, their value.
type Condition = (u8, u64, u64);

/// Reading and setting of FS, by `arch_prctl`.
const FS: [u64; 2] = [0x1002, 0x1003];

/// Takes files, networks and signals to other processes from this thread and those that it starts.
/// Systems without Landlock, or with an early one, leave it to the system calls.
pub(crate) fn restrict_files() -> Result<bool, Box<dyn Error + Send + Sync>> {
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(ABI::V5))?
        .handle_access(AccessNet::from_all(ABI::V5))?
        .scope(Scope::from_all(ABI::V6))?
        .create()?
        .restrict_self()?;
    Ok(status.ruleset != RulesetStatus::NotEnforced)
}

/// Bounds the memory that is the child's own, and leaves no image of it where it fails.
pub(crate) fn limit(bytes: u64) -> io::Result<()> {
    let most = |value| Rlimit { current: Some(value), maximum: Some(value) };
    setrlimit(Resource::Core, most(0))?;
    setrlimit(Resource::Data, most(bytes))?;
    Ok(())
}

/// Leaves all threads of this process the system calls above, reading and writing of `stream`, and
/// signals to the process itself.
pub(crate) fn restrict_calls(stream: u64) -> Result<(), Box<dyn Error + Send + Sync>> {
    let filter = SeccompFilter::new(
        rules(stream, std::process::id().into())?,
        SeccompAction::Trap,
        SeccompAction::Allow,
        TargetArch::x86_64,
    )?;
    let program: BpfProgram = filter.try_into()?;
    Ok(seccompiler::apply_filter_all_threads(&program)?)
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

fn rules(stream: u64, own: u64) -> Result<Rules, seccompiler::BackendError> {
    /// All bits of a number of 32.
    const NUMBER: u64 = 0xFFFF_FFFF;
    let private = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64;
    let [dontneed, free] = [libc::MADV_DONTNEED, libc::MADV_FREE].map(|advice| advice as u64);
    let conditional: [(i64, &[&[Condition]]); 7] = [
        (libc::SYS_read, &[&[(0, NUMBER, stream)]]),
        (libc::SYS_write, &[&[(0, NUMBER, stream)]]),
        // New memory only, of no file, and counted.
        (libc::SYS_mmap, &[&[(3, private, private)]]),
        (libc::SYS_madvise, &[&[(2, NUMBER, dontneed)], &[(2, NUMBER, free)]]),
        (libc::SYS_tgkill, &[&[(0, NUMBER, own)]]),
        // Threads that have just started take their names.
        (libc::SYS_prctl, &[&[(0, NUMBER, libc::PR_SET_NAME as u64)]]),
        (libc::SYS_arch_prctl, &[&[(0, NUMBER, FS[0])], &[(0, NUMBER, FS[1])]]),
    ];
    let mut rules: Rules = ALWAYS.map(|call| (call, Vec::new())).into();
    for (call, alternatives) in conditional {
        let alternatives = alternatives.iter().map(|all| SeccompRule::new(conditions(all)?));
        rules.insert(call, alternatives.collect::<Result<_, _>>()?);
    }
    Ok(rules)
}

fn conditions(all: &[Condition]) -> Result<Vec<SeccompCondition>, seccompiler::BackendError> {
    let condition = |(index, mask, value): &Condition| {
        let operator = SeccompCmpOp::MaskedEq(*mask);
        SeccompCondition::new(*index, SeccompCmpArgLen::Qword, operator, *value)
    };
    all.iter().map(condition).collect()
}
