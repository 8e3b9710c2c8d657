//! NFS mounts as Linux reports them in `/proc/self/mountstats` (`nfs_show_stats` of the kernel; nfsstat(8),
//! mountstats(8)).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One NFS mount: its negotiated options, and what its reads have cost so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NfsMount {
    /// Server and exported path.
    pub device: String,
    /// Mount point.
    pub point: String,
    /// Protocol version, such as `4.1`.
    pub version: String,
    /// Largest READ, bytes.
    pub rsize: Option<u64>,
    /// Largest WRITE, bytes.
    pub wsize: Option<u64>,
    /// READ operations.
    pub reads: u64,
    /// Retransmitted READs.
    pub read_retransmits: u64,
    /// Bytes received by READs.
    pub read_bytes: u64,
    /// Time from sending a READ to its reply, seconds, summed over all.
    pub read_rtt: f64,
    /// Time from queueing a READ to its completion, seconds, summed over all.
    pub read_time: f64,
    /// Retransmissions of all operations.
    pub retransmits: u64,
}

impl NfsMount {
    /// The mount and the cost of reading, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let size = |bytes: Option<u64>| bytes.map_or_else(|| "unknown".to_owned(), model::format_size);
        let per = |sum: f64| {
            if self.reads > 0 { format!("{:.2} ms", 1e3 * sum / self.reads as f64) } else { "none".to_owned() }
        };
        format!(
            "NFS {} from {}: rsize {}, wsize {}; {} reads of {:.1} MB in all, round trip {}, with waiting {}; {} sent again",
            self.version,
            self.device,
            size(self.rsize),
            size(self.wsize),
            self.reads,
            self.read_bytes as f64 * 1e-6,
            per(self.read_rtt),
            per(self.read_time),
            self.retransmits
        )
    }
}

/// NFS mounts in the text of mountstats. Truncated or malformed entries are left out.
#[must_use]
pub fn parse(text: &str) -> Vec<NfsMount> {
    let mut found: Vec<NfsMount> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("device ") {
            let head = head(rest);
            inside = head.is_some();
            found.extend(head);
        } else if let (true, Some(mount)) = (inside, found.last_mut()) {
            detail(line.trim(), mount);
        }
    }
    found
}

/// `SERVER:/EXPORT mounted on /POINT with fstype nfs4 statvers=1.1`
fn head(rest: &str) -> Option<NfsMount> {
    let (device, rest) = rest.split_once(" mounted on ")?;
    // The mount point may contain these words, so the last occurrence counts.
    let (point, kind) = rest.rsplit_once(" with fstype ")?;
    let kind = kind.split_whitespace().next()?;
    // The kernel escapes blanks in names by their octal code.
    let plain =
        |name: &str| name.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\");
    matches!(kind, "nfs" | "nfs4").then(|| NfsMount {
        device: plain(device),
        point: plain(point),
        version: if kind == "nfs4" { "4" } else { "3" }.to_owned(),
        ..NfsMount::default()
    })
}

fn detail(line: &str, mount: &mut NfsMount) {
    let Some((key, rest)) = line.split_once(':') else { return };
    if key == "opts" {
        let options: BTreeMap<&str, &str> = rest.trim().split(',').filter_map(|one| one.split_once('=')).collect();
        mount.rsize = options.get("rsize").and_then(|size| size.parse().ok());
        mount.wsize = options.get("wsize").and_then(|size| size.parse().ok());
        if let Some(version) = options.get("vers") {
            mount.version = (*version).to_owned();
        }
        return;
    }
    // Operations: count, transmissions, major timeouts, bytes sent, bytes received, milliseconds queued, round trip, in
    // all.
    let operation = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let numbers: Option<Vec<u64>> = rest.split_whitespace().map(|word| word.parse().ok()).collect();
    let (true, Some([count, sent, _, _, received, _, rtt, all, ..])) = (operation, numbers.as_deref()) else { return };
    let again = sent.saturating_sub(*count);
    mount.retransmits = mount.retransmits.saturating_add(again);
    if key == "READ" {
        mount.reads = *count;
        mount.read_retransmits = again;
        mount.read_bytes = *received;
        mount.read_rtt = *rtt as f64 * 1e-3;
        mount.read_time = *all as f64 * 1e-3;
    }
}

/// The mount at a point now; `None` where the system has no such statistics.
#[must_use]
pub fn of(point: &str) -> Option<NfsMount> {
    let text = std::fs::read_to_string("/proc/self/mountstats").ok()?;
    // The last of several mounts at one point is visible.
    parse(&text).into_iter().rfind(|mount| mount.point == point)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "device proc mounted on /proc with fstype proc
device server:/export/data mounted on /mnt/in\\040put with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.1,rsize=262144,wsize=131072,namlen=255,hard,proto=tcp,timeo=600,retrans=2
\tage:\t33
\tcaps:\tcaps=0x3ffbffff,wtmult=512,dtsize=262144,bsize=0,namlen=255
\tnfsv4:\tbm0=0xfdffbfff,bm1=0xf9be3e,bm2=0x60800,acl=0x3,sessions,pnfs=not configured
\tevents:\t1 2 3 4 5
\tbytes:\t4096000 0 0 0 4096000 0 1000 0
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
\txprt:\ttcp 0 0 1 0 12 120 120 0 120 0 2 0 0
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 1 0
\t        READ: 100 103 0 22000 26224000 50 1500 1700 0
\t       WRITE: 0 0 0 0 0 0 0 0 0
\t     GETATTR: 10 11 0 2000 2400 0 5 6 0
device tmpfs mounted on /run with fstype tmpfs
\t        READ: 7 7 0 7 7 7 7 7 7
";

    #[test]
    fn a_mount_is_read_with_its_costs() {
        let found = parse(TEXT);
        assert_eq!(found.len(), 1);
        let mount = &found[0];
        assert_eq!((mount.device.as_str(), mount.point.as_str()), ("server:/export/data", "/mnt/in put"));
        assert_eq!((mount.version.as_str(), mount.rsize, mount.wsize), ("4.1", Some(262_144), Some(131_072)));
        assert_eq!((mount.reads, mount.read_retransmits, mount.retransmits), (100, 3, 4));
        assert_eq!(mount.read_bytes, 26_224_000);
        assert!((mount.read_rtt - 1.5).abs() < 1e-9 && (mount.read_time - 1.7).abs() < 1e-9);
        assert!(mount.words().contains("15.00 ms"), "{}", mount.words());
    }

    #[test]
    fn what_is_cut_off_or_hostile_gives_less_and_never_more() {
        for end in 0..TEXT.len() {
            if let Some(part) = TEXT.get(..end) {
                for mount in parse(part) {
                    assert!(mount.reads == 0 || mount.reads == 100);
                    assert_eq!(mount.device, "server:/export/data");
                }
            }
        }
        let hostile = "device a mounted on b with fstype nfs\n READ: 18446744073709551615 0 0 0 0 0 0 0\n READ: -1 2 3\n \
                       READ: 99999999999999999999 1 1 1 1 1 1 1\n : 1 2 3 4 5 6 7 8\nopts:rsize=-5,wsize=,=,,vers\ndevice\ndevice x mounted on";
        let found = parse(hostile);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].rsize, found[0].wsize, found[0].retransmits), (None, None, 0));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "(device |mounted on |with fstype nfs4|opts:|READ: |[0-9 :,=\n]|\\PC){0,200}") {
            for mount in parse(&text) {
                let _ = mount.words();
            }
        }
    }
}
