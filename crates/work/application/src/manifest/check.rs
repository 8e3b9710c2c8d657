//! From TOML to applications: all errors of a manifest are found here, with their position.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use regex::{Regex, RegexBuilder};
use toml::{Spanned, Value};

use super::raw::{Raw, RawApplication, RawVerify, Texts};
use super::{Application, Manifest, ManifestWork, Rate, Template, Verify};

/// Byte offset of an error, and its text.
type Wrong = (usize, String);

/// Default time limit of a program.
const PATIENCE: Duration = Duration::from_secs(600);
/// Placeholders that are always filled: output directory, that of the build, number of the copy in a sample, this
/// program, the manifest's directory. A farm gives each chunk its number, that of the attempt, its first event and its
/// input.
const ALWAYS: [&str; 9] = ["out", "build", "copy", "prony", "directory", "chunk", "attempt", "first", "in"];
/// Builds, at most; the number of combinations grows fast.
const MAX_BUILDS: usize = 500;
/// Applications of a manifest, at most.
const MAX_APPLICATIONS: usize = 200;
/// Size of a compiled expression, bytes at most: those of all applications together are compiled in seconds, and fit
/// into memory.
const MAX_EXPRESSION: usize = 512 << 10;

pub(super) fn manifest(text: &str, folder: &Path) -> Result<Manifest, Wrong> {
    let raw: Raw = toml::from_str(text)
        .map_err(|error| (error.span().map_or(0, |span| span.start), error.message().replace('\n', " ")))?;
    if raw.application.is_empty() {
        return Err((0, "it has no application; begin one with [application.NAME]".to_owned()));
    }
    if raw.application.len() > MAX_APPLICATIONS {
        let reason = format!("it has {} applications; the limit is {MAX_APPLICATIONS}", raw.application.len());
        return Err((0, reason));
    }
    let mut applications = Vec::new();
    for (name, raw) in raw.application {
        applications.push((name.span().start, application(&name, raw, folder)?));
    }
    applications.sort_by_key(|(place, _)| *place);
    Ok(Manifest { applications: applications.into_iter().map(|(_, application)| application).collect() })
}

fn application(name: &Spanned<String>, raw: RawApplication, folder: &Path) -> Result<Application, Wrong> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if name.as_ref().is_empty() || !name.as_ref().chars().all(plain) {
        let reason = format!("'{}' is not a name; use small letters, digits and _", name.as_ref());
        return Err((name.span().start, reason));
    }
    let directory = match &raw.directory {
        Some(given) => existing(given, &folder.join(given.as_ref()))?,
        None => folder.to_owned(),
    };
    let axes = axes(raw.builds)?;
    let (work, mut parameters) = work(&raw.work)?;
    for (key, value) in &raw.parameters {
        parameters.insert(key.clone(), plain_text(value)?);
    }
    parameters.entry("seed".to_owned()).or_insert_with(|| "1".to_owned());
    let known: BTreeSet<&str> =
        axes.iter().map(|(axis, _)| axis.as_str()).chain(parameters.keys().map(String::as_str)).chain(ALWAYS).collect();
    let known = KnownHoles(&known);
    let run = known.templates(raw.run.as_ref())?;
    if run.is_empty() {
        return Err((raw.run.span().start, "run is empty; write the program and its arguments".to_owned()));
    }
    let binary = match &raw.binary {
        Some(given) => Some(known.template(given)?),
        None => run.first().filter(|first| first.holes().any(|hole| hole == "out")).cloned(),
    };
    let exclude = exclude(raw.exclude, &axes)?;
    Ok(Application {
        name: name.as_ref().clone(),
        about: raw.about,
        sources: sources(raw.sources, folder)?,
        exclude,
        build: raw.build.as_deref().map(|given| known.templates(given)).transpose()?.filter(|argv| !argv.is_empty()),
        version: match &raw.version {
            Some(given) => Some(known.templates(given)?),
            None => compiler_version(&axes),
        },
        binary,
        run,
        work,
        parameters,
        rate: match raw.rate {
            None => Rate::Wall,
            Some(text) if text.as_ref() == "wall" => Rate::Wall,
            Some(text) => Rate::Printed(grouped(&text)?),
        },
        startup: raw.startup.as_ref().map(grouped).transpose()?,
        verify: raw.verify.map(verify).transpose()?.unwrap_or_default(),
        environment: raw.environment,
        patience: raw.timeout.as_ref().map(duration).transpose()?.unwrap_or(PATIENCE),
        copies: copies(raw.copies)?,
        directory,
        axes,
    })
}

