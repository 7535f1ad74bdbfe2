//! Particles that fall, bounce and strike colliders, with impact times in closed form.
