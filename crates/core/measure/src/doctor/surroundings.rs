//! Other activity and configuration of the machine.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::{Machine, percent};
use os::process::{LimitedResource as Limited, limit};
use os::usage::PressureResource;

use super::activity::{Activity, activity};
use super::{Check, container};

/// Time for which other work is watched.
const WATCH: Duration = Duration::from_millis(1000);

pub(super) fn checks(machine: &Machine, directory: &Path, earlier: &[PathBuf]) -> Vec<Check> {
    let (allowed, refused) = match kernels::affinity::allowed() {
        // The same CPUs again: it changes nothing, and says whether samples can be pinned.
        Ok(cpus) => (cpus.clone(), kernels::affinity::pin(&cpus).err()),
        Err(reason) => (Vec::new(), Some(reason)),
    };
    let mut checks = vec![
        Check::fine("machine", machine.summary.clone()),
        governor(machine),
        boost(machine),
        guest(machine),
        huge_pages(machine),
        counters(),
    ];
    checks.splice(1..1, container::checks(machine, (&allowed, refused.as_ref()), directory));
    checks.extend(busy());
    checks.extend([(PressureResource::Memory, "memory"), (PressureResource::Io, "storage")].into_iter().filter_map(
        |(resource, name)| {
            let says = waited(resource, name)?;
            Some(Check::busy("pressure", says, "Wait until it has passed."))
        },
    ));
    checks.extend(limits());
    checks.extend(tools(|name| os::process::program_named(name).is_some()));
    // Files of place=tmpfs lie in memory, whatever the directory is.
    let own = [directory.to_path_buf(), std::env::temp_dir()];
    let places = own.into_iter().chain(benchmarks::tmpfs()).chain(earlier.iter().cloned());
    checks.extend(all_leftovers(places));
    checks
}

fn busy() -> Vec<Check> {
    match activity(WATCH) {
        Ok(seen) => vec![others(&seen, waited(PressureResource::Cpu, "a CPU")), stolen(&seen)],
        Err(reason) => vec![Check::unknown("other processes", reason.to_string())],
    }
}

/// `waited` says that tasks waited for a CPU, which has the same cause.
fn others(seen: &Activity, waited: Option<String>) -> Check {
    let subject = "other processes";
    let mut says = format!("other processes use {} of the {} CPUs", percent(seen.others_share().get()), seen.cpus);
    let busy = seen.others_share().get() > 0.05;
    if busy {
        let which = if seen.busy.is_empty() { "none that can be seen from here".to_owned() } else { seen.names() };
        says.push_str(&format!(": {which}"));
    }
    says.extend(waited.iter().flat_map(|waited| ["; ", waited]));
    match (busy, waited) {
        (false, None) => Check::fine(subject, says),
        // What they waited for is over: nothing runs now.
        (false, Some(_)) => {
            Check::attention(subject, says, "Other work has just ended. Measure now or a little later.")
        }
        (true, _) => Check::busy(
            subject,
            says,
            "Stop them, or wait until they have ended. Results on one CPU hardly suffer; results on all CPUs do.",
        ),
    }
}

fn stolen(seen: &Activity) -> Check {
    let says = format!("the hypervisor took {} of CPU time for other VMs", seen.stolen);
    match seen.stolen.share() {
        Some(share) if share.get() > 0.01 => {
            let advice = "Measure when the host is quieter. Prony repeats a few rounds that lose more than 2%.";
            Check::busy("steal time", says, advice)
        }
        Some(_) => Check::fine("steal time", says),
        None => Check::unknown("steal time", "the kernel counted no CPU time at all"),
    }
}

/// Says that tasks waited for a resource in the last ten seconds.
fn waited(resource: PressureResource, name: &str) -> Option<String> {
    let share = os::usage::pressure(resource).ok()?.last_ten_seconds.get();
    (share >= 0.05).then(|| format!("tasks waited for {name} during {} of the last 10 s", percent(share)))
}

fn governor(machine: &Machine) -> Check {
    match machine.text("cpu.governor").as_deref() {
        Some("performance") => Check::fine("frequency governor", "performance"),
        Some(other) => Check::attention(
            "frequency governor",
            format!("{other}: the clock follows the load"),
            &sentence(model::advice::GOVERNOR),
        ),
        None => Check::unknown("frequency governor", "cannot be read here"),
    }
}