fn existing(given: &Spanned<String>, path: &Path) -> Result<PathBuf, Wrong> {
    path.canonicalize().map_err(|error| (given.span().start, format!("could not find {}: {error}", given.as_ref())))
}

fn sources(given: Option<Spanned<Texts>>, folder: &Path) -> Result<Vec<PathBuf>, Wrong> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let place = given.span().start;
    let texts = match given.into_inner() {
        Texts::One(text) => vec![text],
        Texts::Many(texts) => texts,
    };
    let find = |text: String| {
        folder.join(&text).canonicalize().map_err(|error| (place, format!("could not find the source {text}: {error}")))
    };
    texts.into_iter().map(find).collect()
}

/// Axes in the order of the text.
fn axes(raw: BTreeMap<String, Spanned<Vec<String>>>) -> Result<Vec<(String, Vec<String>)>, Wrong> {
    let mut placed: Vec<(usize, String, Vec<String>)> = Vec::new();
    for (axis, values) in raw {
        let place = values.span().start;
        let values = values.into_inner();
        if values.is_empty() {
            return Err((place, format!("the axis {axis} has no values")));
        }
        if let Some(value) = values.iter().find(|value| value.contains(',') || value.contains('\n')) {
            return Err((
                place,
                format!("the value '{value}' of {axis} has a comma, which separates axes; leave it out"),
            ));
        }
        if values.iter().collect::<BTreeSet<_>>().len() < values.len() {
            return Err((place, format!("the axis {axis} has a value twice")));
        }
        placed.push((place, axis, values));
    }
    placed.sort();
    // Many axes make an unlimited number.
    let builds = placed.iter().fold(1_usize, |builds, (_, _, values)| builds.saturating_mul(values.len()));
    if builds > MAX_BUILDS {
        return Err((placed[0].0, format!("these axes give {builds} builds; the limit is {MAX_BUILDS}")));
    }
    Ok(placed.into_iter().map(|(_, axis, values)| (axis, values)).collect())
}

fn exclude(
    raw: Option<Spanned<Vec<BTreeMap<String, String>>>>,
    axes: &[(String, Vec<String>)],
) -> Result<Vec<BTreeMap<String, String>>, Wrong> {
    let Some(raw) = raw else { return Ok(Vec::new()) };
    let place = raw.span().start;
    let raw = raw.into_inner();
    for (axis, value) in raw.iter().flatten() {
        let Some((_, values)) = axes.iter().find(|(known, _)| known == axis) else {
            return Err((place, format!("exclude names {axis}, which is not an axis of the builds")));
        };
        if !values.contains(value) {
            return Err((place, format!("exclude names '{value}', which is not a value of {axis}")));
        }
    }
    Ok(raw)
}

fn work(raw: &Spanned<BTreeMap<String, Value>>) -> Result<(ManifestWork, BTreeMap<String, String>), Wrong> {
    let place = raw.span().start;
    let mut parameters = BTreeMap::new();
    let mut unit = None;
    for (key, value) in raw.as_ref() {
        match value {
            Value::String(text) if key == "unit" => unit = Some(text.clone()),
            Value::Integer(number) if key != "unit" => drop(parameters.insert(key.clone(), number.to_string())),
            Value::Float(number) if key != "unit" => drop(parameters.insert(key.clone(), number.to_string())),
            _ => {
                return Err((
                    place,
                    format!("work has {key} = {value}; write for example work = {{ events = 500, unit = \"event\" }}"),
                ));
            }
        }
    }
    let unit = unit.ok_or_else(|| (place, "work lacks its unit, such as unit = \"event\"".to_owned()))?;
    let wanted = format!("{unit}s");
    let amount = match (parameters.get(&wanted), parameters.len()) {
        (Some(amount), _) => amount,
        (None, 1) => parameters.values().next().map_or(&wanted, |only| only),
        _ => return Err((place, format!("work lacks the number of {wanted}; write {wanted} = NUMBER"))),
    };
    let amount: f64 = amount.parse().unwrap_or(f64::NAN);
    if !(amount > 0.0 && amount.is_finite()) {
        return Err((place, format!("the number of {wanted} must be above 0")));
    }
    Ok((ManifestWork { amount, unit }, parameters))
}

