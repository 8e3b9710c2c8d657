//! Nodes as `sinfo` and `scontrol show node` describe them.

use super::tool::ask;
use crate::MissingNode;
use crate::{Error, Result};

/// A node of a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlurmNode {
    /// Its name.
    pub name: String,
    /// Its state as Slurm prints it, such as `idle`, `down*` or `drained`; a star means that it does not answer.
    pub state: String,
    /// Reason of the state; empty if Slurm gives none.
    pub reason: String,
}

impl SlurmNode {
    /// Whether a job on it will run sooner or later. The states are those of `sinfo(1)`.
    #[must_use]
    pub fn usable(&self) -> bool {
        let silent = self.state.contains('*');
        let word: String = self.state.chars().take_while(char::is_ascii_alphabetic).collect();
        let known = ["idle", "allocated", "alloc", "mixed", "mix", "completing", "comp", "planned", "plnd"];
        !silent && known.contains(&word.to_ascii_lowercase().as_str())
    }

    /// Whether it is idle.
    #[must_use]
    pub fn free(&self) -> bool {
        self.usable() && self.state.to_ascii_lowercase().starts_with("idle")
    }

    /// State and reason in one phrase.
    #[must_use]
    pub fn words(&self) -> String {
        if self.reason.is_empty() { self.state.clone() } else { format!("{}: {}", self.state, self.reason) }
    }
}

/// Parses lines `name|state|reason`. The first line of a node in several partitions counts; other lines are skipped.
#[must_use]
pub fn parse_nodes(text: &str) -> Vec<SlurmNode> {
    let mut nodes: Vec<SlurmNode> = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, '|').map(str::trim);
        let (Some(name), Some(state), reason) = (fields.next(), fields.next(), fields.next()) else { continue };
        let odd = |text: &str| text.is_empty() || text.chars().any(|c| c.is_whitespace() || c.is_control());
        if odd(name) || odd(state) || nodes.iter().any(|node| node.name == name) {
            continue;
        }
        let reason = reason.filter(|reason| !["none", "(null)", "None"].contains(reason)).unwrap_or_default();
        let reason = reason.chars().filter(|c| !c.is_control()).take(300).collect();
        nodes.push(SlurmNode { name: name.to_owned(), state: state.to_owned(), reason });
    }
    nodes
}

/// All nodes of a partition, or those of a list in Slurm's notation such as `n[1-4]`.
///
/// # Errors
/// When Slurm is missing, does not answer, or has no such partition.
pub fn nodes(partition: Option<&str>, list: Option<&str>) -> Result<Vec<SlurmNode>> {
    let mut arguments = vec!["--noheader".to_owned(), "--Node".to_owned(), "--format=%N|%T|%E".to_owned()];
    arguments.extend(partition.map(|partition| format!("--partition={partition}")));
    arguments.extend(list.map(|list| format!("--nodes={list}")));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Ok(parse_nodes(&ask("sinfo", &arguments, "")?))
}

/// Nodes of a list in Slurm's notation that are not among `known`.
///
/// # Errors
/// When Slurm is missing or cannot parse the list.
pub fn unknown(list: &str, known: &[SlurmNode]) -> Result<Vec<SlurmNode>> {
    let names = ask("scontrol", &["show", "hostnames", list], "")?;
    let new =
        names.lines().map(str::trim).filter(|name| !name.is_empty() && known.iter().all(|node| node.name != *name));
    let node = |name: &str| SlurmNode {
        name: name.to_owned(),
        state: "unknown".to_owned(),
        reason: "Slurm has no such node".to_owned(),
    };
    Ok(new.map(node).collect())
}

/// State and reason of one node from `scontrol --oneliner show node`; `None` if the text has neither.
#[must_use]
pub fn reason_of(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.contains("NodeName="))?;
    let after = |key: &str| line.split_once(key).map(|(_, rest)| rest);
    let state = after(" State=")?.split_whitespace().next()?;
    // A reason is the last field, has blanks, and ends with its author and time: [root@2026-01-01T00:00:00].
    let reason = after(" Reason=").map(|rest| rest.rfind(" [").map_or(rest, |end| &rest[..end]).trim());
    let reason: Option<String> = reason.map(|reason| reason.chars().filter(|c| !c.is_control()).take(300).collect());
    let fit = SlurmNode { name: String::new(), state: state.to_owned(), reason: reason.unwrap_or_default() };
    (!fit.usable() || !fit.reason.is_empty()).then(|| fit.words())
}

