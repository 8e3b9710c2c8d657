//! Finding runs: in the store, in files, among the published ones.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use compare::{NEWEST_SESSIONS, SessionRecord, least_error};
use model::{BenchmarkResult, Definition, ResultKey, Run};
use store::{Access, Detail, Selector, Store};

use crate::cli::CommonOptions;
use crate::{evaluation, output, share};

/// The requested store, else the user's.
pub(crate) fn place(common: &CommonOptions) -> Result<PathBuf> {
    match &common.store {
        Some(path) => Ok(path.clone()),
        None => Ok(store::default_path()?),
    }
}

/// The store, for reading: one that does not exist yet is empty.
pub(crate) fn read(common: &CommonOptions) -> Result<Box<dyn Store>> {
    match store::open(&place(common)?, Access::Read) {
        Ok(store) => Ok(store),
        Err(error) if error.is_missing() => Ok(store::empty()?),
        Err(error) => Err(error.into()),
    }
}

/// The store, for saving runs: created if it does not exist.
pub(crate) fn write(common: &CommonOptions) -> Result<Box<dyn Store>> {
    Ok(store::open(&place(common)?, Access::Write)?)
}

/// The store, for removing runs from it.
pub(crate) fn remove(common: &CommonOptions) -> Result<Box<dyn Store>> {
    match store::open(&place(common)?, Access::Remove) {
        Err(error) if error.is_missing() => Ok(store::empty()?),
        opened => Ok(opened?),
    }
}

/// The message that the store does not exist, which comes before missing runs.
pub(crate) fn missing(common: &CommonOptions) -> Option<String> {
    let path = place(common).ok()?;
    let address = path.to_string_lossy().contains("://");
    // Without permission to look, it is unknown.
    let gone = matches!(path.try_exists(), Ok(false));
    (!address && gone).then(|| format!("there is no store {}", path.display()))
}

/// A run and its name on the command line.
pub(crate) struct Named {
    /// Store number, path or published name.
    pub(crate) handle: String,
    /// The document.
    pub(crate) run: Run,
}

/// All runs that names refer to: one of the store, of a file, all documents of a folder, standard input (`-`), or a
/// published evaluation.
pub(crate) fn find(names: &[String], common: &CommonOptions, detail: Detail) -> Result<Vec<Named>> {
    let mut found = Vec::new();
    let mut opened: Option<(Box<dyn Store>, Selector)> = None;
    for name in names {
        let before = found.len();
        if name == "-" {
            let mut text = Vec::new();
            std::io::Read::read_to_end(&mut std::io::Read::take(std::io::stdin(), store::DOCUMENT_LIMIT), &mut text)
                .context("could not read standard input")?;
            found.push(Named { handle: name.clone(), run: store::parse_document(&text, "standard input")? });
        } else if name.starts_with("published:") {
            let runs = evaluation::published(name)?;
            found.extend(runs.into_iter().map(|run| Named { handle: run.id.clone(), run }));
        } else if store::is_path(name) {
            found.extend(named_of_path(name)?);
        } else {
            if opened.is_none() {
                let store = read(common)?;
                let selector = Selector::new(store.as_ref())?;
                opened = Some((store, selector));
            }
            if let Some((store, selector)) = &opened {
                let summary = match selector.resolve(name) {
                    Ok(summary) => summary,
                    // A name without the look of a path, such as `table.csv`, may still be one.
                    Err(_) if Path::new(name).exists() => {
                        found.extend(named_of_path(name)?);
                        continue;
                    }
                    Err(error) => {
                        let error = anyhow::Error::new(error);
                        return Err(match missing(common) {
                            Some(missing) => error.context(missing),
                            None => error,
                        });
                    }
                };
                found.push(Named { handle: summary.number.to_string(), run: store.get(&summary.id, detail)? });
            }
        }
        // An evaluation may define results and print no machine.
        anyhow::ensure!(
            found.len() > before,
            "{name} holds no machine with a result; `prony runs --published` lists them"
        );
        // A run that was named before stays in place: the first one is the baseline of comparisons.
        if found.len() > before + 1 {
            let added = found.split_off(before);
            let is_new = |one: &Named| found.iter().all(|known| known.run.id != one.run.id);
            let added: Vec<Named> = added.into_iter().filter(is_new).collect();
            found.extend(added);
        }
    }
    let mut runs: Vec<&mut Run> = found.iter_mut().map(|named| &mut named.run).collect();
    share::recognise(&mut runs);
    Ok(found)
}

/// The runs that a command takes if none is named: the latest ones, the newest last.
pub(crate) fn names_or_latest<const N: usize>(names: &[String], latest: [&str; N]) -> Vec<String> {
    if names.is_empty() { latest.map(str::to_owned).to_vec() } else { names.to_vec() }
}

/// Says which runs are compared where the command line names none.
pub(crate) fn say_which(baseline: &str, other: &str) {
    output::remark(&format!("comparing run {other} with run {baseline}, the baseline"));
}

/// Whether a handle is one that a command line takes by itself: the number of a stored run, or a published name.
pub(crate) fn names_one(handle: &str) -> bool {
    handle.parse::<u64>().is_ok() || handle.starts_with("published:")
}

/// The runs of a file, or of all documents of a folder.
fn named_of_path(name: &str) -> Result<Vec<Named>> {
    let path = Path::new(name);
    if !path.is_dir() {
        return named_of_file(name);
    }
    let entries = std::fs::read_dir(path).with_context(|| format!("could not read {name}"))?;
    let names = entries.filter_map(|entry| entry.ok()?.path().to_str().map(str::to_owned));
    let mut documents: Vec<String> =
        names.filter(|name| name.ends_with(".json") || name.ends_with(".json.zst")).collect();
    documents.sort();
    anyhow::ensure!(!documents.is_empty(), "there is no run document (.json or .json.zst) in the folder {name}");
    let runs: Vec<Vec<Named>> = documents.iter().map(|name| named_of_file(name)).collect::<Result<_>>()?;
    Ok(runs.into_iter().flatten().collect())
}

