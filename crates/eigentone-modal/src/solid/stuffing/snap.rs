//! Boundary nodes find their sharp edges and corners.
//!
//! Corners take the nearest boundary node. Each curve takes the shortest way along the boundary between the nodes of its ends, with
//! length counted more the further it is from the curve (as in Bridson & Doran's quartet); so the edge of the body becomes a line of
//! edges of the mesh, without gaps. Then nodes move to where they belong, as far as the tetrahedra around them bear it, while those
//! around them give way.

use super::improve::{Held, Hold};
use super::topology::boundary;
use eigentone_core::{Ordered, Vec3};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

/// Nodes further than this many sizes from a feature are not taken for it.
const REACH: f64 = 2.2;

/// As far from its curve a way along the boundary may lead; more, and in thin bodies it runs along the other side.
const STRAY: f64 = 1.7;

/// How much a way along the boundary is longer for being one size away from its curve.
const DETOUR: f64 = 8.0;

/// Tetrahedra must stay this good while nodes move to their features; smoothing raises the rest later.
const FLOOR: f64 = 0.05;

/// Rounds of moving and giving way.
const ROUNDS: usize = 12;

/// Rounds after which tetrahedra that block the way are removed.
const PATIENCE: usize = 3;

/// How many nodes were to lie on features, and how many could not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Snapped {
    pub wanted: usize,
    pub missed: usize,
    pub lost_corners: usize,
}

