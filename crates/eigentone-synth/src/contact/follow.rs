//! How a contact that goes on is followed from frame to frame.

use super::body::ContactBody;
use crate::engine::{ContactId, POINTS, PointState};
use eigentone_core::Vec3;
use eigentone_core::contact::{Contact, ContactPoint, Pose};
use eigentone_core::model::SiteBlend;

/// Slower than this is at rest, in m/s: solvers never stand quite still.
const REST_SLIP_M_S: f32 = 1e-2;
const REST_TRAVEL_M_S: f32 = 1.5e-2;

/// Forces are smoothed over this time: a solver hands the weight from corner to corner.
const FORCE_SMOOTHING_S: f64 = 0.008;

/// Cut-off of the two smoothers through which positions go before they are differentiated (10 to 20 Hz).
const TRAVEL_SMOOTHING_HZ: f64 = 15.0;

/// A contact that lasts.
#[derive(Debug)]
pub(super) struct Followed {
    pub bodies: [u32; 2],
    /// When it began, and when it last was a blow.
    pub since_s: f64,
    pub voice: Option<ContactId>,
    /// The seed of its voice, from when it begins to sound until it ends; while it has one and no voice, it waits for another.
    pub seed: Option<u64>,
    /// The sample of its last keyframe.
    pub told: u64,
    /// Force and place of each point.
    pub slots: [Slot; POINTS],
    ways: [Way; 2],
    /// Where sites were last looked up.
    pub places: [Option<(Vec3, SiteBlend)>; 2],
    pub directions: [[f32; 3]; 2],
    /// Total force in the last frame, smoothed.
    pub force_n: f64,
    /// Contact damping it was counted with.
    pub damping: f32,
    /// Where it was last, in the world.
    pub place: [f32; 3],
}

/// A point that is followed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    /// In the frame of the first body.
    place: Vec3,
    taken: bool,
    pub state: PointState,
}

/// The way of a contact over one surface, twice smoothed.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    once: Vec3,
    twice: Vec3,
    speed_m_s: f32,
    begun: bool,
}

impl Way {
    /// The speed at which the contact travels; a surface that is read off must not jump when a manifold gains or loses a point.
    fn step(&mut self, place: Vec3, step_s: f64) {
        if !self.begun {
            *self = Self { once: place, twice: place, speed_m_s: 0.0, begun: true };
            return;
        }
        let follow = 1.0 - (-std::f64::consts::TAU * TRAVEL_SMOOTHING_HZ * step_s).exp();
        let before = self.twice;
        self.once += follow * (place - self.once);
        self.twice += follow * (self.once - self.twice);
        self.speed_m_s = ((self.twice - before).length() / step_s.max(1e-9)) as f32;
    }
}

impl Clone for Followed {
    /// A copy has no voice: there is one of each, and it is followed by one.
    fn clone(&self) -> Self {
        Self { voice: None, ..*self }
    }
}

impl Followed {
    pub fn new(bodies: [u32; 2], since_s: f64) -> Self {
        Self {
            bodies,
            since_s,
            voice: None,
            seed: None,
            told: 0,
            slots: Default::default(),
            ways: Default::default(),
            places: [None; 2],
            directions: [[0.0; 3]; 2],
            force_n: 0.0,
            damping: 1.0,
            place: [0.0; 3],
        }
    }

    /// Takes in what a frame says of it; `carried` is the share of its impulse that is not a blow's.
    pub fn step(
        &mut self,
        contact: &Contact,
        carried: f32,
        poses: [&Pose; 2],
        partners: [&ContactBody; 2],
        step_s: f64,
    ) {
        let pressed = |p: &ContactPoint| carried * p.normal_impulse_ns.max(0.0);
        let total: f64 = contact.points.iter().map(|p| f64::from(pressed(p))).sum();
        let follow = 1.0 - (-step_s / FORCE_SMOOTHING_S).exp();
        self.force_n += follow * (total / step_s.max(1e-9) - self.force_n);
        let middle = mean_place(&contact.points);
        self.place = middle;
        for (way, pose) in self.ways.iter_mut().zip(poses) {
            way.step(pose.to_local(middle), step_s);
        }
        let travelled = self.ways.map(|way| way.speed_m_s);
        for slot in &mut self.slots {
            slot.taken = false;
        }
        let mut order: Vec<&ContactPoint> = contact.points.iter().collect();
        order.sort_by(|a, b| b.normal_impulse_ns.total_cmp(&a.normal_impulse_ns));
        for point in order.into_iter().take(POINTS) {
            let place = poses[0].to_local(point.position);
            let free = self.slots.iter_mut().filter(|s| !s.taken);
            let Some(slot) = free.min_by(|a, b| a.place.distance(place).total_cmp(&b.place.distance(place))) else {
                break;
            };
            (slot.place, slot.taken) = (place, true);
            let state = &mut slot.state;
            state.force_n += follow as f32 * (pressed(point) / step_s.max(1e-9) as f32 - state.force_n);
            state.slip_m_s = at_rest_below(length(point.slip_m_s), REST_SLIP_M_S);
            let travel = point.travel_m_s.unwrap_or(travelled);
            state.travel_m_s = travel.map(|v| at_rest_below(v.abs(), REST_TRAVEL_M_S));
            state.roughness = [0, 1].map(|side| partners[side].roughness_at(poses[side].to_local(point.position)));
        }
        for slot in self.slots.iter_mut().filter(|s| !s.taken) {
            slot.state.force_n *= 1.0 - follow as f32;
            if slot.state.force_n < 1e-4 {
                slot.state = PointState::default();
            }
        }
    }