/// The runs of a file: one by the name of the file, several by their own.
fn named_of_file(name: &str) -> Result<Vec<Named>> {
    let runs = of_file(Path::new(name))?;
    let several = runs.len() > 1;
    let handle = |run: &Run| if several { run.name().to_owned() } else { name.to_owned() };
    Ok(runs.into_iter().map(|run| Named { handle: handle(&run), run }).collect())
}

/// The runs of a file: a run document, or whatever `prony import` reads, which is everything that this program writes.
fn of_file(path: &Path) -> Result<Vec<Run>> {
    match store::load_document(path) {
        Ok(run) => Ok(vec![run]),
        Err(error) => {
            let mut bytes = Vec::new();
            let most = import::LONGEST as u64 + 1;
            let read = std::fs::File::open(path)
                .and_then(|file| std::io::Read::read_to_end(&mut std::io::Read::take(file, most), &mut bytes));
            if read.is_err() {
                return Err(error.into());
            }
            let Ok(bytes) = store::decompressed(&bytes, import::LONGEST as u64) else { return Err(error.into()) };
            let options = import::ImportOptions::default();
            let json = bytes.trim_ascii_start().starts_with(b"{");
            match import::import(&path.display().to_string(), &bytes, &options, benchmarks::catalogue()) {
                Ok(source) if !source.runs.is_empty() => Ok(source.runs),
                // A recognised format has its own error.
                Err(reason) if !json && !matches!(reason, import::Error::Unrecognised { .. }) => Err(reason.into()),
                // The document's error says more than that no other format fits.
                _ => Err(error.into()),
            }
        }
    }
}

/// The single run that a name refers to.
pub(crate) fn find_one(name: &str, common: &CommonOptions) -> Result<Named> {
    let mut found = find(&[name.to_owned()], common, Detail::Whole)?;
    match found.len() {
        1 => Ok(found.remove(0)),
        count => anyhow::bail!("{name} stands for {count} runs; name one of them, such as {}", found[0].handle),
    }
}

/// Values of earlier sessions on the machines of some runs, from which the variation between sessions is known. Every
/// machine and result has its own newest sessions, so that none displaces those of another.
pub(crate) fn history(runs: &[&Run], common: &CommonOptions) -> Result<Vec<SessionRecord>> {
    history_in(read(common)?.as_ref(), runs)
}

/// The same from an open store.
pub(crate) fn history_in(store: &dyn Store, runs: &[&Run]) -> Result<Vec<SessionRecord>> {
    let machines: BTreeSet<&str> =
        runs.iter().map(|run| run.machine.fingerprint.as_str()).filter(|mark| !mark.is_empty()).collect();
    let mut records = Vec::new();
    for machine in machines {
        let here = || runs.iter().filter(|run| run.machine.fingerprint == machine);
        let keys: HashSet<ResultKey> = here().flat_map(|run| &run.results).map(BenchmarkResult::key).collect();
        let keys: Vec<ResultKey> = keys.into_iter().collect();
        // The compared runs do not count, so as many more are requested.
        let histories = store.histories(&keys, machine, NEWEST_SESSIONS + here().count())?;
        for (result, values) in keys.iter().zip(histories) {
            records.extend(values.into_iter().map(|value| SessionRecord {
                machine: machine.to_owned(),
                run: value.id,
                started: value.started,
                result: result.clone(),
                value: value.value,
                error: least_error(value.low, value.high),
            }));
        }
    }
    Ok(records)
}

/// Removes results whose definition differs from that of an equal name in another run: training on several runs takes
/// equal names for equal definitions.
pub(crate) fn alike(mut runs: Vec<Run>) -> Vec<Run> {
    let mut known: HashMap<ResultKey, Vec<Definition>> = HashMap::new();
    for result in runs.iter().flat_map(|run| &run.results) {
        known.entry(result.key()).or_default().push(result.definition.clone());
    }
    for run in &mut runs {
        run.results.retain(|result| {
            !matches!(result.definition, Definition::Other(_))
                || known.get(&result.key()).is_none_or(|all| all.iter().all(|one| *one == all[0]))
        });
    }
    runs
}

#[cfg(test)]
mod tests {
    use model::{BenchmarkResult, Class, Metric, Parameters, Unit};

    use super::*;

    #[test]
    fn another_definition_stays_only_among_its_own() {
        let run = |definition: Definition| {
            let key = ResultKey::new("os.mmap", Parameters::none());
            let plain = BenchmarkResult::unmeasured(key, "map", Metric::lower(Unit::Seconds, "mapping"), Class::Fault);
            let mut run = evaluation::published("published:babar-cpu-1998/dec-alpha-uw-533-mhz").unwrap().remove(0);
            run.results = vec![BenchmarkResult { definition, ..plain }];
            run
        };
        let other = || run(Definition::Other("a tenth of the pages".to_owned()));
        let near = || run(Definition::Near("larger pages".to_owned()));
        let left = |runs: Vec<Run>| alike(runs).iter().map(|run| run.results.len()).collect::<Vec<_>>();
        assert_eq!(left(vec![run(Definition::Same), other(), near()]), [1, 0, 1]);
        assert_eq!(left(vec![other(), other()]), [1, 1], "two machines of one source are the same to each other");
    }
}
