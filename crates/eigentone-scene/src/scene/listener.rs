//! `[listener]`: who hears it, where, and through what.

use eigentone_core::Vec3;
use serde::Deserialize;

/// `[listener]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Listener {
    /// Where the head is.
    pub position: [f64; 3],
    /// Which way it looks; any length.
    pub look: [f64; 3],
    /// Where it is and looks at which times, in place of `position` and `look`.
    pub path: Vec<Waypoint>,
    /// How directions are heard. If not given, `head` in scenes with `[acoustics]` and `pan` in others.
    pub spatial: Option<Spatial>,
    /// A SOFA file for `hrtf`.
    pub sofa: Option<String>,
    /// So many sources, the loudest ones, are heard through it; others through a plain head.
    pub hrtf_sources: usize,
    /// Sound takes its time, so that what moves changes its pitch.
    pub doppler: bool,
}

impl Default for Listener {
    /// Two metres in front of the origin (on the side of −y), at the height of somebody sitting.
    fn default() -> Self {
        Self {
            position: [0.0, -2.0, 1.2],
            look: [0.0, 1.0, 0.0],
            path: Vec::new(),
            spatial: None,
            sofa: None,
            hrtf_sources: 16,
            doppler: false,
        }
    }
}

/// Where a listener is at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// When, in s.
    pub time_s: f64,
    /// Where the head is.
    pub position: [f64; 3],
    /// Which way it looks. If not given, as at the waypoint before, or as `look` says.
    #[serde(default)]
    pub look: Option<[f64; 3]>,
}

/// How directions are heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spatial {
    /// Louder on one side than on the other.
    Pan,
    /// As at the ears of a ball of the size of a head: for headphones.
    Head,
    /// As measured at somebody's ears, from a SOFA file.
    Hrtf,
}

impl Listener {
    /// Position and direction at a time. Between waypoints the way is straight, and the head turns evenly; z is up.
    pub fn at(&self, time_s: f64) -> (Vec3, Vec3) {
        let look_of = |until: usize| {
            let given = self.path[..=until].iter().rev().find_map(|w| w.look);
            Vec3::from_array(given.unwrap_or(self.look)).normalize_or(Vec3::Y)
        };
        let next = self.path.partition_point(|w| w.time_s <= time_s);
        match (self.path.get(next.wrapping_sub(1)), self.path.get(next)) {
            (None, None) => (Vec3::from_array(self.position), Vec3::from_array(self.look).normalize_or(Vec3::Y)),
            (None, Some(first)) => (Vec3::from_array(first.position), look_of(0)),
            (Some(last), None) => (Vec3::from_array(last.position), look_of(next - 1)),
            (Some(a), Some(b)) => {
                let share = (time_s - a.time_s) / (b.time_s - a.time_s);
                let position = Vec3::from_array(a.position).lerp(Vec3::from_array(b.position), share);
                (position, turned(look_of(next - 1), look_of(next), share))
            }
        }
    }
}

/// From one direction to another along the shorter way round.
fn turned(from: Vec3, to: Vec3, share: f64) -> Vec3 {
    let angle = from.angle_between(to);
    // Straight back is left as good as right: to the left.
    let axis = from.cross(to).normalize_or(from.any_orthonormal_vector());
    let axis = if angle > 0.999 * std::f64::consts::PI { Vec3::Z.reject_from(from).normalize_or(axis) } else { axis };
    glam::DQuat::from_axis_angle(axis, angle * share) * from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_walks_and_turns_evenly() {
        let at = |time_s, x, look| Waypoint { time_s, position: [x, 0.0, 1.7], look };
        let path = vec![at(1.0, 0.0, Some([0.0, 2.0, 0.0])), at(3.0, 4.0, Some([1.0, 0.0, 0.0])), at(4.0, 4.0, None)];
        let listener = Listener { path, ..Listener::default() };
        let near = |a: Vec3, b: [f64; 3]| a.distance(Vec3::from_array(b)) < 1e-9;
        let half = 0.5f64.sqrt();
        for (t, position, look) in [
            (0.0, [0.0, 0.0, 1.7], [0.0, 1.0, 0.0]),
            (2.0, [2.0, 0.0, 1.7], [half, half, 0.0]),
            (3.5, [4.0, 0.0, 1.7], [1.0, 0.0, 0.0]),
            (9.0, [4.0, 0.0, 1.7], [1.0, 0.0, 0.0]),
        ] {
            let found = listener.at(t);
            assert!(near(found.0, position) && near(found.1, look), "{t}: {found:?}");
        }
        let still = Listener::default().at(3.0);
        assert!(near(still.0, [0.0, -2.0, 1.2]) && near(still.1, [0.0, 1.0, 0.0]));
        let back = turned(Vec3::Y, -Vec3::Y, 0.5);
        assert!(back.z.abs() < 1e-9 && (back.length() - 1.0).abs() < 1e-9, "{back}");
    }
}
