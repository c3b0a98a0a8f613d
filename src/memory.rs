//! The memory that this process may use, from which the limits of what it keeps for clients are derived.

use std::fs::read_to_string;
use std::path::Path;

/// The bytes that this process may use: the memory of the machine, or of its control groups if that is less. `None` if the
/// system does not say it.
pub fn limit() -> Option<u64> {
    limit_below(Path::new("/"))
}

/// The [`limit`] on a system whose files are below a folder.
fn limit_below(root: &Path) -> Option<u64> {
    let memory = read_to_string(root.join("proc/meminfo")).ok();
    let memory = memory.and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    let groups = read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let of_groups = groups.lines().filter_map(|line| limit_of_group(&root.join("sys/fs/cgroup"), line));
    of_groups.chain(memory).min()
}

/// The limit of a control group and those around it, for a line of `/proc/self/cgroup`. In a container the path may be that
/// of the machine, where only the group around all others is visible.
fn limit_of_group(folder: &Path, line: &str) -> Option<u64> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (controllers, path) = (fields.next()?, fields.next()?);
    let (folder, file) = match controllers {
        "" => (folder.to_owned(), "memory.max"),
        _ if controllers.split(',').any(|name| name == "memory") => {
            (folder.join("memory"), "memory.limit_in_bytes")
        }
        _ => return None,
    };
    let limits = Path::new(path.trim_start_matches('/')).ancestors().filter_map(|group| {
        // `max` is no number; without a limit, version 1 has a number beyond all memory.
        read_to_string(folder.join(group).join(file)).ok()?.trim().parse().ok()
    });
    limits.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system with these files.
    fn limit_of(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        limit_below(root.path())
    }

    const MEMORY: (&str, &str) = ("proc/meminfo", "MemTotal:        2048000 kB\nMemFree:          1024 kB\n");
    const OF_MACHINE: Option<u64> = Some(2_048_000 * 1024);

    #[test]
    fn without_groups_it_is_the_memory_of_the_machine() {
        assert_eq!(limit_of(&[]), None);
        assert_eq!(limit_of(&[("proc/meminfo", "MemFree: 1 kB\n")]), None);
        assert_eq!(limit_of(&[MEMORY]), OF_MACHINE);
        assert_eq!(limit_of(&[MEMORY, ("proc/self/cgroup", "0::/\n")]), OF_MACHINE);
    }

    #[test]
    fn groups_of_version_2_have_the_least_limit_of_those_around_them() {
        let group = ("proc/self/cgroup", "0::/system.slice/chat.service\n");
        let own = |limit| ("sys/fs/cgroup/system.slice/chat.service/memory.max", limit);
        let around = |limit| ("sys/fs/cgroup/system.slice/memory.max", limit);
        assert_eq!(limit_of(&[MEMORY, group, own("536870912\n")]), Some(512 << 20));
        assert_eq!(limit_of(&[MEMORY, group, own("max\n"), around("1000000\n")]), Some(1_000_000));
        assert_eq!(limit_of(&[MEMORY, group, own("2000000\n"), around("1000000\n")]), Some(1_000_000));
        assert_eq!(limit_of(&[MEMORY, group, own("max\n"), around("max\n")]), OF_MACHINE);
        assert_eq!(limit_of(&[MEMORY, group, own("99999999999999\n")]), OF_MACHINE);
    }

    #[test]
    fn groups_of_version_1_have_a_controller() {
        let groups =
            ("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/docker/abc\n1:name=systemd:/a\n0::/a\n");
        let own = |limit| ("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", limit);
        assert_eq!(limit_of(&[MEMORY, groups, own("536870912\n")]), Some(512 << 20));
        assert_eq!(limit_of(&[MEMORY, groups, own("9223372036854771712\n")]), OF_MACHINE);
        let in_container = ("sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456\n");
        assert_eq!(limit_of(&[MEMORY, groups, in_container]), Some(256 << 20));
    }
}
