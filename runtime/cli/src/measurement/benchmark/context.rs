//! The machine that a report is from.

use std::fs;
use std::path::Path;

/// A cache of the processor.
pub(super) struct Cache {
    pub(super) kind: String,
    pub(super) level: u32,
    pub(super) bytes: u64,
    /// How many processors share it.
    pub(super) sharing: u32,
}

/// What a report says about where it is from. What the system does not tell is missing.
pub(super) struct MachineContext {
    /// In UTC.
    pub(super) date: String,
    pub(super) host_name: String,
    pub(super) executable: String,
    pub(super) processors: usize,
    pub(super) megahertz: Option<f64>,
    /// Whether its speed depends on its load, as far as the system tells.
    pub(super) is_scaled: bool,
    pub(super) aslr: Option<bool>,
    pub(super) caches: Vec<Cache>,
    pub(super) load: Vec<f64>,
}

impl MachineContext {
    pub(super) fn read() -> Self {
        let executable = std::env::args().next().unwrap_or_default();
        Self {
            date: date(),
            host_name: read("/proc/sys/kernel/hostname").unwrap_or_default(),
            executable,
            processors: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            megahertz: megahertz(),
            is_scaled: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
                .is_some_and(|governor| governor != "performance"),
            aslr: read("/proc/sys/kernel/randomize_va_space").map(|value| value != "0"),
            caches: caches(),
            load: load(),
        }
    }
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn megahertz() -> Option<f64> {
    let text = read("/proc/cpuinfo")?;
    let line = text.lines().find(|line| line.starts_with("cpu MHz"))?;
    line.split(':').nth(1)?.trim().parse().ok()
}

fn load() -> Vec<f64> {
    let text = read("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).filter_map(|number| number.parse().ok()).collect()
}

fn caches() -> Vec<Cache> {
    let folder = Path::new("/sys/devices/system/cpu/cpu0/cache");
    let caches = (0..16).map_while(|index| {
        let file = |name: &str| {
            fs::read_to_string(folder.join(format!("index{index}")).join(name))
                .ok()
                .map(|text| text.trim().to_owned())
        };
        let size = file("size")?;
        let (digits, unit) = size.split_at(size.find(|c: char| !c.is_ascii_digit())?);
        let unit = if unit.starts_with('M') { 1 << 20 } else { 1 << 10 };
        Some(Cache {
            kind: file("type")?,
            level: file("level")?.parse().ok()?,
            bytes: digits.parse::<u64>().ok()?.saturating_mul(unit),
            sharing: count(&file("shared_cpu_list")?),
        })
    });
    caches.collect()
}

/// How many processors `0-3,8` names.
fn count(list: &str) -> u32 {
    let ranges = list.split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        last.checked_sub(first)?.checked_add(1)
    });
    ranges.sum()
}

/// The time now, as `2026-11-22T23:30:00+00:00`.
fn date() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seconds = now.map_or(0, |now| now.as_secs());
    let (days, time) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}+00:00")
}

/// The date of a day, counted from 1970-01-01.
fn civil(days: u64) -> (u64, u64, u64) {
    // Years are counted from a March, so that the day that leap years add is the last one.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + carry, month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_779), (2026, 11, 22));
    }

    #[test]
    fn lists_of_processors_are_counted() {
        assert_eq!(count("0-3,8"), 5);
        assert_eq!(count("0"), 1);
        assert_eq!(count("no"), 0);
    }
}
