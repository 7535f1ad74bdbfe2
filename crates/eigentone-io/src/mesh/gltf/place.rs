//! Where the meshes of a glTF scene stand: transforms of nodes, copies of meshes, and up.

use super::{
    accessor::Store,
    document::{Document, InstanceAttributes, transform},
    missing,
};
use crate::error::Fault;
use glam::{DMat4, DVec4};

/// Most meshes that a scene may place: a few bytes can ask for millions of copies of nothing.
const MAX_PLACED: usize = 1 << 20;

/// From the y up of glTF (§3.4) to the z up of scenes: (x, y, z) becomes (x, −z, y). What faces the viewer, along +z, then faces −y.
const Z_UP: DMat4 = DMat4::from_cols(DVec4::X, DVec4::Z, DVec4::NEG_Y, DVec4::W);

/// The meshes of the scene with the transforms of their nodes. A file without scenes shows all its root nodes, and one
/// without nodes all its meshes.
pub(super) fn placed_meshes(document: &Document, store: &Store) -> Result<Vec<(usize, DMat4)>, Fault> {
    if document.nodes.is_empty() && document.scenes.is_empty() {
        return Ok((0..document.meshes.len()).map(|mesh| (mesh, Z_UP)).collect());
    }
    // Nodes form trees (glTF 2.0 §3.5.2): one that is reached twice is part of a cycle or has two parents.
    let mut reached = vec![false; document.nodes.len()];
    let mut meshes = Vec::new();
    let mut open: Vec<(usize, DMat4)> = roots(document)?.into_iter().rev().map(|n| (n, Z_UP)).collect();
    while let Some((index, parent)) = open.pop() {
        let node = document.nodes.get(index).ok_or_else(|| missing("node", index, document.nodes.len()))?;
        if std::mem::replace(&mut reached[index], true) {
            return Err(Fault::in_item(format!("node {index}"), "a node with one parent", "one reached twice"));
        }
        let transform = parent * node.transform();
        if let Some(mesh) = node.mesh {
            let copies = node.instances().map_or_else(|| Ok(vec![DMat4::IDENTITY]), |i| instances(i, index, store))?;
            if meshes.len() + copies.len() > MAX_PLACED {
                let expected = format!("at most {MAX_PLACED} placed meshes");
                return Err(Fault::in_item(format!("node {index}"), expected, "more"));
            }
            meshes.extend(copies.into_iter().map(|copy| (mesh, transform * copy)));
        }
        open.extend(node.children.iter().rev().map(|&child| (child, transform)));
    }
    Ok(meshes)
}

fn roots(document: &Document) -> Result<Vec<usize>, Fault> {
    let scene = document.scene.unwrap_or(0);
    match document.scenes.get(scene) {
        Some(scene) => Ok(scene.nodes.clone()),
        None if document.scenes.is_empty() && document.scene.is_none() => {
            let mut is_root = vec![true; document.nodes.len()];
            for &child in document.nodes.iter().flat_map(|n| &n.children) {
                if let Some(root) = is_root.get_mut(child) {
                    *root = false;
                }
            }
            Ok((0..is_root.len()).filter(|&n| is_root[n]).collect())
        }
        None => Err(missing("scene", scene, document.scenes.len())),
    }
}

/// The transforms of copies within their node.
fn instances(attributes: InstanceAttributes, node: usize, store: &Store) -> Result<Vec<DMat4>, Fault> {
    let InstanceAttributes { translation, rotation, scale } = attributes;
    let translation = translation.map(|a| store.rows::<3>(a, "VEC3")).transpose()?;
    let rotation = rotation.map(|a| store.rows::<4>(a, "VEC4")).transpose()?;
    let scale = scale.map(|a| store.rows::<3>(a, "VEC3")).transpose()?;
    let counts: Vec<usize> =
        [translation.as_ref().map(Vec::len), rotation.as_ref().map(Vec::len), scale.as_ref().map(Vec::len)]
            .into_iter()
            .flatten()
            .collect();
    let count = counts.first().copied().unwrap_or(0);
    if counts.iter().any(|&c| c != count) || count > MAX_PLACED {
        let found = counts.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        return Err(Fault::in_item(format!("node {node}"), "as many rows of each attribute of its copies", found));
    }
    let row = |k: usize| {
        // Rotations that were stored as whole numbers are not exactly of length one.
        let turn = rotation.as_ref().map(|r| DVec4::from_array(r[k]).normalize_or(DVec4::W).to_array());
        transform(translation.as_ref().map(|t| t[k]), turn, scale.as_ref().map(|s| s[k]))
    };
    Ok((0..count).map(row).collect())
}
