//! No two sibling modules import each other: shared items belong below them.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::house::sources;

/// Permitted pairs, each with its reason.
const ALLOWED: [(&str, &str, &str); 1] =
    [("cli", "cmd", "the command line is made of the verbs' arguments, and every verb is given the options of all")];

/// The path of a module, from the name of the crate.
type ModulePath = Vec<String>;
/// The code of every module.
type Modules = BTreeMap<ModulePath, String>;

/// The paths of a tree of imports, such as `a::{b, c::D}`.
fn paths(tree: &str, before: &[String], into: &mut Vec<ModulePath>) {
    let names =
        |text: &str| text.split("::").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let Some((head, rest)) = tree.split_once('{') else {
        let name: ModulePath = names(tree.split(" as ").next().unwrap_or_default());
        into.push([before, &name[..]].concat());
        return;
    };
    let head: ModulePath = names(head);
    let before = [before, &head[..]].concat();
    let body = rest.rsplit_once('}').map_or(rest, |(body, _)| body);
    let (mut depth, mut start) = (0_u32, 0);
    for (at, letter) in body.char_indices().chain([(body.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                if !body[start..at].trim().is_empty() {
                    paths(&body[start..at], &before, into);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// The module that a path in `module` leads to, and the name of the item in it.
fn resolve(modules: &Modules, module: &[String], path: &[String]) -> Option<(ModulePath, Option<String>)> {
    let mut at = module.to_vec();
    let mut rest = path;
    match path.first()?.as_str() {
        "crate" => at.truncate(1),
        "self" | "super" => {}
        name => {
            at.push(name.to_owned());
            modules.contains_key(&at).then_some(())?;
            at.pop();
        }
    }
    if matches!(rest.first()?.as_str(), "crate" | "self") {
        rest = &rest[1..];
    }
    while rest.first().is_some_and(|name| name == "super") {
        at.pop();
        rest = &rest[1..];
    }
    while let Some(name) = rest.first() {
        at.push(name.clone());
        if !modules.contains_key(&at) {
            at.pop();
            break;
        }
        rest = &rest[1..];
    }
    Some((at, rest.first().cloned()))
}

/// The modules that each module refers to, by imports and by paths in its code; a re-exported name belongs to its
/// origin.
#[expect(clippy::unwrap_used, reason = "the expressions are constant")]
fn named(modules: &Modules) -> BTreeMap<ModulePath, BTreeSet<ModulePath>> {
    let import = Regex::new(r"\b(pub(?:\([^)]*\))? )?use ([^;]+);").unwrap();
    let inline = Regex::new(r"\b[a-z_]\w*(?:::\w+)+").unwrap();
    let mut passed: BTreeMap<(ModulePath, String), ModulePath> = BTreeMap::new();
    let mut all: BTreeMap<ModulePath, Vec<ModulePath>> = BTreeMap::new();
    for (module, text) in modules {
        let used = all.entry(module.clone()).or_default();
        for found in import.captures_iter(text) {
            let mut these = Vec::new();
            paths(&found[2], &[], &mut these);
            if found.get(1).is_some() {
                for path in &these {
                    if let (Some((origin, _)), Some(name)) = (resolve(modules, module, path), path.last()) {
                        passed.insert((module.clone(), name.clone()), origin);
                    }
                }
            }
            used.extend(these);
        }
        let code = import.replace_all(text, "");
        used.extend(inline.find_iter(&code).map(|found| found.as_str().split("::").map(str::to_owned).collect()));
    }
    let lead = |module: &ModulePath, path: &ModulePath| {
        let (mut at, name) = resolve(modules, module, path)?;
        // A name may be re-exported a few times, never in a circle.
        for _ in 0..4 {
            let Some(origin) = name.as_ref().and_then(|name| passed.get(&(at.clone(), name.clone()))) else { break };
            at.clone_from(origin);
        }
        Some(at)
    };
    all.iter()
        .map(|(module, paths)| (module.clone(), paths.iter().filter_map(|path| lead(module, path)).collect()))
        .collect()
}

/// Pairs of sibling modules that each refer to the other or to something inside it.
fn circles(modules: &Modules) -> Vec<(ModulePath, ModulePath)> {
    let mut arrows: BTreeSet<(ModulePath, ModulePath)> = BTreeSet::new();
    for (from, targets) in named(modules) {
        for to in targets {
            let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if shared < from.len() && shared < to.len() {
                arrows.insert((from[..=shared].to_vec(), to[..=shared].to_vec()));
            }
        }
    }
    let back = |(a, b): &&(ModulePath, ModulePath)| a < b && arrows.contains(&(b.clone(), a.clone()));
    arrows.iter().filter(back).cloned().collect()
}

#[test]
fn no_two_modules_import_each_other() {
    let modules: Modules = sources()
        .into_iter()
        .map(|(path, lines)| {
            let mut names: ModulePath =
                path.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
            names.retain(|name| name != "crates" && name != "src");
            if path.starts_with("src") {
                names.insert(0, "prony".to_owned());
            }
            if names.last().is_some_and(|name| ["mod", "lib", "main"].contains(&name.as_str())) {
                names.pop();
            }
            (names, lines.join("\n"))
        })
        .collect();
    let found = circles(&modules);
    let allowed = |a: &ModulePath, b: &ModulePath| {
        ALLOWED.iter().any(|(one, two, _)| a.ends_with(&[(*one).to_owned()]) && b.ends_with(&[(*two).to_owned()]))
    };
    let left: Vec<_> =
        found.iter().filter(|(a, b)| !allowed(a, b)).map(|(a, b)| (a.join("::"), b.join("::"))).collect();
    assert!(left.is_empty(), "these import each other; what both need lies below them: {left:#?}");
    assert_eq!(found.len(), ALLOWED.len(), "an exception is no longer needed");
}

#[test]
fn a_circle_is_found() {
    let module = |path: &str, text: &str| (path.split("::").map(str::to_owned).collect(), text.to_owned());
    let modules: Modules = [
        module("house", "mod attic;\nmod cellar;\npub use cellar::Wine;\n"),
        module("house::attic", "use crate::{Roof, Wine};\nfn light() { super::street::lamp() }"),
        module("house::cellar", "use crate::attic::{trunk::{Key, Lock}, Dust};"),
        module("house::attic::trunk", "use super::Dust;"),
        module("house::street", "use std::fmt;"),
    ]
    .into();
    let pair = |a: &str, b: &str| (vec!["house".to_owned(), a.to_owned()], vec!["house".to_owned(), b.to_owned()]);
    assert_eq!(circles(&modules), [pair("attic", "cellar")]);
    let straight: Modules = modules.into_iter().filter(|(path, _)| path.len() < 2 || path[1] != "cellar").collect();
    assert!(circles(&straight).is_empty());
}
