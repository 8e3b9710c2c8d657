//! Graphs: shortest paths and strongly connected components.

use petgraph::algo::{dijkstra, kosaraju_scc};
use petgraph::graph::{DiGraph, NodeIndex};

use crate::input::{Checksum, SplitMix};
use crate::work::RatingWork;

const NODES: u64 = 60_000;
const EDGES: u64 = 240_000;

pub(crate) struct Graph(DiGraph<(), u32>);

impl Graph {
    pub(crate) fn make() -> Box<dyn RatingWork> {
        let mut random = SplitMix::new(8);
        let mut graph = DiGraph::with_capacity(NODES as usize, EDGES as usize);
        let nodes: Vec<NodeIndex> = (0..NODES).map(|_| graph.add_node(())).collect();
        for _ in 0..EDGES {
            let (from, to) = (random.below(NODES) as usize, random.below(NODES) as usize);
            graph.add_edge(nodes[from], nodes[to], 1 + random.below(1000) as u32);
        }
        Box::new(Self(graph))
    }
}

impl RatingWork for Graph {
    fn run(&mut self) -> Result<u64, String> {
        let mut sum = Checksum::default();
        for start in 0..12 {
            let distances = dijkstra(&self.0, NodeIndex::new(start * 4999), None, |edge| u64::from(*edge.weight()));
            // The map has no order of its own.
            let total = distances.iter().fold(0_u64, |total, (node, distance)| {
                total.wrapping_add(distance.wrapping_mul(node.index() as u64 + 1))
            });
            sum.word(distances.len() as u64);
            sum.word(total);
        }
        let mut sizes: Vec<usize> = kosaraju_scc(&self.0).iter().map(Vec::len).collect();
        sizes.sort_unstable();
        sum.word(sizes.len() as u64);
        sum.word(sizes.last().copied().unwrap_or(0) as u64);
        Ok(sum.value())
    }
}
