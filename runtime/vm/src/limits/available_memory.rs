//! The default bound on a program's memory: half of the memory that is available when the process
//! begins. A program that wants too much then fails without taking the machine down.
//!
//! Available is what the system reports, or what is left in each control group of the process if
//! that is less: a container has less than its machine.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// The bytes to assume if the system does not tell.
const UNKNOWN: u64 = 8 << 30;

/// What small programs need, however full the machine is.
const LEAST: u64 = 256 << 20;

/// The bytes that a program may use, unless someone says otherwise: half of what was available when
/// this process began.
#[must_use]
pub fn default_memory() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let there = available(Path::new("/")).unwrap_or(UNKNOWN);
        usize::try_from((there / 2).max(LEAST)).unwrap_or(usize::MAX)
    })
}

/// The available bytes of a system whose files are below `root`.
fn available(root: &Path) -> Option<u64> {
    let system = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let system = field(&system, "MemAvailable:")?.saturating_mul(1024);
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let left = groups.lines().filter_map(|line| left_in(root, line)).min();
    Some(left.map_or(system, |left| left.min(system)))
}

/// The bytes that are left in the control group of a line like `0::/user.slice/x` and in all its
/// parents.
fn left_in(root: &Path, line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let (mount, limit, used) = match controllers {
        "" => ("sys/fs/cgroup", "memory.max", "memory.current"),
        _ if controllers.split(',').any(|it| it == "memory") => {
            ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
        }
        _ => return None,
    };
    let mount = root.join(mount);
    let group = mount.join(path.trim_start_matches('/'));
    let groups = group.ancestors().take_while(|group| group.starts_with(&mount));
    let number = |group: &Path, name: &str| -> Option<u64> {
        fs::read_to_string(group.join(name)).ok()?.trim().parse().ok()
    };
    // A group without a limit has `max`, or no such file.
    let left = groups.filter_map(|group| {
        let used = number(group, used).unwrap_or(0).saturating_sub(given_back(group));
        Some(number(group, limit)?.saturating_sub(used))
    });
    left.min()
}

/// The bytes of a group's file cache, which the system drops when it needs the memory.
fn given_back(group: &Path) -> u64 {
    let text = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    field(&text, "inactive_file").unwrap_or(0)
}

/// The number after a name at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let words = text.lines().map(str::split_ascii_whitespace);
    words
        .filter_map(|mut words| (words.next()? == name).then(|| words.next())?)
        .next()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is available in a system with these files.
    fn with(files: &[(&str, &str)]) -> Option<u64> {
        static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("iree-dbg-available-{}-{number}", std::process::id());
        let root = std::env::temp_dir().join(name);
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let found = available(&root);
        let _ = fs::remove_dir_all(&root);
        found
    }

    const MEMORY: (&str, &str) = ("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    4000 kB\n");

    #[test]
    #[cfg_attr(miri, ignore = "it reads files")]
    fn the_tightest_group_counts() {
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[MEMORY]), Some(4_096_000));
        let group = ("proc/self/cgroup", "0::/a/b\n");
        let unlimited = ("sys/fs/cgroup/a/b/memory.max", "max\n");
        assert_eq!(with(&[MEMORY, group, unlimited]), Some(4_096_000));
        let above = ("sys/fs/cgroup/a/memory.max", "1000000\n");
        let used = ("sys/fs/cgroup/a/memory.current", "700000\n");
        assert_eq!(with(&[MEMORY, group, unlimited, above, used]), Some(300_000));
        let files = ("sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file 200000\n");
        assert_eq!(with(&[MEMORY, group, unlimited, above, used, files]), Some(500_000));
        let older = ("proc/self/cgroup", "4:cpu:/\n3:blkio,memory:/x\n");
        let limit = ("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "2000\n");
        assert_eq!(with(&[MEMORY, older, limit]), Some(2000));
    }
}
