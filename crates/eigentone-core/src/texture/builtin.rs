//! The textures that ship with the engine.
//!
//! Grain sizes, bands, system decays, friction and stiffness ranges are those of Menzies 2011; where that is silent the values are tuned. Friction and restitution are handbook values for
//! the dry surface against wood or steel.

use super::{
    Bumps, Curve, Foil, Friction, Gain, Height, Impact, Loop, Loose, LowPass, Playback, Profile, Recorded, Rough,
    Source, Synthetic, Texture, TextureTable,
};

impl TextureTable {
    /// The textures that ship with the engine: `smooth`, `brushed-metal`, `wood`, `brick`, `concrete`, `gravel`, `sand`, `leaves`, `foil`, `water`, `plastic`, `ice`, `glass`, `rubber`,
    /// `cloth` and `squeaky`.
    ///
    /// ```
    /// use eigentone_core::texture::TextureTable;
    /// assert!(TextureTable::builtin().get("gravel")?.decay_s > 0.1);
    /// # Ok::<(), eigentone_core::texture::TextureError>(())
    /// ```
    pub fn builtin() -> Self {
        Self { textures: hard().into_iter().chain(loose()).chain(soft()).collect() }
    }
}

fn named(name: &str, friction: f32, restitution: f32, stiffness_n_m: f32) -> Texture {
    Texture { name: name.to_owned(), friction, restitution, stiffness_n_m, ..Texture::default() }
}

/// A low-pass that opens from one frequency at rest to another at a speed in m/s.
fn opening(order: u8, from_hz: f32, to_hz: f32, at_m_s: f32) -> LowPass {
    LowPass { order, slip: Curve::of(&[[0.0, from_hz], [at_m_s, to_hz]]), ..LowPass::default() }
}

/// A gain that rises from one value at rest to another at a speed in m/s.
fn rising(from: f32, to: f32, at_m_s: f32) -> Gain {
    Gain { slip: Curve::of(&[[0.0, from], [at_m_s, to]]), ..Gain::default() }
}

fn micro() -> Impact {
    Impact { micro: 1.0, ..Impact::default() }
}

fn grazing(grazing_depth_m: f32) -> Impact {
    Impact { grazing_depth_m, ..Impact::default() }
}

fn hard() -> [Texture; 7] {
    let bumps =
        |mark_m, space_m, tail, repeat| Profile::Bumps(Bumps { mark_m, space_m, height: Height::Tail(tail), repeat });
    let rough =
        |grain_m, octaves, persistence| Profile::Rough(Rough { grain_m, octaves, persistence, ..Rough::default() });
    [
        named("smooth", 0.2, 0.6, 1e7),
        Texture {
            stiffness_length_m: 2e-4,
            profile: bumps(1e-4, 5e-4, 2.0, true),
            low_pass: opening(1, 400.0, 15_000.0, 1.0),
            gain: rising(0.05, 0.7, 1.0),
            impact: micro(),
            ..named("brushed-metal", 0.4, 0.6, 5e7)
        },
        Texture {
            damping: 1.5,
            profile: rough(3e-3, 5, 0.65),
            low_pass: LowPass { ratio: Curve::of(&[[0.0, 1.0], [1e-3, 0.5]]), ..opening(2, 150.0, 5000.0, 1.0) },
            direct_pa_per_n: 0.004,
            ..named("wood", 0.4, 0.45, 2e6)
        },
        Texture {
            damping: 1.5,
            profile: bumps(5e-4, 2e-3, 2.0, true),
            low_pass: opening(1, 200.0, 12_000.0, 1.0),
            direct_pa_per_n: 0.01,
            ..named("brick", 0.6, 0.35, 1e7)
        },
        Texture {
            damping: 1.5,
            profile: bumps(2e-4, 1e-3, 3.0, false),
            low_pass: opening(1, 200.0, 14_000.0, 1.0),
            direct_pa_per_n: 0.01,
            ..named("concrete", 0.65, 0.4, 2e7)
        },
        Texture {
            profile: rough(1e-2, 6, 0.5),
            low_pass: opening(2, 200.0, 7000.0, 2.0),
            gain: rising(0.02, 0.5, 2.0),
            direct_pa_per_n: 0.006,
            ..named("ice", 0.03, 0.5, 1e7)
        },
        Texture {
            stiffness_length_m: 2e-4,
            profile: rough(5e-3, 2, 0.3),
            low_pass: opening(2, 200.0, 8000.0, 1.0),
            gain: rising(0.01, 0.1, 1.0),
            impact: micro(),
            ..named("glass", 0.4, 0.65, 5e7)
        },
    ]
}

