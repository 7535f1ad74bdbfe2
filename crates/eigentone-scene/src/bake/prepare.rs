//! From `[acoustics]` to something that can be simulated.

use crate::Error;
use crate::scene::Scene;
use crate::scene::acoustics::{self, Absorption};
use eigentone_core::Vec3;
use eigentone_core::acoustics::{Bounds, MaterialMesh};
use eigentone_io::{read_material_mesh, read_mesh, sha256_hex};
use eigentone_wave::probe::{self, Placement, Region};
use eigentone_wave::settings::Ground;
use eigentone_wave::{Acoustics, Cost, Settings, rooms, voxel, walls};
use serde::Serialize;

/// Bytes of memory that one simulation may take: more than a scene at the defaults ever needs.
const MAX_BYTES: usize = 64 << 30;

/// Cells of a scene up to which lost passages are looked for, which takes eleven bytes each.
const MAX_SEARCHED: usize = 1 << 26;

/// Steps of cells per second on one core of an ordinary machine, as measured with the bench `wave`, walls and small boxes included. Only for estimates.
const CELL_STEPS_PER_S: f64 = 5e7;

/// A scene ready to be baked.
pub struct Prepared {
    /// Name of the scene.
    pub name: String,
    /// The walls.
    pub mesh: MaterialMesh,
    /// Cells and settings.
    pub acoustics: Acoustics,
    /// Where listeners may be; without any, in all of the scene.
    pub regions: Vec<Region>,
    /// Where simulations start.
    pub probes: Vec<Vec3>,
    /// What the bake will take.
    pub estimate: Estimate,
    /// How names of materials were understood.
    pub materials: Vec<MaterialRow>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// Hash of all that the field follows from.
    pub hash: String,
    /// All settings, as JSON.
    pub settings: String,
}

/// How the name of a material in a mesh was understood.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MaterialRow {
    /// As the mesh has it.
    pub name: String,
    /// The wall material that it is taken for; `None` if only a number was given.
    pub wall: Option<String>,
    /// What it absorbs of sound from all directions.
    pub absorption: f64,
    /// `scene` if the scene says so, `name` if it was found in the name.
    pub from: &'static str,
}

/// What a bake will take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Simulations.
    pub probes: usize,
    /// Side of a cell in m.
    pub cell_m: f64,
    /// Cells with air around the probe with most of them.
    pub cells_per_probe: usize,
    /// Time steps of a simulation.
    pub steps: usize,
    /// Memory of one simulation.
    pub bytes_per_probe: usize,
    /// On one core.
    pub seconds_one_core: f64,
    /// Of the file.
    pub stored_bytes: u64,
}

/// What a field follows from.
struct Sources {
    mesh: MaterialMesh,
    regions: Vec<Region>,
    materials: Vec<MaterialRow>,
    settings: Settings,
    placing: probe::Settings,
    settings_json: String,
    hash: String,
}

/// The hash by which a field knows what it was baked from.
///
/// # Errors
/// If the scene has no acoustics, or its walls cannot be read.
pub fn source_hash(scene: &Scene) -> Result<String, Error> {
    sources(scene).map(|s| s.hash)
}

/// The walls of a scene, at their size.
///
/// # Errors
/// If the scene has no acoustics, or its walls cannot be read.
pub fn walls(scene: &Scene) -> Result<MaterialMesh, Error> {
    sources(scene).map(|s| s.mesh)
}

fn sources(scene: &Scene) -> Result<Sources, Error> {
    let bad = |message: String| Error::Scene { file: scene.file.clone(), message };
    let Some(file) = &scene.acoustics else {
        return Err(bad("there is no [acoustics] table; docs/acoustics.md says what belongs there".to_owned()));
    };
    let (mut mesh, mut regions) = walls_of(scene, file)?;
    if let Some(scale) = file.scale {
        mesh.mesh.positions.iter_mut().for_each(|p| *p *= scale);
    }
    if mesh.mesh.triangles.is_empty() && file.ground.is_none() {
        return Err(bad("[acoustics]: there are no triangles and no ground, so there is nothing to hear".to_owned()));
    }
    let materials = materials_of(&mesh, file).map_err(&bad)?;
    for (index, region) in file.region.iter().enumerate() {
        if index == 0 {
            regions.clear();
        }
        regions.push(region_of(scene, region, index)?);
    }
    let settings = settings_of(file).map_err(&bad)?;
    let places = |points: &[[f64; 3]]| points.iter().map(|p| Vec3::from_array(*p)).collect::<Vec<_>>();
    let defaults = probe::Settings::default();
    let placing = probe::Settings {
        spacing_m: file.spacing_m.unwrap_or(defaults.spacing_m),
        vertical_m: file.spacing_z_m.unwrap_or(defaults.vertical_m),
        above_floor_m: file.above_floor_m,
        seeds: places(&file.seeds),
        extra: places(&file.probes),
    };
    let settings_json = describe(&settings, &placing, &materials);
    let hash = hash_of(&mesh, &regions, &settings_json);
    Ok(Sources { mesh, regions, materials, settings, placing, settings_json, hash })
}