/// An advice whose first letter is a capital.
fn sentence(advice: &str) -> String {
    let mut letters = advice.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn boost(machine: &Machine) -> Check {
    match machine.text("cpu.boost").as_deref() {
        Some("yes") => Check::attention(
            "boost",
            "on: the clock rises while few CPUs are busy, and falls when the chip is warm",
            "Leave it on to see what users get. Turn it off to compare designs.",
        ),
        Some(_) => Check::fine("boost", "off"),
        None => Check::unknown("boost", "cannot be read here"),
    }
}

fn guest(machine: &Machine) -> Check {
    match machine.text("virtual.hypervisor") {
        Some(name) if name != "none" => Check::attention(
            "virtual machine",
            format!("{name}: load from other VMs on the host is invisible from inside"),
            "Compare runs of several days before you trust a small difference.",
        ),
        _ => Check::fine("virtual machine", "no"),
    }
}

fn huge_pages(machine: &Machine) -> Check {
    match machine.text("memory.transparent_huge_pages").as_deref() {
        Some(setting) if setting.contains("never") && !setting.contains("madvise") => Check::attention(
            "huge pages",
            "never: results with pages=huge are not measured",
            &sentence(model::advice::HUGE_PAGES),
        ),
        Some(setting) => Check::fine("huge pages", setting),
        None => Check::unknown("huge pages", "cannot be read here"),
    }
}

/// Limits of this process that make results impossible.
fn limits() -> Vec<Check> {
    let wanted = [
        (Limited::OpenFiles, 1024, "select and epoll over many descriptors"),
        (Limited::Processes, 256, "rings of processes and event building"),
        (Limited::AddressSpace, 4 << 30, "large working sets"),
        (Limited::FileSize, 1 << 30, "large files"),
    ];
    let look = |(resource, least, what): (Limited, u64, &str)| {
        let soft = limit(resource).filter(|soft| *soft < least)?;
        let says = format!("{} is {soft}; {what} need {least}", resource.name());
        Some(Check::attention("limits", says, "Raise it with ulimit."))
    };
    wanted.into_iter().filter_map(look).collect()
}

fn counters() -> Check {
    use os::counters::{CounterEvent, Counters};
    let opened = Counters::open(&[CounterEvent::Cycles, CounterEvent::Instructions]);
    match opened.read_one(CounterEvent::Instructions) {
        Ok(_) => Check::fine("hardware counters", "available: results include cycles and instructions"),
        Err(reason) => Check::unknown("hardware counters", format!("results lack cycles and instructions: {reason}")),
    }
}

/// Programs that a few results require.
fn tools(is_found: impl Fn(&str) -> bool) -> Option<Check> {
    let mut programs: Vec<&str> =
        benchmarks::all().map(|benchmark| benchmark.program).filter(|name| !name.is_empty()).collect();
    programs.sort_unstable();
    programs.dedup();
    let (found, missing): (Vec<&str>, Vec<&str>) = programs.iter().partition(|name| is_found(name));
    let subject = "programs";
    if missing.is_empty() {
        return (!found.is_empty()).then(|| Check::fine(subject, format!("found {}", found.join(", "))));
    }
    let skips = |name: &&str| {
        let results: Vec<&str> =
            benchmarks::all().filter(|benchmark| benchmark.program == *name).map(|benchmark| benchmark.id).collect();
        format!("{name} is not installed (skips {})", results.join(", "))
    };
    let says = missing.iter().map(skips).collect::<Vec<_>>().join("; ");
    Some(Check::attention(subject, says, &format!("Install {}.", model::words::list(&missing))))
}

/// Scratch directories in each of these places, looked at once by whatever names it goes.
fn all_leftovers(places: impl Iterator<Item = PathBuf>) -> Vec<Check> {
    let mut seen = BTreeSet::new();
    places
        .filter(|place| place.canonicalize().is_ok_and(|real| seen.insert(real)))
        .filter_map(|place| leftovers(&place))
        .collect()
}

/// Scratch directories of samples that were killed, and documents whose writers were.
fn leftovers(directory: &Path) -> Option<Check> {
    let entries = std::fs::read_dir(directory).ok()?;
    // A file whose name begins with ours is a document: fleets of batch jobs name theirs by the job.
    let ours = |name: &str, is_directory: bool| {
        let mut parts = name.split('-');
        let kind = match parts.next() {
            Some("prony") => is_directory,
            Some(".prony") => name.ends_with(".part"),
            _ => false,
        };
        kind && parts.next().is_some_and(|pid| pid.parse::<u32>().is_ok_and(|pid| !alive(pid)))
    };
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.ok()?;
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        entry.file_name().into_string().ok().filter(|name| ours(name, is_directory))
    };
    let left: Vec<String> = entries.filter_map(name).collect();
    // A process of another host, or of another container, cannot be seen from here.
    (!left.is_empty()).then(|| {
        let removed = |name: &String| name.ends_with(".part") || os::process::is_abandoned(name);
        let advice = match left.iter().all(removed) {
            true => "The next run there removes them.",
            false => {
                "Remove them. No process here uses them; one of another host or container may, if it shares the directory."
            }
        };
        Check::attention(
            "leftovers",
            format!("a killed process left {} in {}", left.join(", "), directory.display()),
            advice,
        )
    })
}