    /// Cuts forces to what can be; says whether there was anything to cut.
    pub fn limit(&mut self, max_n: f32) -> bool {
        let max_n = max_n.max(0.0);
        let beyond = self.force_n > f64::from(max_n) || self.slots.iter().any(|s| s.state.force_n > max_n);
        self.force_n = self.force_n.min(f64::from(max_n));
        for slot in &mut self.slots {
            slot.state.force_n = slot.state.force_n.min(max_n);
        }
        beyond
    }

    /// Places on some of its bodies must be looked up anew.
    pub fn forget_places(&mut self, sides: [bool; 2]) {
        for (place, _) in self.places.iter_mut().zip(sides).filter(|(_, forget)| *forget) {
            *place = None;
        }
    }

    /// Whether any point slips or travels.
    pub fn moves(&self) -> bool {
        self.slots.iter().any(|s| s.state.slip_m_s > 0.0 || s.state.travel_m_s.iter().any(|v| *v > 0.0))
    }

    /// Force times the speed at which surfaces pass each other: what there is to be heard of it.
    pub fn power_w(&self) -> f32 {
        let speed = |s: &PointState| s.slip_m_s.max(0.3 * s.travel_m_s[0]).max(0.3 * s.travel_m_s[1]);
        self.slots.iter().map(|s| s.state.force_n * speed(&s.state)).sum()
    }

    pub fn states(&self) -> [PointState; POINTS] {
        self.slots.map(|s| s.state)
    }

    /// Where it pushes each body and along which direction.
    pub fn aim(&mut self, contact: &Contact, poses: [&Pose; 2], partners: [&ContactBody; 2]) {
        let middle = mean_place(&contact.points);
        let along = direction(&contact.points, partners.iter().any(|p| p.surface.sticks()));
        for side in 0..2 {
            // The normal points from the first to the second: the first is pushed back.
            let sign = if side == 0 { -1.0 } else { 1.0 };
            let local = poses[side].direction_to_local(sign * along);
            let last = Vec3::from_array(self.directions[side].map(f64::from));
            if last.distance(local) > 0.05 {
                self.directions[side] = local.to_array().map(|x| x as f32);
            }
            if let Some(finder) = &partners[side].finder {
                finder.follow(poses[side].to_local(middle), &mut self.places[side]);
            }
        }
    }
}

/// Mean place of some points by their force; the plain mean if there is none.
pub(super) fn mean_place(points: &[ContactPoint]) -> [f32; 3] {
    let weight = |p: &ContactPoint| f64::from(p.normal_impulse_ns.max(0.0)) + 1e-12;
    let total: f64 = points.iter().map(weight).sum();
    let sum: Vec3 = points.iter().map(|p| Vec3::from_array(p.position.map(f64::from)) * weight(p)).sum();
    (sum / total.max(1e-300)).to_array().map(|x| x as f32)
}

/// Along which a contact shakes its bodies: mostly across the surface, and along it where it sticks and slips.
fn direction(points: &[ContactPoint], sticks: bool) -> Vec3 {
    let sum = |f: &dyn Fn(&ContactPoint) -> [f32; 3]| {
        let weighted = |p: &ContactPoint| {
            Vec3::from_array(f(p).map(f64::from)) * (f64::from(p.normal_impulse_ns.max(0.0)) + 1e-12)
        };
        points.iter().map(weighted).sum::<Vec3>().normalize_or_zero()
    };
    let (normal, slip) = (sum(&|p| p.normal), sum(&|p| p.slip_m_s));
    // Tuned shares. What sticks is also pulled into the surface: so it can make a plate or a bar bend, as a bow does.
    let (across, along) = if sticks { (1.0, 1.0) } else { (1.0, 0.3) };
    (across * normal + along * slip).normalize_or(Vec3::Z)
}

pub(super) fn length(v: [f32; 3]) -> f32 {
    v.iter().map(|x| x * x).sum::<f32>().sqrt()
}

fn at_rest_below(speed: f32, least: f32) -> f32 {
    if speed < least { 0.0 } else { speed }
}