fn loose() -> [Texture; 6] {
    let recorded = |kind: Synthetic, [few, many]: [f32; 2]| {
        let at = |events_per_s| Loop { source: Source::Synthetic(kind), events_per_s };
        Profile::Recorded(Recorded {
            loops: vec![at(few), at(many)],
            events_per_m: many,
            playback: Playback::default(),
        })
    };
    [
        Texture {
            damping: 3.0,
            decay_s: 0.15,
            profile: Profile::Loose(Loose {
                events_per_m: 300.0,
                burst_s: 5e-3,
                band_hz: [1000.0, 4000.0],
                q: 2.0,
                voices: 4,
            }),
            low_pass: opening(2, 800.0, 12_000.0, 1.0),
            direct_pa_per_n: 0.06,
            impact: grazing(5e-3),
            ..named("gravel", 0.6, 0.15, 5e5)
        },
        Texture {
            damping: 5.0,
            decay_s: 0.05,
            profile: Profile::Loose(Loose {
                events_per_m: 2000.0,
                burst_s: 2e-3,
                band_hz: [4000.0, 8000.0],
                q: 0.7,
                voices: 3,
            }),
            low_pass: opening(2, 1000.0, 10_000.0, 1.0),
            gain: rising(0.02, 0.3, 1.0),
            direct_pa_per_n: 0.04,
            impact: grazing(5e-3),
            ..named("sand", 0.5, 0.05, 5e4)
        },
        Texture {
            damping: 4.0,
            decay_s: 0.3,
            profile: recorded(Synthetic::Leaves, [40.0, 250.0]),
            // Agitated leaves sound louder and slightly duller: the lower layers are muffled by the upper ones.
            low_pass: opening(2, 6000.0, 4800.0, 1.0),
            direct_pa_per_n: 0.06,
            impact: grazing(2e-2),
            ..named("leaves", 0.5, 0.05, 2e4)
        },
        Texture {
            damping: 2.0,
            decay_s: 0.1,
            profile: Profile::Foil(Foil { voices: 5, ..Foil::default() }),
            low_pass: opening(1, 3000.0, 15_000.0, 1.0),
            direct_pa_per_n: 0.06,
            impact: grazing(5e-3),
            ..named("foil", 0.3, 0.2, 1e5)
        },
        Texture {
            damping: 5.0,
            decay_s: 0.5,
            profile: recorded(Synthetic::Water, [15.0, 120.0]),
            low_pass: opening(2, 500.0, 8000.0, 1.0),
            direct_pa_per_n: 0.08,
            impact: grazing(5e-2),
            ..named("water", 0.02, 0.0, 1e4)
        },
        Texture {
            damping: 1.5,
            decay_s: 0.08,
            profile: recorded(Synthetic::Plastic, [25.0, 150.0]),
            low_pass: opening(2, 800.0, 10_000.0, 1.0),
            direct_pa_per_n: 0.04,
            impact: grazing(2e-3),
            ..named("plastic", 0.35, 0.5, 5e5)
        },
    ]
}

fn soft() -> [Texture; 3] {
    [
        Texture {
            stiffness_length_m: 5e-3,
            damping: 6.0,
            profile: Profile::Rough(Rough { grain_m: 5e-3, octaves: 3, persistence: 0.5, ..Rough::default() }),
            low_pass: opening(4, 100.0, 1500.0, 1.0),
            gain: rising(0.05, 0.6, 1.0),
            ..named("rubber", 0.9, 0.7, 5e4)
        },
        Texture {
            stiffness_length_m: 5e-3,
            damping: 10.0,
            profile: Profile::Bumps(Bumps { mark_m: 3e-4, space_m: 5e-4, height: Height::Width, repeat: false }),
            low_pass: opening(4, 300.0, 4000.0, 1.0),
            gain: rising(0.02, 0.2, 1.0),
            direct_pa_per_n: 0.02,
            ..named("cloth", 0.5, 0.1, 1e4)
        },
        // Stick-slip. One newton per newton makes the signal the friction force itself, without its mean.
        Texture {
            profile: Profile::Friction(Friction {
                sticking: 0.6,
                slipping: 0.4,
                stiffness_n_m: 5e3,
                slip_time_s: 2e-4,
                feedback: 1.0,
            }),
            low_pass: LowPass { order: 0, ..LowPass::default() },
            gain: Gain { slip: Curve::constant(1.0), force: Curve::of(&[[0.0, 0.0], [1e4, 1e4]]) },
            ..named("squeaky", 0.6, 0.5, 1e6)
        },
    ]
}
