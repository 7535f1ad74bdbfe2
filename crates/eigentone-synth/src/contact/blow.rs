//! From a contact that begins to blows on both bodies.

use super::body::ContactBody;
use super::clock::Clock;
use super::follow::length;
use super::tracker::Tracker;
use crate::engine::{Handle, Keyframe, POINTS, PointState};
use crate::settings::EngineError;
use crate::texture::{ImpactShape, MicroImpacts, RecordedImpact};
use crate::{BLOCK, StepBank};
use eigentone_core::contact::{ContactPoint, Pose};
use eigentone_core::event::{Action, Event, Moment};
use eigentone_core::model::SiteBlend;
use eigentone_core::{Mode, Vec3};

/// Points of a manifold that strike for themselves; weaker ones strike with the strongest.
const STRIKING_POINTS: usize = 3;

/// A point whose impulse is less than this share of the strongest is not struck for itself.
const WEAK: f32 = 0.1;

/// Slower than this nothing grazes, in m/s.
const GRAZING_M_S: f32 = 0.05;

/// Modes that take part where feedback closes every sample: the loudest at the place of contact.
const FEEDBACK_MODES: usize = 24;

/// What strikes.
pub(super) struct Blow<'a> {
    pub partners: [&'a ContactBody; 2],
    pub poses: [&'a Pose; 2],
    pub points: &'a [ContactPoint],
    /// Share of the impulses that is the blow's, and not mere weight.
    pub share: f32,
    pub approach_m_s: f32,
    pub time_s: f64,
    pub rate_hz: f64,
    pub clock: Clock,
    /// Seconds of sound after that time: what rattles does so no slower in slow motion.
    pub later_s: f64,
    pub seed: u64,
}

impl Blow<'_> {
    fn moment(&self) -> Moment {
        self.clock.moment(self.time_s, self.later_s)
    }

    fn shape(&self) -> ImpactShape {
        let textures = self.partners.map(|p| p.surface.texture());
        ImpactShape::new(textures, self.partners.map(|p| p.mass_kg), f64::from(self.approach_m_s))
    }

    /// Sends everything that the blow does.
    pub fn send(&self, handle: &mut Handle) -> Result<(), EngineError> {
        let shape = self.shape();
        // What the amplitude curves make of the true speed.
        let true_ns = (1.0 + shape.restitution) * shape.mass_kg * f64::from(self.approach_m_s.abs());
        let scale = if true_ns > 0.0 { (shape.impulse_ns / true_ns).min(1.0) as f32 } else { 1.0 };
        let recorded = self.partners.iter().any(|p| !p.surface.takes().is_empty());
        if recorded {
            self.play(&shape, handle)?;
        } else {
            for (point, impulse_ns) in striking(self.points) {
                self.strike(point, impulse_ns * self.share * scale, shape.duration_s, handle)?;
            }
        }
        self.graze(&shape, handle)?;
        self.rattle(&shape, handle)
    }

    fn strike(
        &self,
        point: &ContactPoint,
        impulse_ns: f32,
        duration_s: f64,
        handle: &mut Handle,
    ) -> Result<(), EngineError> {
        let friction = Vec3::from_array(point.tangent_impulse_ns.map(f64::from));
        let share = f64::from(impulse_ns / point.normal_impulse_ns.max(1e-12));
        let along = Vec3::from_array(point.normal.map(f64::from));
        for side in 0..2 {
            let (Some(body), Some(site)) = (self.partners[side].body, self.site(side, point)) else { continue };
            // The normal points from the first to the second; friction is that on the first.
            let sign = if side == 0 { 1.0 } else { -1.0 };
            let world = sign * (share * friction - f64::from(impulse_ns) * along);
            let impulse = self.poses[side].direction_to_local(world);
            let action =
                Action::Blow { site, impulse_ns: impulse.to_array().map(|x| x as f32), duration_s: duration_s as f32 };
            handle.send(Event { time: self.moment(), body, action })?;
        }
        Ok(())
    }

    fn site(&self, side: usize, point: &ContactPoint) -> Option<SiteBlend> {
        self.partners[side].finder.as_ref()?.find(self.poses[side].to_local(point.position))
    }

    fn strongest(&self) -> Option<&ContactPoint> {
        self.points.iter().max_by(|a, b| a.normal_impulse_ns.total_cmp(&b.normal_impulse_ns))
    }

    /// A keyframe at the strongest point, along the normal, shifted by some seconds.
    fn keyframe(&self, point: &ContactPoint, later_s: f64, state: PointState) -> Keyframe {
        let site = |side| self.site(side, point).unwrap_or(SiteBlend::single(0));
        let normal = Vec3::from_array(point.normal.map(f64::from));
        let local =
            |side: usize, sign: f64| self.poses[side].direction_to_local(sign * normal).to_array().map(|x| x as f32);
        let mut points = [PointState::default(); POINTS];
        points[0] = state;
        Keyframe {
            time: self.clock.moment(self.time_s, later_s),
            points,
            sites: [site(0), site(1)],
            directions: [local(0, -1.0), local(1, 1.0)],
        }
    }

    /// A recorded blow in place of a half-sine.
    fn play(&self, shape: &ImpactShape, handle: &mut Handle) -> Result<(), EngineError> {
        let Some(point) = self.strongest() else { return Ok(()) };
        let Some(partner) = self.partners.iter().find(|p| !p.surface.takes().is_empty()) else { return Ok(()) };
        let mut player = RecordedImpact::new(partner.surface.takes().clone(), self.seed, self.rate_hz);
        player.start(shape);
        let mut force = Vec::new();
        let mut block = [0.0; BLOCK];
        // No blow is longer than two seconds.
        while !player.is_silent() && force.len() < (2.0 * self.rate_hz) as usize {
            player.fill(&mut block);
            force.extend(block);
        }
        let direct = partner.surface.texture().direct_pa_per_n;
        let first = self.keyframe(point, 0.0, PointState::default());
        ignore_full(handle.play(self.partners.map(|p| p.body), force, direct, first))
    }

    /// A blow that also rubs: the surfaces are read for as long as it takes into and out of the depth of grazing.
    fn graze(&self, shape: &ImpactShape, handle: &mut Handle) -> Result<(), EngineError> {
        let Some(point) = self.strongest() else { return Ok(()) };
        let slip_m_s = length(point.slip_m_s);
        let textures = self.partners.map(|p| p.surface.texture());
        let depth_m = textures.map(|t| t.impact.grazing_depth_m).into_iter().fold(0.0, f32::max);
        if slip_m_s < GRAZING_M_S || depth_m <= 0.0 || self.partners.iter().all(|p| p.surface.is_smooth()) {
            return Ok(());
        }
        let time_s = shape.grazing_s(depth_m, self.approach_m_s);
        let mean_n = shape.impulse_ns / time_s;
        let roughness = [0, 1].map(|side| self.partners[side].roughness_at(self.poses[side].to_local(point.position)));
        let state = |phase: f64| PointState {
            force_n: (std::f64::consts::FRAC_PI_2 * mean_n * (std::f64::consts::PI * phase).sin()) as f32,
            slip_m_s,
            travel_m_s: [slip_m_s; 2],
            roughness,
        };
        let key = |phase: f64| self.keyframe(point, phase * time_s, state(phase));
        let opened = handle.open_contact(crate::engine::ContactSettings {
            bodies: self.partners.map(|p| p.body),
            surfaces: self.partners.map(|p| &p.surface),
            points: 1,
            mass_over_stiffness_s: shape.mass_over_stiffness_s(),
            seed: self.seed,
            feedback: None,
            first: key(0.0),
        });
        let Ok(id) = opened else { return ignore_full(opened) };
        for phase in [0.25, 0.5, 0.75, 1.0] {
            handle.update_contact(id, key(phase))?;
        }
        // The envelope has come to zero; the filters behind it ring out in the fade.
        handle.close_contact(id, self.clock.moment(self.time_s, time_s + 0.01))
    }

    /// Micro-impacts while the bodies part: computed at once on a small copy of the resonator, since nothing but the blow moves it.
    fn rattle(&self, shape: &ImpactShape, handle: &mut Handle) -> Result<(), EngineError> {
        let scale = self.partners.map(|p| p.surface.texture().impact.micro).into_iter().fold(0.0, f32::max);
        let Some(point) = self.strongest().filter(|_| scale > 0.0) else { return Ok(()) };
        // The body with more modes is the one that shivers.
        let modes = |side: usize| self.partners[side].finder.as_ref().map_or(0, |f| f.model().modes.len());
        let side = usize::from(modes(1) > modes(0));
        let direction = Vec3::from_array(point.normal.map(f64::from)) * if side == 0 { -1.0 } else { 1.0 };
        let Some(mut bank) = self.partners[side].small_bank(self.poses[side], point.position, direction, self.rate_hz)
        else {
            return Ok(());
        };
        let parting = (shape.restitution * f64::from(self.approach_m_s.abs())) as f32;
        let mut micro = MicroImpacts::new(
            scale,
            parting,
            shape.mass_kg as f32,
            shape.restitution as f32,
            shape.impulse_ns as f32,
            self.rate_hz as f32,
        );
        // The blow itself, all in the first sample; then displacement from velocity.
        let (mut out, mut place_m, period_s) = ([0.0; BLOCK], 0.0, 1.0 / self.rate_hz as f32);
        let mut blow_n = (shape.impulse_ns * self.rate_hz) as f32;
        let mut at = 0;
        while !micro.is_over() {
            micro.fill(&mut out, |force_n| {
                place_m += bank.step(force_n + std::mem::take(&mut blow_n)) * period_s;
                -place_m
            });
            for (n, force_n) in out.iter().enumerate().filter(|(_, f)| **f > 0.0) {
                let later_s = shape.duration_s + (at + n) as f64 / self.rate_hz;
                let point =
                    ContactPoint { normal_impulse_ns: force_n * period_s, tangent_impulse_ns: [0.0; 3], ..*point };
                let micro = Blow { later_s, ..*self };
                micro.strike(&point, point.normal_impulse_ns, 0.5 * shape.duration_s, handle)?;
            }
            at += BLOCK;
        }
        Ok(())
    }
}

