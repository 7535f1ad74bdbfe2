//! Makes a body what it was, changing only what differs.

use super::World;
use crate::body::{Body, MaterialRef, Sound, Surface};
use crate::change::Change;
use crate::error::WorldError;
use crate::key::BodyKey;
use crate::shape::Shape;
use std::sync::Arc;

impl World {
    /// Makes a body what `wanted` says, except for where it is and how it moves.
    pub(crate) fn make_like(&mut self, key: BodyKey, wanted: &Body) -> Result<(), WorldError> {
        let now = self.state(key)?.body.clone();
        let mut changes = Vec::new();
        let mut differs = |differs: bool, change: Change| {
            if differs {
                changes.push(change);
            }
        };
        let (p, q) = (now.params, wanted.params);
        differs(p.gain != q.gain, Change::Gain(q.gain));
        differs(p.emphasis != q.emphasis, Change::Emphasis(q.emphasis));
        differs(p.damping != q.damping, Change::Damping(q.damping));
        differs(p.frequency != q.frequency, Change::Frequency(q.frequency));
        differs(p.strain != q.strain, Change::Strain(q.strain));
        differs(!same_material(&now.material, &wanted.material), Change::Material(wanted.material.clone()));
        differs(!same_sound(&now.sound, &wanted.sound), Change::Sound(wanted.sound.clone()));
        differs(!same_surface(&now.surface, &wanted.surface), Change::Surface(wanted.surface.clone()));
        let same_map = match (&now.surface_map, &wanted.surface_map) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        differs(now.kind != wanted.kind, Change::Kind(wanted.kind.clone()));
        differs(now.present != wanted.present, Change::Present(wanted.present));
        differs(now.drive != wanted.drive, Change::Drive(wanted.drive));
        differs(now.held != wanted.held, Change::Hold(wanted.held));
        differs(p.size != q.size, Change::Size(q.size));
        for change in changes {
            self.change(key, change)?;
        }
        if !same_map {
            self.set_surface_map(key, wanted.surface_map.clone())?;
        }
        if !same_shape(&now.shape, &wanted.shape) {
            self.state_mut(key)?.body.shape = wanted.shape.clone();
            self.reshape(key)?;
        }
        if now.friction != wanted.friction || now.restitution != wanted.restitution {
            let state = self.state_mut(key)?;
            (state.body.friction, state.body.restitution) = (wanted.friction, wanted.restitution);
            self.set_surface_now(key, wanted.surface.clone())?;
        }
        if now.mass_kg != wanted.mass_kg {
            self.state_mut(key)?.body.mass_kg = wanted.mass_kg;
            self.weigh(key)?;
        }
        let resonator = |b: &Body| (b.glide, b.nonlinear, b.strain_sensitivity);
        if resonator(&now) != resonator(wanted) {
            self.set_resonator(key, wanted.glide, wanted.nonlinear, wanted.strain_sensitivity)?;
        }
        if now.voicing != wanted.voicing {
            self.set_voicing(key, wanted.voicing.clone())?;
        }
        if now.diffuse != wanted.diffuse {
            self.set_diffuse(key, wanted.diffuse.clone())?;
        }
        self.set_directivity(key, wanted.directivity)?;
        self.set_label(key, &wanted.name, wanted.user_data)
    }
}

fn same_shape(a: &Shape, b: &Shape) -> bool {
    Arc::ptr_eq(&a.mesh, &b.mesh) && a.collider == b.collider && a.thickness_m == b.thickness_m
}

fn same_material(a: &MaterialRef, b: &MaterialRef) -> bool {
    match (a, b) {
        (MaterialRef::Named(a), MaterialRef::Named(b)) => a == b,
        (MaterialRef::Material(a), MaterialRef::Material(b)) => Arc::ptr_eq(a, b) || a == b,
        _ => false,
    }
}

fn same_sound(a: &Sound, b: &Sound) -> bool {
    match (a, b) {
        (Sound::Made, Sound::Made) | (Sound::Voice, Sound::Voice) | (Sound::Silent, Sound::Silent) => true,
        (Sound::MadeWith(a), Sound::MadeWith(b)) => a == b,
        (Sound::Model(a), Sound::Model(b)) => Arc::ptr_eq(a, b),
        (Sound::Shared { with: a, factor: x }, Sound::Shared { with: b, factor: y }) => a == b && x == y,
        _ => false,
    }
}

fn same_surface(a: &Surface, b: &Surface) -> bool {
    match (a, b) {
        (Surface::OfMaterial, Surface::OfMaterial) => true,
        (Surface::Named(a), Surface::Named(b)) => a == b,
        (Surface::Texture(a), Surface::Texture(b)) => Arc::ptr_eq(a, b) || a == b,
        (Surface::Ready(a), Surface::Ready(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}
