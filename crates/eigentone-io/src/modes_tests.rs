use super::*;
use eigentone_core::mesh::primitives;

fn model() -> ModalModel {
    let mesh = primitives::plate(0.3, 0.2, 4, 3);
    ModalModel {
        info: ModelInfo::new("plate", Method::Shell, "steel"),
        modes: (0..5)
            .map(|n| Mode {
                frequency_hz: 100.1 * f64::from(n + 1),
                decay_per_s: 0.7 + f64::from(n) / 3.0,
                output_gain: if n % 2 == 0 { 1.3 } else { -0.4 },
            })
            .collect(),
        // The last mode moves along the surface only.
        shapes: ShapeTable::from_fn(mesh.positions.len(), 5, |s, n| {
            let size = (s as f64 + 1.0).sin() * (n as f64 + 0.3);
            if n == 4 { Vec3::X * size } else { Vec3::new(0.1, 0.2, size) }
        }),
        surface: Surface::from_mesh(&mesh),
        diffuse: Vec::new(),
    }
}

#[test]
fn an_unchanged_table_gives_the_same_model() {
    let model = model();
    for format in [TableFormat::Csv, TableFormat::Json] {
        let text = modes_text(format, &mode_rows(&model));
        let rows = read_modes_bytes(format, text.as_bytes()).unwrap();
        assert_eq!(rows, mode_rows(&model));
        assert_eq!(apply_modes(Some(&model), &rows).unwrap(), model);
    }
}

#[test]
fn edits_take_effect_and_shapes_follow_their_mode() {
    let model = model();
    let mut rows = mode_rows(&model);
    rows.remove(0);
    rows[0].frequency_hz = 1000.0; // mode 1 moves to the end
    rows[1].gain *= 3.0;
    rows[2].decay_per_s = 9.0;
    rows.push(ModeRow { index: None, frequency_hz: 50.0, decay_per_s: 2.0, gain: 0.25 });
    let edited = apply_modes(Some(&model), &rows).unwrap();
    let frequencies: Vec<f64> = edited.modes.iter().map(|m| m.frequency_hz.round()).collect();
    assert_eq!(frequencies, [50.0, 300.0, 400.0, 501.0, 1000.0]);
    assert_eq!(edited.shapes.get(3, 4), model.shapes.get(3, 1));
    assert_eq!(edited.modes[4].output_gain, model.modes[1].output_gain);
    assert_eq!(edited.modes[2].decay_per_s, 9.0);
    let (before, after) = (model.overall_gains(), edited.overall_gains());
    assert!((after[1] / before[2] - 3.0).abs() < 1e-12);
    assert!((after[0] - 0.25).abs() < 1e-12);
    assert!((edited.shapes.get(7, 0) - Vec3::Z).length() < 1e-3);
}

#[test]
fn impossible_edits_are_refused() {
    let model = model();
    let mut rows = mode_rows(&model);
    rows[4].gain = 1.0;
    let silent = ApplyError::Silent { row: 4, index: 4, gain: 1.0 };
    assert_eq!(apply_modes(Some(&model), &rows).unwrap_err(), silent);
    rows[4].index = Some(5);
    assert!(apply_modes(Some(&model), &rows).unwrap_err().to_string().starts_with("row 4 has index 5, but"));
    rows[4] = ModeRow { index: None, frequency_hz: 1e9, decay_per_s: 1.0, gain: 1.0 };
    assert!(matches!(apply_modes(Some(&model), &rows), Err(ApplyError::Model(_))));
}

/// Without the model it came from, an exported table is a list of modes like any other.
#[test]
fn indices_mean_nothing_without_a_base() {
    let rows = mode_rows(&model());
    let alone = apply_modes(None, &rows).unwrap();
    assert_eq!(alone.modes.len(), rows.len());
    assert_eq!(alone.surface.positions.len(), 1);
}

#[test]
fn without_a_base_a_point_sounds_with_the_gains_of_the_table() {
    let csv = "frequency_hz,decay_per_s,t60_s,output_gain\n# a comment\n 880 , 3.0 ,, 0.5\n440,,2.0,-1\n";
    let rows = read_modes_bytes(TableFormat::Csv, csv.as_bytes()).unwrap();
    let model = apply_modes(None, &rows).unwrap();
    assert_eq!(model.info.method, Method::Manual);
    assert_eq!(model.modes[0].frequency_hz, 440.0);
    assert_eq!(model.modes[0].output_gain, -1.0);
    assert!((model.modes[0].t60().0 - 2.0).abs() < 1e-12);
    assert_eq!(model.shapes.get(0, 1), Vec3::Z);
    assert_eq!(model.overall_gains(), [1.0, 0.5]);
    assert!(apply_modes(None, &[]).unwrap().modes.is_empty());
}

#[test]
fn the_modes_of_inspect_are_read() {
    let json = r#"{"kind":"modal","modes":[{"frequency_hz":440,"decay_per_s":3.45,"t60_s":2.0023,"gain":1e-3}],"warnings":[]}"#;
    let rows = read_modes_bytes(TableFormat::Json, json.as_bytes()).unwrap();
    assert_eq!(rows, [ModeRow { index: None, frequency_hz: 440.0, decay_per_s: 3.45, gain: 1e-3 }]);
    assert_eq!(read_modes_bytes(TableFormat::Json, b" []").unwrap(), []);
}

#[test]
fn mistakes_are_reported_with_their_place() {
    for (csv, expected) in [
        ("frequency_hz,gain\n440,1\n", "line 2: expected decay_per_s or t60_s, found neither"),
        ("frequency_hz,t60_s\n440,1\n", "line 1: expected a header with the column gain"),
        ("frequency_hz,decay_per_s,t60_s,gain\n440,1,1,1\n", "agree within 1 %, found 1 and 6.9"),
        ("frequency_hz,t60_s,gain\n440,1,1\n-3,1,1\n", "line 3: expected frequency_hz above zero, found -3"),
        ("frequency_hz,t60_s,gain\n440,nan,1\n", "line 2: expected t60_s above zero, found NaN"),
        ("frequency_hz,t60_s,gain\n440,x,1\n", "line 2: expected numbers in every column"),
        ("frequency_hz,t60_s,gain\n440,1\n", "line 2: expected a table of modes"),
        ("", "line 1: expected a header with the column frequency_hz"),
    ] {
        let message = read_modes_bytes(TableFormat::Csv, csv.as_bytes()).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    let message = read_modes_bytes(TableFormat::Json, b"{\"modes\":\n[{\"gain\":1}]}").unwrap_err().to_string();
    assert!(message.contains("line 2: expected an array `modes` of objects, found missing field"), "{message}");
}