/// Points that strike, with their impulses: the strongest few; what the others had is theirs.
fn striking(points: &[ContactPoint]) -> Vec<(&ContactPoint, f32)> {
    let mut order: Vec<&ContactPoint> = points.iter().filter(|p| p.normal_impulse_ns > 0.0).collect();
    order.sort_by(|a, b| b.normal_impulse_ns.total_cmp(&a.normal_impulse_ns));
    let total: f32 = order.iter().map(|p| p.normal_impulse_ns).sum();
    let strongest = order.first().map_or(0.0, |p| p.normal_impulse_ns);
    order.truncate(STRIKING_POINTS);
    order.retain(|p| p.normal_impulse_ns >= WEAK * strongest);
    let kept: f32 = order.iter().map(|p| p.normal_impulse_ns).sum();
    order.into_iter().map(|p| (p, p.normal_impulse_ns * total / kept.max(f32::MIN_POSITIVE))).collect()
}

/// A contact for which there is no room is not heard; that is no error.
pub(super) fn ignore_full<T>(result: Result<T, EngineError>) -> Result<(), EngineError> {
    match result {
        Err(EngineError::Contacts(_)) | Ok(_) => Ok(()),
        Err(other) => Err(other),
    }
}

impl ContactBody {
    /// The loudest modes at a place, stepped sample by sample: gives the velocity of the surface there along a direction, in m/s, under a force
    /// along it.
    pub(super) fn small_bank(&self, pose: &Pose, place: [f32; 3], direction: Vec3, rate_hz: f64) -> Option<StepBank> {
        let finder = self.finder.as_ref()?;
        let site = finder.find(pose.to_local(place))?;
        let model = finder.model();
        let push = model.excitation(&site, pose.direction_to_local(direction));
        let mut order: Vec<usize> = (0..push.len()).collect();
        // By how far a steady tone would move them.
        let strength = |n: usize| push[n] * push[n] / model.modes[n].decay_per_s.max(0.1);
        order.sort_by(|&a, &b| strength(b).total_cmp(&strength(a)));
        order.truncate(FEEDBACK_MODES);
        let modes: Vec<Mode> = order.iter().map(|&n| Mode { output_gain: push[n], ..model.modes[n] }).collect();
        let push: Vec<f64> = order.iter().map(|&n| push[n]).collect();
        Some(StepBank::new(&modes, &push, rate_hz))
    }
}

impl Tracker {
    /// Whether this contact is a blow now, and if so how fast and when its surfaces met.
    pub(super) fn is_blow(&self, points: &[ContactPoint], step_s: f64) -> Option<(f32, f64)> {
        // What gravity adds within a step is no speed of approach, and piles of bodies tremble by a few times that.
        let least = self.settings.least_approach_m_s + 30.0 * step_s as f32;
        let striking = points.iter().filter(|p| p.normal_impulse_ns > 0.0 && p.approach_m_s > least);
        let fastest = striking.clone().map(|p| p.approach_m_s).fold(0.0, f32::max);
        let first = striking.map(|p| f64::from(p.touch_s)).fold(f64::INFINITY, f64::min);
        (fastest > 0.0).then(|| (fastest, first.clamp(0.0, step_s)))
    }
}