/// Why Slurm considers a node unusable; `None` if it does not, or does not answer.
#[must_use]
pub fn reason(node: &str) -> Option<String> {
    reason_of(&ask("scontrol", &["--oneliner", "show", "node", node], "").ok()?)
}

/// Chooses `count` of `nodes`: idle ones first, then busy ones. If these are too few, all unusable nodes are reported
/// as missing with Slurm's reason, and so are nodes that do not exist. With `all`, the nodes were named one by one, and
/// every unusable one is missing.
///
/// # Errors
/// When none is usable.
pub fn choose(nodes: &[SlurmNode], count: usize, all: bool) -> Result<(Vec<String>, Vec<MissingNode>)> {
    let mut chosen: Vec<&SlurmNode> = nodes.iter().filter(|node| node.free()).collect();
    chosen.extend(nodes.iter().filter(|node| node.usable() && !node.free()));
    chosen.truncate(count);
    let mut missing = Vec::new();
    if all || chosen.len() < count {
        let lost = nodes.iter().filter(|node| !node.usable());
        missing.extend(lost.map(|node| MissingNode { node: node.name.clone(), reason: node.words() }));
        missing.truncate(count - chosen.len());
        let unknown = count - chosen.len() - missing.len();
        if unknown > 0 {
            let reason = format!("Slurm has {} such nodes, and {count} were asked for", nodes.len());
            missing.push(MissingNode { node: format!("{unknown} more"), reason });
        }
    }
    if chosen.is_empty() {
        let reasons: Vec<String> =
            missing.iter().take(4).map(|missing| format!("{} is {}", missing.node, missing.reason)).collect();
        return Err(Error::Refused(format!("none of Slurm's nodes can be used: {}", reasons.join(", "))));
    }
    let mut names: Vec<String> = chosen.into_iter().map(|node| node.name.clone()).collect();
    // In the site's order, whatever their state.
    names.sort_by_key(|name| nodes.iter().position(|node| node.name == *name));
    Ok((names, missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SINFO: &str = "n1|idle|none\nn2|down*|Not responding\nn3|drained|fan | noise\nn1|idle|none\nn4|mixed|none\n";

    #[test]
    fn states_and_reasons_are_parsed() {
        let nodes = parse_nodes(SINFO);
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["n1", "n2", "n3", "n4"]);
        assert_eq!(nodes.iter().map(SlurmNode::usable).collect::<Vec<_>>(), [true, false, false, true]);
        assert_eq!(nodes[1].words(), "down*: Not responding");
        assert_eq!(nodes[2].reason, "fan | noise");
        assert!(nodes[0].free() && !nodes[3].free());
        for state in ["idle*", "draining@", "unknown", "future", "maint", "reserved", "powered_down", "inval", ""] {
            assert!(!SlurmNode { state: state.to_owned(), ..nodes[0].clone() }.usable(), "{state}");
        }
    }

    #[test]
    fn no_node_is_dropped_silently() {
        let nodes = parse_nodes(SINFO);
        let (chosen, missing) = choose(&nodes, 4, false).unwrap();
        assert_eq!(chosen, ["n1", "n4"]);
        assert_eq!(missing.len(), 2);
        assert_eq!(missing[0], MissingNode { node: "n2".to_owned(), reason: "down*: Not responding".to_owned() });
        let (chosen, missing) = choose(&nodes, 2, false).unwrap();
        assert_eq!((chosen.len(), missing.len()), (2, 0));
        let (_, missing) = choose(&nodes, 6, false).unwrap();
        assert_eq!(missing[2].node, "2 more");
        let said = choose(&nodes[1..3], 2, false).unwrap_err().to_string();
        assert!(said.contains("n2 is down*: Not responding"), "{said}");
    }

    #[test]
    fn reasons_of_one_node() {
        let line = "NodeName=n2 Arch=x86_64 State=DOWN* ThreadsPerCore=1 Partitions=all Reason=Not responding now \
                    [slurm@2026-11-21T07:41:17]";
        assert_eq!(reason_of(line).unwrap(), "DOWN*: Not responding now");
        assert_eq!(reason_of("NodeName=n1 State=IDLE ThreadsPerCore=1"), None);
        assert_eq!(reason_of("NodeName=n1 State=DOWN+DRAIN x=1").unwrap(), "DOWN+DRAIN");
        assert_eq!(reason_of("NodeName=n1 Sta"), None);
        assert_eq!(reason_of(""), None);
    }
}
