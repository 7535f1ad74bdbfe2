//! Contact tracking: a [stream of contacts](eigentone_core::contact) in, blows and sounding contacts out (Menzies 2011, §4.2–4.3).
//!
//! A [`Tracker`] lives on the control side, between a physics engine and a [`Handle`](crate::Handle), and knows of no physics engine. For every frame it is given it decides
//!
//! - what is a **blow**: surfaces that meet faster than `v_min`, once per pair and refractory time. Every point of the manifold strikes at its own place; what mere weight
//!   contributes is taken off. The blow's length follows from the masses and the stiffness of both surfaces;
//! - what **goes on**: contacts older than a few milliseconds whose points slip or travel become sounding contacts with a keyframe per step. A resting contact
//!   is silent, and one that has just begun is a blow and nothing else: so nothing drones;
//! - what is **damped**: the contact damping of all surfaces that touch a body is multiplied.
//!
//! Feeding the engine from any physics engine:
//!
//! ```
//! use eigentone_core::contact::{Contact, ContactFrame, ContactPoint, Phase, Pose};
//! use eigentone_synth::contact::{ContactBody, Tracker, TrackerSettings};
//! # use eigentone_core::{Method, ModalModel, Mode, ModelInfo, ShapeTable, Vec3};
//! # let model = std::sync::Arc::new(ModalModel {
//! #     info: ModelInfo::new("block", Method::Manual, "wood"),
//! #     modes: vec![Mode { frequency_hz: 440.0, decay_per_s: 20.0, output_gain: 1.0 }],
//! #     surface: eigentone_core::Surface { positions: vec![[0.0; 3]], normals: vec![[0.0, 0.0, 1.0]], triangles: vec![] },
//! #     shapes: ShapeTable::from_fn(1, 1, |_, _| Vec3::Z),
//! #     diffuse: vec![],
//! # });
//! use eigentone_synth::{BodySettings, Settings, engine};
//!
//! let (mut handle, mut processor) = engine(Settings::default())?;
//! let mut tracker = Tracker::new(TrackerSettings::default(), 44_100.0);
//! // Body 0 is the floor, which does not sound; body 1 is a block of 200 g.
//! tracker.add(0, ContactBody::silent());
//! let block = handle.add(&BodySettings::new(model.clone()))?;
//! tracker.add(1, ContactBody::of(block, model, 0.2));
//!
//! let step_s = 1.0 / 240.0;
//! for step in 1..=48 {
//!     // Here your physics engine takes its step. This is what it would report of a block that lands in the tenth and then slides.
//!     let point = ContactPoint {
//!         normal: [0.0, 0.0, 1.0],
//!         normal_impulse_ns: if step == 10 { 0.4 } else { 0.2 * 9.81 * step_s as f32 },
//!         approach_m_s: if step == 10 { 2.0 } else { 0.0 },
//!         slip_m_s: [-0.5, 0.0, 0.0],
//!         ..ContactPoint::default()
//!     };
//!     let phase = if step == 10 { Phase::Begin } else { Phase::Stay };
//!     let contacts = if step < 10 { vec![] } else { vec![Contact { id: 7, bodies: [0, 1], phase, points: vec![point] }] };
//!     let frame = ContactFrame { time_s: step as f64 * step_s, step_s, poses: vec![Pose::at_origin(1)], contacts, strains: vec![] };
//!     tracker.step(&frame, &mut handle)?;
//!     // The audio callback, a step behind.
//!     while (processor.clock() + 64) as f64 <= (frame.time_s - step_s) * 44_100.0 {
//!         processor.next_block();
//!     }
//! }
//! assert_eq!(processor.stats().hits, 1);
//! # Ok::<(), eigentone_synth::EngineError>(())
//! ```

mod blow;
mod body;
mod clock;
mod follow;
mod limits;
mod site;
mod sounding;
mod tracker;

pub use body::{ContactBody, ContactEvent, ContactEventKind};
pub use tracker::{Tracker, TrackerSettings};
