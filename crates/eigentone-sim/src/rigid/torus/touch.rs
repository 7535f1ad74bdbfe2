//! From the places where a ring touches to the engine's contact manifolds.

use super::Torus;
use rapier3d::geometry::{ContactData, ContactManifold};
use rapier3d::math::{Pose, Vector};
use rapier3d::parry::query::TrackedContact;
use rapier3d::parry::query::details::{ContactManifoldsWorkspace, TypedWorkspaceData, WorkspaceData};
use rapier3d::parry::shape::PackedFeatureId;

/// A contact that moved along the ring by less than this share of its radius is the same: half of the quarter turn between the
/// four points on a plane.
const SAME: f32 = 0.77;

/// One place where a ring touches or nearly does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    /// On its surface, in its frame.
    pub(super) on_ring: Vector,
    /// On the other surface, in the other's frame.
    pub(super) on_other: Vector,
    /// Unit vector from the ring to the other, in the ring's frame.
    pub(super) normal: Vector,
    /// In m; negative if they overlap.
    pub(super) gap: f32,
    /// Touches of one group share their normal.
    pub(super) group: usize,
}

/// Marks a pair with several manifolds. The engine merges those into clusters that lose their place in its list of constraints,
/// and makes this list anew only for pairs with a workspace.
#[derive(Clone)]
struct Several;

impl WorkspaceData for Several {
    fn as_typed_workspace_data(&self) -> TypedWorkspaceData<'_> {
        TypedWorkspaceData::Custom
    }

    fn clone_dyn(&self) -> Box<dyn WorkspaceData> {
        Box::new(Self)
    }
}

/// A ring and how the engine sees its pair.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) ring: &'a Torus,
    /// The ring in the other's frame.
    pub(super) place: Pose,
    /// Whether the ring is the pair's second shape.
    pub(super) second: bool,
}

impl Side<'_> {
    /// The manifold's first point on the ring.
    pub(super) fn last(&self, manifold: Option<&ContactManifold>) -> Option<Vector> {
        manifold?.points.first().map(|p| self.on_ring(p))
    }

    fn on_ring(&self, point: &TrackedContact<ContactData>) -> Vector {
        if self.second { point.local_p2 } else { point.local_p1 }
    }

    /// One manifold per group.
    pub(super) fn write(
        &self,
        touches: &[Touch],
        manifolds: &mut Vec<ContactManifold>,
        workspace: &mut Option<ContactManifoldsWorkspace>,
    ) {
        let groups = touches.iter().map(|t| t.group + 1).max().unwrap_or(1);
        // None is taken away before the pair parts: the engine keeps references to them.
        if manifolds.len() < groups {
            manifolds.resize_with(groups, ContactManifold::new);
        }
        for (group, manifold) in manifolds.iter_mut().enumerate() {
            self.write_group(touches.iter().filter(|t| t.group == group), manifold);
        }
        if manifolds.len() > 1 && workspace.is_none() {
            *workspace = Some(Several.into());
        }
    }

    /// Only the group of the deepest touch, for pairs that have one manifold.
    pub(super) fn write_deepest(&self, touches: &[Touch], manifold: &mut ContactManifold) {
        let group = touches.iter().min_by(|a, b| a.gap.total_cmp(&b.gap)).map_or(0, |t| t.group);
        self.write_group(touches.iter().filter(|t| t.group == group), manifold);
    }

    fn write_group<'t>(&self, touches: impl Iterator<Item = &'t Touch>, manifold: &mut ContactManifold) {
        let mut old = std::mem::take(&mut manifold.points);
        for touch in touches {
            let on_other = -(self.place.rotation * touch.normal);
            (manifold.local_n1, manifold.local_n2) =
                if self.second { (on_other, touch.normal) } else { (touch.normal, on_other) };
            let id = PackedFeatureId::face(0);
            let mut point = TrackedContact::flipped(touch.on_ring, touch.on_other, id, id, touch.gap, self.second);
            // Impulses go on from the nearest of the last step.
            let away = |p: &TrackedContact<ContactData>| self.on_ring(p).distance(touch.on_ring);
            let nearest = (0..old.len()).min_by(|&a, &b| away(&old[a]).total_cmp(&away(&old[b])));
            if let Some(k) = nearest.filter(|&k| away(&old[k]) < SAME * self.ring.radius) {
                point.data = old.swap_remove(k).data;
            }
            manifold.points.push(point);
        }
    }
}