fn alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

#[cfg(test)]
mod tests {
    use model::TakenTime;

    use super::super::Health;
    use super::super::activity::BusyProcess;
    use super::*;

    #[test]
    fn a_quiet_machine_is_fine_and_a_loaded_one_names_who() {
        let seen = |others: f64, busy: Vec<BusyProcess>, stolen: f64| Activity {
            busy,
            others,
            stolen: TakenTime { seconds: stolen, of: 4.0 },
            cpus: 4,
        };
        let quiet = seen(0.01, Vec::new(), 0.0);
        assert!([others(&quiet, None), stolen(&quiet)].iter().all(|check| check.state == Health::Fine));
        let busy = vec![BusyProcess { pid: 7, name: "cc1".to_owned(), cpus: 0.9 }];
        let loaded = seen(0.95, busy, 0.2);
        let (work, host) = (others(&loaded, Some("tasks waited".to_owned())), stolen(&loaded));
        assert_eq!((work.state, host.state), (Health::Attention, Health::Attention));
        assert!(work.blocks() && host.blocks());
        assert_eq!(work.says, "other processes use 24% of the 4 CPUs: cc1 (7) 0.90; tasks waited");
        let waiting = others(&quiet, Some("tasks waited".to_owned()));
        assert!(waiting.state == Health::Attention && !waiting.blocks(), "{waiting:?}");
        assert!(host.says.contains("0.20 s of 4.00 s"), "{}", host.says);
        assert!(others(&seen(1.0, Vec::new(), 0.0), None).says.contains("none that can be seen"));
    }

    #[test]
    fn a_missing_program_is_told_with_what_it_skips() {
        let missing = tools(|name| name != "dc").unwrap();
        assert_eq!((missing.subject.as_str(), missing.blocks()), ("programs", false));
        assert_eq!(missing.says, "dc is not installed (skips shell.dc)");
        assert_eq!(missing.advice, "Install dc.");
        assert_eq!(tools(|_| true).unwrap().state, Health::Fine);
    }

    #[test]
    fn what_a_killed_sample_left_is_listed_with_its_place() {
        let home = tempfile::tempdir().unwrap();
        let own = format!("prony-{}-1-0", std::process::id());
        // No process has this number: the largest that a kernel gives is 4,194,304.
        let begun = format!(".prony-{}-aB3.part", std::process::id());
        for name in [own.as_str(), "prony-4999999-1f-0", "prony-notes", "other", ".prony-4999999-kept"] {
            std::fs::create_dir(home.path().join(name)).unwrap();
        }
        for name in [begun.as_str(), ".prony-aB3dEf.part", "prony-4999999-node1.json"] {
            std::fs::write(home.path().join(name), "{").unwrap();
        }
        let says = |home: &Path| leftovers(home).unwrap().says;
        assert!(says(home.path()).contains("left prony-4999999-1f-0 in "), "{}", says(home.path()));
        std::fs::remove_dir(home.path().join("prony-4999999-1f-0")).unwrap();
        assert!(leftovers(home.path()).is_none(), "what is in use, or nobody's that is known, is not listed");
        std::fs::write(home.path().join(".prony-4999999-aB3.part"), "{").unwrap();
        let says = says(home.path());
        assert!(says.contains("left .prony-4999999-aB3.part in "), "{says}");
        assert!(says.ends_with(&home.path().display().to_string()), "{says}");
        assert!(leftovers(&home.path().join("other")).is_none());
    }

    #[test]
    fn every_place_is_looked_at_once() {
        let home = tempfile::tempdir().unwrap();
        let (first, second) = (home.path().join("a"), home.path().join("b"));
        for place in [&first, &second] {
            std::fs::create_dir_all(place.join("prony-4999999-1f-0")).unwrap();
        }
        let again = first.join("../a");
        let places = [first.clone(), home.path().join("gone"), again, second, first];
        let found = all_leftovers(places.into_iter());
        let ends: Vec<bool> = found.iter().zip(["/a", "/b"]).map(|(check, end)| check.says.ends_with(end)).collect();
        assert_eq!((found.len(), ends), (2, vec![true, true]), "{found:?}");
    }
}