/// Reads the walls, makes cells of them and places probes.
///
/// # Errors
/// If the scene has no acoustics, or they make no sense: files that cannot be read, materials that nobody knows, too many cells, no place for a probe.
pub fn prepare(scene: &Scene) -> Result<Prepared, Error> {
    let bad = |message: String| Error::Scene { file: scene.file.clone(), message };
    let Sources { mesh, regions, materials, settings, placing, settings_json, hash } = sources(scene)?;
    let absorptions: Vec<f64> = materials.iter().map(|m| m.absorption).collect();
    let acoustics = Acoustics::new(&mesh, &absorptions, settings).map_err(|e| bad(format!("[acoustics]: {e}")))?;
    let Placement { positions, report } =
        probe::place(&mesh, &acoustics.voxels, &regions, &placing).map_err(|e| bad(format!("[acoustics]: {e}")))?;
    let mut warnings: Vec<String> =
        report.refused.iter().map(|(at, why)| format!("the probe at {} {why}", told(*at))).collect();
    let lost = if acoustics.voxels.lattice.len() <= MAX_SEARCHED {
        voxel::lost_passages(&mesh, &acoustics.voxels, &positions)
    } else {
        warnings.push("the scene is too large to look for passages that are narrower than a cell".to_owned());
        Vec::new()
    };
    for at in lost.into_iter().take(5) {
        warnings.push(format!(
            "a passage at {} is narrower than a cell of {:.2} m and was closed; a higher f_max_hz has smaller cells",
            told(at),
            acoustics.voxels.lattice.step_m
        ));
    }
    let name = if scene.title.is_empty() {
        scene.file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
    } else {
        scene.title.clone()
    };
    let estimate = estimate(&acoustics, &positions);
    if estimate.bytes_per_probe > MAX_BYTES {
        return Err(bad(format!(
            "[acoustics]: a simulation would take {:.0} GB ({} cells and {} steps from a probe); lower f_max_hz, radius_m or height_m",
            estimate.bytes_per_probe as f64 / 1e9,
            estimate.cells_per_probe,
            estimate.steps
        )));
    }
    Ok(Prepared {
        name,
        mesh,
        acoustics,
        regions,
        probes: positions,
        estimate,
        materials,
        warnings,
        hash,
        settings: settings_json,
    })
}

fn told(at: Vec3) -> String {
    format!("({:.1}, {:.1}, {:.1})", at.x, at.y, at.z)
}

fn walls_of(scene: &Scene, file: &acoustics::Acoustics) -> Result<(MaterialMesh, Vec<Region>), Error> {
    let bad = |message: String| Error::Scene { file: scene.file.clone(), message };
    match (&file.mesh, file.room.as_deref()) {
        (Some(path), None) => Ok((read_material_mesh(&scene.resolve(path)?)?, Vec::new())),
        (None, Some(name)) => {
            let size = file.size.unwrap_or([8.0, 6.0, 3.0]);
            let room = match name {
                "shoebox" => rooms::shoebox(Vec3::from_array(size), "wall"),
                "apartment" => rooms::apartment(),
                "two-rooms" => rooms::two_rooms(),
                "abbey" => rooms::abbey(),
                "deck" => rooms::deck(),
                _ => {
                    return Err(bad(format!(
                        "[acoustics]: there is no room `{name}`; there are `shoebox`, `two-rooms`, `apartment`, `abbey` and `deck`"
                    )));
                }
            };
            Ok((room.scene, room.regions))
        }
        (None, None) if file.ground.is_some() => Ok((MaterialMesh::default(), Vec::new())),
        _ => Err(bad("[acoustics]: give either `mesh`, a file with the walls, or `room`".to_owned())),
    }
}

fn region_of(scene: &Scene, region: &acoustics::Region, index: usize) -> Result<Region, Error> {
    let bad = |message: &str| Error::Scene {
        file: scene.file.clone(),
        message: format!("[[acoustics.region]] no. {}: {message}", index + 1),
    };
    match (&region.mesh, region.min, region.max) {
        (Some(path), None, None) => Ok(Region::Mesh(read_mesh(&scene.resolve(path)?)?)),
        (None, Some(min), Some(max)) => {
            Ok(Region::Box(Bounds { min: Vec3::from_array(min), max: Vec3::from_array(max) }))
        }
        _ => Err(bad("give `min` and `max`, or `mesh`")),
    }
}

fn absorption_of(what: &Absorption) -> Result<(Option<String>, f64), String> {
    match what {
        Absorption::Share(share) if (0.0..=1.0).contains(share) => Ok((None, *share)),
        Absorption::Share(share) => Err(format!("expected a share from 0 to 1, found {share}")),
        Absorption::Like(name) => {
            let wall = walls::get(name).ok_or_else(|| {
                let all: Vec<&str> = walls::table().iter().map(|w| w.name.as_str()).collect();
                format!("there is no wall material `{name}`; there are {}", all.join(", "))
            })?;
            Ok((Some(wall.name.clone()), wall.absorption))
        }
    }
}

