//! The tree: all nodes in one list, the children of a node next to each other.

use arena_engine::{PerSeat, Seat, values::POINT};

/// Index of the root.
pub(super) const ROOT: u32 = 0;

/// A position, identified by the event that leads to it.
#[derive(Clone, Copy, Default)]
struct Node {
    /// Total reward of the seat that chose this node; 0 below chance.
    reward: i64,
    visits: u32,
    /// Index of the first child; 0 if it has none yet.
    first: u32,
    children: u16,
    /// The action or outcome.
    event: u16,
}

/// All nodes of a decision.
#[derive(Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// Removes all nodes but an empty root; the memory is reused.
    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.nodes.push(Node::default());
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    fn children(&self, at: u32) -> std::ops::Range<u32> {
        let node = &self.nodes[at as usize];
        node.first..node.first + u32::from(node.children)
    }

    pub(super) fn child(&self, at: u32, index: usize) -> u32 {
        self.nodes[at as usize].first + index as u32
    }

    pub(super) fn event(&self, at: u32) -> u16 {
        self.nodes[at as usize].event
    }

    pub(super) fn is_expanded(&self, at: u32) -> bool {
        self.nodes[at as usize].children > 0
    }

    pub(super) fn was_visited(&self, at: u32) -> bool {
        self.nodes[at as usize].visits > 0
    }

    /// Gives a node a child for each event.
    pub(super) fn expand(&mut self, at: u32, events: impl Iterator<Item = u16>) {
        let first = self.nodes.len();
        self.nodes.extend(events.map(|event| Node {
            event,
            ..Node::default()
        }));
        let children = self.nodes.len() - first;
        let node = &mut self.nodes[at as usize];
        node.first = first as u32;
        node.children = children as u16;
    }

    /// Counts a visit of a line that is not evaluated yet.
    pub(super) fn visit(&mut self, at: u32) {
        self.nodes[at as usize].visits += 1;
    }

    /// Takes the visits of a line back.
    pub(super) fn forget(&mut self, path: &[(u32, Option<Seat>)]) {
        self.nodes[ROOT as usize].visits -= 1;
        for &(at, _) in path {
            self.nodes[at as usize].visits -= 1;
        }
    }

    /// Adds the rewards of a line to its nodes, each given with the seat that chose it.
    pub(super) fn learn(&mut self, path: &[(u32, Option<Seat>)], rewards: &PerSeat<i64>) {
        for &(at, chooser) in path {
            if let Some(seat) = chooser {
                self.nodes[at as usize].reward += rewards[usize::from(seat)];
            }
        }
    }

    /// The most visited action of the root and its mean reward. Ties go to the larger
    /// reward, then to the first action.
    pub(super) fn most_visited(&self) -> (u16, i64) {
        let children = self.children(ROOT).map(|at| &self.nodes[at as usize]);
        let best = children.reduce(|best, node| {
            if (node.visits, node.reward) > (best.visits, best.reward) {
                node
            } else {
                best
            }
        });
        best.map_or((0, 0), |node| {
            (node.event, node.reward / i64::from(node.visits.max(1)))
        })
    }
}

/// UCB1: the mean reward plus a bonus for rarely visited nodes.
pub(super) struct Bonus {
    exploration: f64,
    /// Logarithms of the numbers of visits; extended on demand.
    logarithms: Vec<f64>,
}

impl Bonus {
    pub(super) fn new(exploration: f64) -> Self {
        Self {
            exploration,
            logarithms: Vec::new(),
        }
    }

    /// The child to visit next: the first unvisited one, otherwise the first with the
    /// largest sum of mean and bonus. The visit of the node itself is counted already.
    pub(super) fn choose(&mut self, tree: &Tree, at: u32) -> u32 {
        let logarithm = self.logarithm(tree.nodes[at as usize].visits - 1);
        let mut best = (f64::NEG_INFINITY, 0);
        for child in tree.children(at) {
            let node = &tree.nodes[child as usize];
            if node.visits == 0 {
                return child;
            }
            let visits = f64::from(node.visits);
            let mean = node.reward as f64 / (visits * POINT as f64);
            let bound = mean + self.exploration * (logarithm / visits).sqrt();
            if bound > best.0 {
                best = (bound, child);
            }
        }
        best.1
    }

    fn logarithm(&mut self, visits: u32) -> f64 {
        let index = visits as usize;
        while self.logarithms.len() <= index {
            // With 0 visits, any value will do.
            let count = self.logarithms.len().max(1);
            self.logarithms.push(libm::log(count as f64));
        }
        self.logarithms[index]
    }
}
