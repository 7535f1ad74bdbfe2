//! From soft bodies to the ears: through open air, or through rooms that were baked.

use crate::Error;
use crate::scene::soft::{Radiation, Soft};
use crate::scene::{Scene, hearing};
use eigentone_core::event::BodyId;
use eigentone_core::units::Decibels;
use eigentone_core::{HEAD_RADIUS_M, Vec3};
use eigentone_sim::soft::SoftWorld;
use eigentone_sim::soft::radiate::{self, Radiator, RadiatorSettings};
use eigentone_space::BLOCK;
use eigentone_space::renderer::Renderer;
use eigentone_space::room::{Place, Space, SpaceSettings, space};

/// What carries the sound. All give two channels in Pa.
pub enum Air {
    /// Nobody is heard: a sample of silence every so many steps.
    Silent { steps: usize, left: usize },
    /// Every triangle of every surface to each ear by itself, with its delay. One radiator for each body, because of their levels.
    Open { radiators: Vec<(Radiator, f32)> },
    /// Each body as a source in rooms.
    Rooms {
        radiators: Vec<(Radiator, f32)>,
        bodies: Vec<usize>,
        space: Box<Space>,
        renderer: Box<Renderer>,
        block: Vec<[f32; BLOCK]>,
        filled: usize,
    },
}

impl Air {
    pub fn new(scene: &Scene, softs: &[Soft], world: &SoftWorld, warnings: &mut Vec<String>) -> Result<Self, Error> {
        let rate_hz = scene.output.sample_rate_hz;
        let heard: Vec<usize> = (0..softs.len()).filter(|&b| !softs[b].silent).collect();
        if heard.is_empty() {
            let steps = world.steps_per_sample(rate_hz);
            return Ok(Self::Silent { steps, left: steps });
        }
        let field = hearing::field_of(scene, warnings)?;
        let settings = RadiatorSettings {
            sample_rate_hz: rate_hz,
            highest_hz: 20_000f64.min(0.45 * rate_hz),
            radiation: match scene.soft_physics.radiation {
                Radiation::Rayleigh => radiate::Radiation::Rayleigh,
                Radiation::Printed => radiate::Radiation::Printed,
            },
            listeners: if field.is_some() { vec![Vec3::ZERO] } else { vec![Vec3::ZERO; 2] },
            dry: field.is_some(),
            ..RadiatorSettings::default()
        };
        let radiators = heard
            .iter()
            .map(|&b| {
                let level = Decibels(softs[b].gain_db).amplitude() as f32;
                (Radiator::of_bodies(world, [b], &settings), level)
            })
            .collect();
        let Some(field) = field else { return Ok(Self::Open { radiators }) };
        let settings = SpaceSettings {
            sample_rate_hz: rate_hz,
            max_sources: softs.len(),
            spatial: hearing::spatial_in_rooms(scene)?,
            doppler: scene.listener.doppler,
            field: Some(field),
            update_s: BLOCK as f64 / rate_hz,
            ..SpaceSettings::default()
        };
        let (space, renderer) = space(&settings);
        let block = vec![[0.0; BLOCK]; heard.len()];
        Ok(Self::Rooms {
            radiators,
            bodies: heard,
            space: Box::new(space),
            renderer: Box::new(renderer),
            block,
            filled: 0,
        })
    }

    /// Samples by which the sound is late.
    pub fn latency(&self) -> usize {
        match self {
            Self::Silent { .. } => 0,
            Self::Open { radiators } => radiators.first().map_or(0, |(r, _)| r.latency()),
            Self::Rooms { radiators, renderer, .. } => {
                radiators.first().map_or(0, |(r, _)| r.latency()) + renderer.latency()
            }
        }
    }

    /// Where the listener is from now on.
    pub fn listen(&mut self, position: Vec3, look: Vec3) {
        let right = look.cross(Vec3::Z).normalize_or(Vec3::X);
        match self {
            Self::Silent { .. } => {}
            Self::Open { radiators } => {
                for (radiator, _) in radiators {
                    radiator.place(0, position - HEAD_RADIUS_M * right);
                    radiator.place(1, position + HEAD_RADIUS_M * right);
                }
            }
            Self::Rooms { radiators, space, .. } => {
                radiators.iter_mut().for_each(|(radiator, _)| radiator.place(0, position));
                space.listen(position, look);
            }
        }
    }

    /// To be called after each step; samples that are done are added to the channels.
    pub fn hear(&mut self, world: &SoftWorld, channels: &mut [Vec<f32>; 2]) {
        match self {
            Self::Silent { steps, left } => {
                *left -= 1;
                if *left == 0 {
                    *left = *steps;
                    channels.iter_mut().for_each(|channel| channel.push(0.0));
                }
            }
            Self::Open { radiators } => {
                let mut sums = [0.0f32; 2];
                let mut done = false;
                for (radiator, level) in radiators.iter_mut() {
                    radiator.listen(world, |sample| {
                        sums.iter_mut().zip(sample).for_each(|(sum, y)| *sum += *level * y);
                        done = true;
                    });
                }
                if done {
                    channels.iter_mut().zip(sums).for_each(|(channel, sum)| channel.push(sum));
                }
            }
            Self::Rooms { radiators, bodies, space, renderer, block, filled } => {
                let at = *filled;
                for ((radiator, level), block) in radiators.iter_mut().zip(block.iter_mut()) {
                    radiator.listen(world, |sample| {
                        block[at] = *level * sample[0];
                        *filled = at + 1;
                    });
                }
                if *filled == BLOCK {
                    *filled = 0;
                    let id = |b: usize| BodyId { slot: b as u32, generation: 0 };
                    bodies.iter().for_each(|&b| space.place(id(b), &Place::at(world.body(b).centre())));
                    let mut out = [[0.0; BLOCK]; 2];
                    renderer.begin(|_, _| {});
                    bodies.iter().zip(block.iter()).for_each(|(&b, block)| renderer.add(id(b), block));
                    renderer.finish(&mut out);
                    channels.iter_mut().zip(&out).for_each(|(channel, out)| channel.extend_from_slice(out));
                }
            }
        }
    }
}
