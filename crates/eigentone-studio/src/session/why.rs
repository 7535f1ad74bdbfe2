//! Why is it silent?

use super::Session;
use crate::fault::Fault;
use eigentone_world::Sound;
use serde_json::{Value, json};

/// Quieter than this at the ear is not heard, in Pa: the threshold of hearing.
const HEARING_PA: f64 = 2e-5;

impl Session {
    pub(super) fn why(&mut self, id: u64) -> Result<Value, Fault> {
        let key = self.key(id)?;
        let mut reasons: Vec<String> = Vec::new();
        let Some(body) = self.world.body(key).cloned() else { return Err(Fault::no_body(id)) };
        let model = self.world.model(key).cloned();
        match (&body.sound, &model) {
            (Sound::Silent, _) => reasons.push("It is silent by itself: what strikes it sounds, it does not. Choose a material to give it a model.".to_owned()),
            (_, None) if body.soft.is_none() => reasons.push("It has no mode between 20 Hz and 20 kHz: it is too small and stiff, or too soft. Make it larger, thinner or of another material.".to_owned()),
            _ => {}
        }
        if let Some(model) = &model {
            let rate = self.rate_hz();
            let factor = f64::from(body.params.frequency);
            if model.modes.iter().all(|m| m.frequency_hz * factor > 0.49 * rate) {
                reasons.push(format!("All its modes are above {:.0} Hz, which this sample rate cannot carry: lower the pitch or make it larger.", 0.49 * rate));
            }
            if model.modes.iter().all(|m| m.output_gain == 0.0) {
                reasons.push("All its modes are muted, or another is soloed.".to_owned());
            }
            let longest = model
                .modes
                .iter()
                .map(|m| 6.9 / (m.decay_per_s * f64::from(body.params.damping.max(eigentone_world::MIN_DAMPING))))
                .fold(0.0, f64::max);
            if longest < 0.02 {
                reasons.push(format!(
                    "It rings for {:.0} ms at most: the material or the damping lets it only click.",
                    1e3 * longest
                ));
            }
            for warning in model.info.warnings.iter().take(3) {
                reasons.push(format!("Its model says: {warning}"));
            }
        }
        if body.params.gain.abs() < 1e-3 {
            reasons.push("Its gain is turned down.".to_owned());
        }
        if body.held {
            reasons.push("It is held in the hand, which damps it. Let it go.".to_owned());
        }
        if !body.present {
            reasons.push("It is not there yet or any more: it appears at its time.".to_owned());
        }
        if !self.playing {
            reasons.push("Time stands still, so nothing collides. Blows by hand are heard all the same.".to_owned());
        }
        self.why_not_heard(key, &mut reasons);
        let sounding = self.world.is_sounding(key);
        if reasons.is_empty() {
            reasons.push(
                if sounding { "It sounds right now." } else { "Nothing has struck it lately. Strike it." }.to_owned(),
            );
        }
        Ok(json!({ "reasons": reasons, "sounding": sounding }))
    }

    /// What comes between it and the ear.
    fn why_not_heard(&mut self, key: eigentone_world::BodyKey, reasons: &mut Vec<String>) {
        let Some(pose) = self.world.pose(key) else { return };
        let place = eigentone_core::Vec3::from_array(pose.position.map(f64::from));
        let distance = (place - self.world.listener().position).length();
        if distance > 30.0 {
            reasons.push(format!(
                "It is {distance:.0} m from the listener, so {:.0} dB quieter than at one metre.",
                20.0 * distance.log10()
            ));
        }
        let stats = self.world.stats();
        if stats.scaled > 0 {
            reasons
                .push(format!("The budget is spent: {} modes are left out. Raise it, or remove bodies.", stats.scaled));
        }
        if self.world.settings().quality.truncation_pa > 100.0 * HEARING_PA as f32 {
            reasons.push("The truncation level is high: quiet modes sleep.".to_owned());
        }
        if self.world.counts().shed > 0 {
            reasons.push("Some blows came faster than they could be passed on, and were given up.".to_owned());
        }
        let page = self.audio.pace();
        if page.frames() == 0 {
            reasons.push("No sound has been asked for yet: click the page to start it.".to_owned());
        }
    }
}