fn plain_text(value: &Spanned<Value>) -> Result<String, Wrong> {
    match value.as_ref() {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        other => Err((value.span().start, format!("{other} is neither a text nor a number"))),
    }
}

/// Names that placeholders may have.
struct KnownHoles<'a>(&'a BTreeSet<&'a str>);

impl KnownHoles<'_> {
    fn template(&self, given: &Spanned<String>) -> Result<Template, Wrong> {
        let template = Template::parse(given.as_ref()).map_err(|reason| (given.span().start, reason))?;
        if let Some(hole) = template.holes().find(|hole| !self.0.contains(hole)) {
            let known: Vec<&str> = self.0.iter().copied().collect();
            let reason = format!("{{{hole}}} is unknown; known are {}", known.join(", "));
            return Err((given.span().start, reason));
        }
        Ok(template)
    }

    fn templates(&self, given: &[Spanned<String>]) -> Result<Vec<Template>, Wrong> {
        given.iter().map(|one| self.template(one)).collect()
    }
}

/// Default version command: almost every manifest would ask the compiler.
fn compiler_version(axes: &[(String, Vec<String>)]) -> Option<Vec<Template>> {
    axes.iter()
        .any(|(axis, _)| axis == "compiler")
        .then(|| ["{compiler}", "--version"].iter().filter_map(|text| Template::parse(text).ok()).collect())
}

fn expression(text: &Spanned<String>) -> Result<Regex, Wrong> {
    RegexBuilder::new(text.as_ref()).size_limit(MAX_EXPRESSION).build().map_err(|error| {
        let reason = error.to_string();
        let last = match error {
            regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
            _ => reason.lines().last().unwrap_or_default().trim().to_owned(),
        };
        (text.span().start, format!("'{}' is not a regular expression: {last}", text.as_ref()))
    })
}

fn grouped(text: &Spanned<String>) -> Result<Regex, Wrong> {
    let found = expression(text)?;
    if found.captures_len() < 2 {
        let reason = format!("'{}' has no group; put the wanted part in ( )", text.as_ref());
        return Err((text.span().start, reason));
    }
    Ok(found)
}

fn verify(raw: RawVerify) -> Result<Verify, Wrong> {
    if let (Some(expect), None) = (&raw.expect, &raw.digest) {
        return Err((expect.span().start, "expect needs digest, the expression that finds it".to_owned()));
    }
    Ok(Verify {
        stdout: raw.stdout.as_ref().map(expression).transpose()?,
        digest: raw.digest.as_ref().map(grouped).transpose()?,
        scope: raw.digest_scope,
        expect: raw.expect.map(Spanned::into_inner),
    })
}

fn duration(value: &Spanned<Value>) -> Result<Duration, Wrong> {
    let wrong = || (value.span().start, format!("{} is not a duration; write 90, \"90s\" or \"10m\"", value.as_ref()));
    let seconds = match value.as_ref() {
        Value::Integer(number) => *number as f64,
        Value::Float(number) => *number,
        Value::String(text) => {
            let (number, scale) = match text.strip_suffix('m') {
                Some(minutes) => (minutes, 60.0),
                None => (text.strip_suffix('s').unwrap_or(text), 1.0),
            };
            number.trim().parse::<f64>().map_err(|_| wrong())? * scale
        }
        _ => return Err(wrong()),
    };
    if seconds > 0.0 { Duration::try_from_secs_f64(seconds).map_err(|_| wrong()) } else { Err(wrong()) }
}

fn copies(raw: Option<Spanned<Vec<u32>>>) -> Result<Vec<u32>, Wrong> {
    let Some(raw) = raw else { return Ok(Vec::new()) };
    let place = raw.span().start;
    let copies = raw.into_inner();
    if copies.is_empty() || copies.iter().any(|count| !(1..=4096).contains(count)) {
        return Err((place, "copies are numbers from 1 to 4096, such as [1, 2]".to_owned()));
    }
    Ok(copies)
}