struct Matcher<'h, 'a> {
    held: &'h mut Held<'a>,
    neighbours: BTreeMap<u32, BTreeSet<u32>>,
    /// Nodes that are taken, with where they have to go.
    taken: BTreeMap<u32, Goal>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Goal {
    Corner(u32),
    Curve(u32),
}

/// Moves boundary nodes on to the features.
pub(super) fn snap(held: &mut Held<'_>) -> Snapped {
    let mut neighbours: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for [a, b, c] in boundary(&held.mesh.tets) {
        for [i, j] in [[a, b], [b, c], [c, a]] {
            neighbours.entry(i).or_default().insert(j);
            neighbours.entry(j).or_default().insert(i);
        }
    }
    let mut matcher = Matcher { held, neighbours, taken: BTreeMap::new() };
    let nodes_of_corners = matcher.corners();
    let lost_corners = nodes_of_corners.iter().filter(|n| n.is_none()).count();
    for curve in 0..matcher.held.features.curves.len() {
        matcher.curve(curve, &nodes_of_corners);
    }
    let (wanted, waiting) = matcher.settle();
    let late = waiting.iter().filter(|(_, goal)| matches!(goal, Goal::Corner(_))).count();
    Snapped { wanted, missed: waiting.len() - late, lost_corners: lost_corners + late }
}

impl Matcher<'_, '_> {
    /// The closest pairs of corners and nodes first.
    fn corners(&mut self) -> Vec<Option<u32>> {
        let corners = &self.held.features.corners;
        let reach = REACH * self.held.size;
        let mut pairs: Vec<(f64, usize, u32)> = Vec::new();
        for (c, &corner) in corners.iter().enumerate() {
            let near = self.neighbours.keys().map(|&n| (self.held.position(n).distance(corner), c, n));
            pairs.extend(near.filter(|p| p.0 < reach));
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut found = vec![None; corners.len()];
        for (_, corner, node) in pairs {
            if found[corner].is_none() && !self.taken.contains_key(&node) {
                found[corner] = Some(node);
                self.taken.insert(node, Goal::Corner(corner as u32));
            }
        }
        found
    }

    fn nearest_free(&self, p: Vec3) -> Option<u32> {
        let free = self.neighbours.keys().copied().filter(|n| !self.taken.contains_key(n));
        let best = free.map(|n| (self.held.position(n).distance(p), n)).min_by(|a, b| a.0.total_cmp(&b.0))?;
        (best.0 < REACH * self.held.size).then_some(best.1)
    }

    fn curve(&mut self, index: usize, corners: &[Option<u32>]) {
        let curve = &self.held.features.curves[index];
        let mut stations: Vec<u32> = match curve.ends {
            Some(ends) => ends.iter().filter_map(|&c| corners[c]).collect(),
            None => {
                // A loop goes through three of its points, so that the way around is no short cut.
                let places = [0.0, 1.0 / 3.0, 2.0 / 3.0].map(|t| curve.at(t));
                let mut stations: Vec<u32> = places.into_iter().filter_map(|p| self.nearest_free(p)).collect();
                stations.dedup();
                stations
            }
        };
        if curve.ends.is_none() && stations.len() == 3 {
            stations.push(stations[0]);
        } else if stations.len() != 2 {
            return;
        }
        for pair in stations.windows(2) {
            for node in self.way(index, pair[0], pair[1]).unwrap_or_default() {
                self.taken.entry(node).or_insert(Goal::Curve(index as u32));
            }
        }
    }

    /// The cheapest way along the boundary (Dijkstra).
    fn way(&self, index: usize, from: u32, to: u32) -> Option<Vec<u32>> {
        let (curve, size) = (&self.held.features.curves[index], self.held.size);
        let away = |n: u32| {
            let p = self.held.position(n);
            p.distance(curve.nearest(p)) / size
        };
        let mut done: HashMap<u32, u32> = HashMap::new();
        let mut queue = BinaryHeap::from([Reverse((Ordered(0.0), from, from))]);
        while let Some(Reverse((Ordered(cost), node, before))) = queue.pop() {
            if done.contains_key(&node) {
                continue;
            }
            done.insert(node, before);
            if node == to {
                break;
            }
            for &next in &self.neighbours[&node] {
                let free = next == to || !self.taken.contains_key(&next);
                if free && !done.contains_key(&next) && away(next) < STRAY {
                    let length = self.held.position(node).distance(self.held.position(next));
                    let detour = 1.0 + DETOUR * (away(node).powi(2) + away(next).powi(2));
                    queue.push(Reverse((Ordered(cost + length * detour), next, node)));
                }
            }
        }
        let mut way = vec![to];
        while *way.last()? != from {
            way.push(*done.get(way.last()?)?);
        }
        Some(way)
    }

    fn target(&self, node: u32, goal: Goal) -> Vec3 {
        match goal {
            Goal::Corner(c) => self.held.features.corners[c as usize],
            Goal::Curve(c) => self.held.features.curves[c as usize].nearest(self.held.position(node)),
        }
    }

    /// Moves the taken nodes, and those around them out of the way. Returns how many there are, and those that did not arrive.
    fn settle(&mut self) -> (usize, Vec<(u32, Goal)>) {
        let goals: Vec<(u32, Goal)> = self.taken.iter().map(|(&n, &g)| (n, g)).collect();
        let near: BTreeSet<u32> = goals
            .iter()
            .flat_map(|&(n, _)| self.held.stars.of(n).iter())
            .flat_map(|&t| self.held.mesh.tets[t as usize])
            .filter(|n| !self.taken.contains_key(n))
            .collect();
        let mut waiting = goals.clone();
        for round in 0..ROUNDS {
            waiting.retain(|&(node, goal)| !self.approach(node, goal));
            near.iter().for_each(|&n| {
                self.held.improve(n);
            });
            // Those that arrived may still slide along their curve.
            for &(node, _) in goals.iter().filter(|g| !waiting.contains(g)) {
                self.held.improve(node);
            }
            if waiting.is_empty() {
                break;
            }
            if round % PATIENCE == PATIENCE - 1 {
                let bad = |&(node, goal): &(u32, Goal)| self.held.bad_around(node, self.target(node, goal), FLOOR);
                let blocking = waiting.iter().flat_map(bad).collect();
                self.held.peel(&blocking);
            }
        }
        (goals.len(), waiting)
    }

    /// Moves a node towards its goal as far as possible; true if it is there.
    fn approach(&mut self, node: u32, goal: Goal) -> bool {
        let (from, target) = (self.held.position(node), self.target(node, goal));
        let floor = FLOOR.min(self.held.worst_around(node, from, f64::NEG_INFINITY) * 0.99);
        for share in [1.0, 0.7, 0.4, 0.2] {
            let p = from.lerp(target, share);
            let p = if share == 1.0 { target } else { p };
            if self.held.worst_around(node, p, floor) > floor && self.held.faces_outward(node, p) {
                self.held.mesh.positions[node as usize] = p;
                if share == 1.0 {
                    self.held.holds[node as usize] = match goal {
                        Goal::Corner(_) => Hold::Fixed,
                        Goal::Curve(c) => Hold::Curve(c),
                    };
                    return true;
                }
                return false;
            }
        }
        false
    }
}
