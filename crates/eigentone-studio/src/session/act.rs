//! What is done by hand: strikes, grabs, holding; the listener and the quality.

use super::Session;
use crate::fault::Fault;
use crate::request::{MalletChoice, QualityChange};
use eigentone_core::Vec3;
use eigentone_synth::{Budget, Masking, Playback};
use eigentone_world::{Blow, Mallet, Pose, Strike, Target};
use glam::{DMat3, DQuat};
use serde_json::{Value, json};

/// Grabs at once.
const MAX_GRABS: usize = 64;

impl Session {
    pub(super) fn strike(
        &mut self,
        body: u64,
        at: Option<[f64; 3]>,
        direction: Option<[f64; 3]>,
        impulse_ns: f64,
        mallet: Option<&MalletChoice>,
        push: bool,
    ) -> Result<Value, Fault> {
        let key = self.key(body)?;
        if !(impulse_ns.is_finite() && (0.0..=100.0).contains(&impulse_ns)) {
            return Err(Fault::bad(format!("an impulse of {impulse_ns} N·s"), "give 0 to 100; a tap is 0.02"));
        }
        let mallet = mallet.map_or(Ok(Mallet::default()), MalletChoice::mallet)?;
        let target = at.map_or(Target::Top, |at| Target::Local(Vec3::from_array(at)));
        let along = direction.map(Vec3::from_array).and_then(Vec3::try_normalize);
        let blow = along.map_or(Blow::Inward(impulse_ns), |along| Blow::Local(along * impulse_ns));
        let strike = Strike { blow, mallet, pushes: push, ..Strike::on(target) };
        self.world.strike(key, strike).map_err(|e| Fault::bad(e.to_string(), "ask `why` it is silent"))?;
        Ok(json!({}))
    }

    pub(super) fn grab(&mut self, body: u64, at: [f64; 3]) -> Result<Value, Fault> {
        if self.grabs.len() >= MAX_GRABS {
            return Err(Fault::bad("too many hands at once", "release some"));
        }
        let grab = self.world.drag(self.key(body)?, Vec3::from_array(at))?;
        // Who has taken it before has lost it.
        self.grabs.retain(|_, other| other.body() != grab.body());
        self.grab_count += 1;
        self.grabs.insert(self.grab_count, grab);
        Ok(json!({ "grab": self.grab_count }))
    }

    pub(super) fn drag(&mut self, grab: u64, to: [f64; 3]) -> Result<Value, Fault> {
        let held = *self.grabs.get(&grab).ok_or_else(|| Fault::missing("nothing is grabbed under this number", ""))?;
        self.world.drag_to(held, Vec3::from_array(to))?;
        Ok(json!({}))
    }

    pub(super) fn release(&mut self, grab: u64) -> Result<Value, Fault> {
        if let Some(held) = self.grabs.remove(&grab) {
            // What is gone need not be let go.
            let _ = self.world.end_drag(held);
        }
        Ok(json!({}))
    }

    pub(super) fn hold(&mut self, body: u64, on: bool) -> Result<Value, Fault> {
        let key = self.key(body)?;
        if on {
            self.world.hold(key)?;
        } else {
            self.world.release(key)?;
        }
        Ok(json!({}))
    }

    pub(super) fn listen(&mut self, position: [f64; 3], look: [f64; 3], up: Option<[f64; 3]>) -> Result<Value, Fault> {
        let [position, look] = [position, look].map(Vec3::from_array);
        if !(position.is_finite() && look.is_finite() && position.abs().max_element() < 1e6) {
            return Err(Fault::bad("a listener has a place and looks somewhere", "give finite numbers"));
        }
        let pose = match up.map(Vec3::from_array).filter(|up| up.is_finite()) {
            Some(up) => {
                let forward = look.normalize_or(Vec3::Y);
                match forward.cross(up).try_normalize() {
                    Some(right) => {
                        let turn = DMat3::from_cols(right, forward, right.cross(forward));
                        Pose::new(position, DQuat::from_mat3(&turn))
                    }
                    None => Pose::looking(position, look),
                }
            }
            None => Pose::looking(position, look),
        };
        self.world.set_listener(pose);
        self.listener_led = true;
        Ok(json!({}))
    }

    pub(super) fn quality(&mut self, change: &QualityChange) -> Result<Value, Fault> {
        let positive = |x: Option<Option<f64>>, what: &str| match x.flatten() {
            Some(x) if !(x.is_finite() && x >= 0.0) => {
                Err(Fault::bad(format!("{what} is {x}"), "give 0 or more, or null"))
            }
            _ => Ok(()),
        };
        positive(change.masking_db, "masking_db")?;
        positive(change.truncation_pa, "truncation_pa")?;
        positive(change.budget_us, "budget_us")?;
        let mut quality = self.world.settings().quality;
        if let Some(truncation) = change.truncation_pa {
            quality.truncation_pa = truncation.unwrap_or(0.0) as f32;
        }
        match change.masking_db {
            Some(Some(db)) => {
                quality.masking = Some(Masking { offset_db: db as f32, ..quality.masking.unwrap_or_default() });
            }
            Some(None) => quality.masking = None,
            None => {}
        }
        if let (Some(masking), Some(db)) = (&mut quality.masking, change.playback_db) {
            masking.playback = db.map_or(Playback::default(), |db| Playback::TotalAt(db as f32));
        }
        if let Some(modes) = change.budget_modes {
            quality.budget = modes.map(Budget::of);
        }
        self.begin_step("quality", change.gesture, 0);
        self.world.set_quality(quality);
        // In turns nothing may depend on how fast the machine is.
        if let Some(us) = change.budget_us.filter(|_| self.turns.is_none()) {
            self.world.set_budget_us(us);
        }
        self.write_quality(change);
        self.changed();
        let event = json!({ "event": "quality", "quality": self.quality_json() });
        self.hub.event(&event);
        Ok(json!({}))
    }

    /// What a file can say of the quality; processor time is of this machine.
    fn write_quality(&mut self, change: &QualityChange) {
        let number = |x: Option<f64>| x.map(Value::from);
        use toml_edit::Value;
        if let Some(db) = change.masking_db {
            self.text.set("quality", "masking", None);
            self.text.set("quality", "masking_db", number(db));
        }
        if let Some(pa) = change.truncation_pa {
            self.text.set("quality", "truncation_pa", Some(pa.unwrap_or(0.0).into()));
        }
        if let Some(modes) = change.budget_modes {
            self.text.set("quality", "budget", modes.map(|m| (m.min(1 << 30) as i64).into()));
        }
        if let Some(db) = change.playback_db {
            self.text.set("quality", "playback_db", number(db));
        }
    }

    pub(super) fn quality_json(&self) -> Value {
        let settings = self.world.settings();
        let quality = settings.quality;
        let playback = quality.masking.map(|m| match m.playback {
            Playback::TotalAt(db) | Playback::PascalAt(db) => db,
        });
        json!({
            "masking_db": quality.masking.map(|m| m.offset_db),
            "truncation_pa": quality.truncation_pa,
            "budget_modes": quality.budget.map(|b| b.modes),
            "budget_us": settings.budget_us,
            "playback_db": playback,
        })
    }
}