fn materials_of(mesh: &MaterialMesh, file: &acoustics::Acoustics) -> Result<Vec<MaterialRow>, String> {
    let mut unknown = Vec::new();
    let mut rows = Vec::new();
    for name in &mesh.names {
        let (wall, absorption, from) = match file.materials.get(name) {
            Some(what) => {
                let (wall, absorption) =
                    absorption_of(what).map_err(|e| format!("[acoustics.materials] `{name}`: {e}"))?;
                (wall, absorption, "scene")
            }
            None => match walls::match_name(name) {
                Some(wall) => (Some(wall.name.clone()), wall.absorption, "name"),
                None => {
                    unknown.push(format!("`{name}`"));
                    continue;
                }
            },
        };
        rows.push(MaterialRow { name: name.clone(), wall, absorption, from });
    }
    if unknown.is_empty() {
        return Ok(rows);
    }
    Err(format!(
        "[acoustics.materials]: nothing is known about {}; say what they absorb, for instance {} = \"brick\" or 0.03",
        unknown.join(", "),
        unknown[0].replace('`', "\"")
    ))
}

fn settings_of(file: &acoustics::Acoustics) -> Result<Settings, String> {
    let d = Settings::default();
    let ground = match &file.ground {
        Some(ground) => {
            let (_, absorption) = absorption_of(&ground.material).map_err(|e| format!("[acoustics.ground]: {e}"))?;
            Some(Ground { z_m: ground.z_m, absorption })
        }
        None => None,
    };
    Ok(Settings {
        f_max_hz: file.f_max_hz.unwrap_or(d.f_max_hz),
        radius_m: file.radius_m.unwrap_or(d.radius_m),
        height_m: file.height_m.unwrap_or(d.height_m),
        padding_m: file.padding_m.unwrap_or(d.padding_m),
        margin_m: file.margin_m.unwrap_or(d.margin_m),
        grid_m: file.grid_m.unwrap_or(d.grid_m),
        direct_s: file.direct_s.unwrap_or(d.direct_s),
        early_s: file.early_s.unwrap_or(d.early_s),
        late_s: file.late_s.unwrap_or(d.late_s),
        onset_db: file.onset_db.unwrap_or(d.onset_db),
        quantum: file.quantum.map_or(d.quantum, |q| q as f32),
        ground,
    })
}

/// All settings as JSON, in one order.
fn describe(s: &Settings, placing: &probe::Settings, materials: &[MaterialRow]) -> String {
    serde_json::json!({
        "f_max_hz": s.f_max_hz, "radius_m": s.radius_m, "height_m": s.height_m, "padding_m": s.padding_m,
        "margin_m": s.margin_m, "grid_m": s.grid_m, "spacing_m": placing.spacing_m, "spacing_z_m": placing.vertical_m,
        "direct_s": s.direct_s, "early_s": s.early_s, "late_s": s.late_s, "onset_db": s.onset_db, "quantum": s.quantum,
        "ground": s.ground.map(|g| [g.z_m, g.absorption]), "above_floor_m": placing.above_floor_m, "seeds": placing.seeds,
        "probes": placing.extra, "materials": materials, "sound_m_s": eigentone_core::SOUND_M_S,
    })
    .to_string()
}

/// Hash of what the field follows from.
fn hash_of(mesh: &MaterialMesh, regions: &[Region], settings: &str) -> String {
    let mut bytes = Vec::new();
    for p in &mesh.mesh.positions {
        bytes.extend(p.to_array().iter().flat_map(|x| x.to_le_bytes()));
    }
    for (triangle, material) in mesh.mesh.triangles.iter().zip(&mesh.of_triangle) {
        bytes.extend(triangle.iter().flat_map(|v| v.to_le_bytes()));
        bytes.extend(material.to_le_bytes());
    }
    bytes.extend(format!("{regions:?}").into_bytes());
    bytes.extend(settings.as_bytes());
    bytes.extend(eigentone_core::ENGINE_VERSION.as_bytes());
    sha256_hex(&bytes)
}

/// What a bake will take, from the surroundings of a few probes.
fn estimate(acoustics: &Acoustics, probes: &[Vec3]) -> Estimate {
    let few = probes.len().min(5);
    let costs: Vec<Cost> = (0..few)
        .filter_map(|i| {
            let around = acoustics.around(probes[i * probes.len() / few])?;
            Some(acoustics.cost(&around))
        })
        .collect();
    let most = |of: fn(&Cost) -> usize| costs.iter().map(of).max().unwrap_or(0);
    let mean = |of: &dyn Fn(&Cost) -> f64| costs.iter().map(of).sum::<f64>() / costs.len().max(1) as f64;
    let n = probes.len() as f64;
    Estimate {
        probes: probes.len(),
        cell_m: acoustics.voxels.lattice.step_m,
        cells_per_probe: most(|c| c.cells),
        steps: most(|c| c.steps),
        bytes_per_probe: most(|c| c.bytes),
        seconds_one_core: n * mean(&|c| c.cells as f64 * c.steps as f64) / CELL_STEPS_PER_S,
        // About eight ears to a cube, five parameters of half a byte each.
        stored_bytes: (n * mean(&|c| c.ears as f64) / 8.0 * 2.5) as u64,
    }
}
