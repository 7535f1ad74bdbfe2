//! Fields: what comes back is what went in, to half a quantum; files are small, the same each time, and refused when damaged.

mod common;

use common::rooms::{Random, info, occupancy, room, small_file};
use eigentone_core::{
    Vec3,
    acoustics::{Bits, EncodedProbe, Field, Lattice, Occupancy, Parameter, ProbeField, encode_probe},
};
use eigentone_io::{
    FIELD_EXTENSION, FileKind, ReadError, deflate_baseline, field_bytes, probe_bytes, read_field, read_field_bytes,
    read_probe_bytes, sniff, write_field,
};

/// Random walks with gaps that are not valid, in which there is rubbish.
fn walks(size: [u32; 3], integers: bool, seed: u64) -> ProbeField {
    let mut random = Random(seed);
    let mut field = ProbeField::new(Vec3::new(1.0, 2.0, 3.0), [-4, 0, 7], size);
    let gaps = random.below(10);
    for at in 0..field.valid.len() {
        let valid = if random.below(6) == 0 { random.below(10) >= gaps } else { at > 0 && field.valid.get(at - 1) };
        field.valid.set(at, valid);
        for p in Parameter::ALL {
            let [least, most] = p.range();
            let last = if at > 0 { field.values[p as usize][at - 1] } else { 0.0 };
            let last = if last.is_finite() { last } else { 0.0 };
            let step = if random.below(20) == 0 { 40.0 } else { 2.0 } * (2.0 * random.unit() - 1.0) as f32;
            let next = (last + step).clamp(least, most);
            let next = if integers { next.round() } else { next };
            field.values[p as usize][at] = if valid { next } else { f32::NAN };
        }
    }
    field
}

/// |f̂ − f| ≤ Δq/2, exactly; integers with Δq = 1 come back as they were.
#[test]
fn values_come_back_within_half_a_quantum() {
    for seed in 1..30 {
        let (quantum, integers) = ([3.0, 1.0, 0.5][seed as usize % 3], seed % 2 == 0);
        let field = walks([61, 7, 5], integers, seed);
        let decoded = encode_probe(&field, quantum).decode();
        assert_eq!(decoded.valid, field.valid);
        for p in Parameter::ALL {
            for at in 0..field.valid.len() {
                let (was, is) = (field.values[p as usize][at], decoded.values[p as usize][at]);
                if !field.valid.get(at) {
                    assert_eq!(is, 0.0);
                } else if integers && quantum <= 1.0 {
                    assert_eq!(was, is);
                } else {
                    let error = f64::from(is) - f64::from(was);
                    assert!(error.abs() <= f64::from(quantum) / 2.0, "{was} became {is}");
                    assert!(!integers || quantum != 3.0 || error.abs() <= 1.0, "{was} became {is}");
                }
            }
        }
    }
}

fn file(probes: &[ProbeField], quantum: f32) -> Vec<u8> {
    let lattice = Lattice { origin: Vec3::new(0.1, -0.2, 0.3), step_m: 1.02, size: [64, 64, 64] };
    let probes: Vec<EncodedProbe> = probes.iter().map(|p| encode_probe(p, quantum)).collect();
    field_bytes(&info(quantum), &lattice, &occupancy([33, 20, 6]), &probes).unwrap()
}

#[test]
fn lines_are_those_of_the_whole_and_may_be_cut_short() {
    let probes: Vec<_> = (1..4).map(|seed| walks([70, 6, 3], false, seed)).collect();
    let field = read_field_bytes(&file(&probes, 1.0)).unwrap();
    assert_eq!(field.probes().len(), 3);
    for (i, probe) in probes.iter().enumerate() {
        let whole = field.probe(i);
        assert_eq!(whole, encode_probe(probe, 1.0).decode(), "recoded for the file");
        assert_eq!(field.valid(i), &probe.valid);
        for (p, z, y) in
            Parameter::ALL.into_iter().flat_map(|p| (0..3).flat_map(move |z| (0..6).map(move |y| (p, z, y))))
        {
            let row = 70 * (6 * z as usize + y as usize);
            for length in [0, 1, 2, 33, 64, 65, 70] {
                let mut out = vec![f32::NAN; length];
                let valid = field.line(i, p, y, z, &mut out);
                assert_eq!(out, whole.values[p as usize][row..row + length]);
                assert_eq!(valid, (row..row + length).filter(|&at| whole.valid.get(at)).count());
            }
        }
    }
}

fn again(field: &Field) -> Vec<u8> {
    let quantum = field.info().quantum;
    let probes: Vec<_> = (0..field.probes().len()).map(|i| encode_probe(&field.probe(i), quantum)).collect();
    field_bytes(field.info(), field.lattice(), field.occupancy(), &probes).unwrap()
}

#[test]
fn a_field_survives_its_file_and_gives_the_same_bytes_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("rooms{FIELD_EXTENSION}"));
    let lattice = Lattice { origin: Vec3::new(0.1, -0.2, 1e-30), step_m: 1.0 / 3.0, size: [64, 9, 2] };
    let cells = occupancy([65, 7, 3]);
    for quantum in [3.0, 1.0, 0.1] {
        let probes: Vec<_> = (1..5).map(|seed| encode_probe(&walks([19, 5, 4], false, seed), quantum)).collect();
        write_field(&path, &info(quantum), &lattice, &cells, &probes).unwrap();
        let field = read_field(&path).unwrap();
        assert_eq!((field.info(), field.lattice(), field.occupancy()), (&info(quantum), &lattice, &cells));
        assert!(field.probes().zip(&probes).all(|(place, probe)| place == probe.place()));
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(again(&field), bytes);
        assert_eq!(field.stored_bytes(), bytes.len() as u64);
        assert_eq!(field.raw_bytes(), 4 * 19 * 5 * 4 * 5);
    }
    assert_eq!(sniff(&path).unwrap(), FileKind::Field);
}

#[test]
fn fields_without_probes_cubes_or_air_are_fields_too() {
    let air = Occupancy { lattice: Lattice { origin: Vec3::ZERO, step_m: 1.0, size: [0, 3, 2] }, solid: Bits::new(0) };
    let solid = ProbeField::new(Vec3::ZERO, [0; 3], [9, 2, 2]);
    let mut one = ProbeField::new(Vec3::ZERO, [0; 3], [1, 1, 1]);
    one.valid.set(0, true);
    let sizes = [[0, 5, 3], [4, 0, 3], [4, 3, 0], [0, 0, 0]].map(|size| ProbeField::new(Vec3::ZERO, [0; 3], size));
    let [a, b, c, d] = sizes;
    for probes in [vec![], vec![solid.clone()], vec![one.clone()], vec![a, solid, b, one, c, d]] {
        let probes: Vec<_> = probes.iter().map(|p| encode_probe(p, 1.0)).collect();
        let bytes = field_bytes(&info(1.0), &air.lattice, &air, &probes).unwrap();
        let field = read_field_bytes(&bytes).unwrap();
        assert_eq!(again(&field), bytes);
        (0..probes.len()).for_each(|i| assert_eq!(field.probe(i), probes[i].decode()));
        assert_eq!(deflate_baseline(&field).len(), Parameter::COUNT);
    }
}

#[test]
fn probes_survive_a_break_and_damage_to_them_is_noticed() {
    let probe = encode_probe(&walks([23, 4, 3], false, 5), 3.0);
    let bytes = probe_bytes(&probe);
    assert_eq!(read_probe_bytes(&bytes).unwrap(), probe);
    assert!(probe.sizes().iter().all(|&n| n > 0 && n < bytes.len() as u64));
    for length in 0..bytes.len() {
        assert!(read_probe_bytes(&bytes[..length]).is_err(), "{length}");
    }
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    for at in header..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(read_probe_bytes(&damaged).is_err(), "byte {at}");
    }
}

/// The reference implementation reads the container, and the shapes are those that are documented.
#[test]
fn others_can_read_the_tensors() {
    let bytes = small_file();
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let shape = |name: &str| tensors.tensor(name).unwrap().shape().to_vec();
    assert_eq!(shape("probe_position"), [2, 3]);
    assert_eq!(shape("probe_first"), [2, 3]);
    assert_eq!(shape("slice_bytes"), [6]);
    assert_eq!(shape("code_length"), [5, 82]);
    assert_eq!(shape("occupancy_bytes"), [4]);
    assert!(
        tensors.iter().all(|(_, t)| t.data().as_ptr() as usize % t.dtype().bitsize().div_ceil(8)
            == bytes.as_ptr() as usize % 8 % t.dtype().bitsize().div_ceil(8)),
        "aligned"
    );
    let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    let metadata = header.metadata().as_ref().unwrap();
    assert_eq!(metadata["format"], "eigentone.field/1");
    assert_eq!(metadata["lattice"], "{\"origin\":[-1.0,0.0,0.5],\"size\":[13,9,3],\"step_m\":1.0}");
}

/// Decodes everything, as whoever uses a field does.
fn use_all(field: &Field) {
    for i in 0..field.probes().len() {
        let probe = field.probe(i);
        assert!(probe.values.iter().flatten().all(|v| v.is_finite()));
    }
    field.occupancy().is_solid([1, 1, 1]);
}

#[test]
fn damaged_files_are_refused_or_give_finite_values() {
    let bytes = small_file();
    assert!(bytes.len() < 20_000, "{}", bytes.len());
    for length in 0..bytes.len() {
        assert!(read_field_bytes(&bytes[..length]).is_err(), "{length}");
    }
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut damaged = bytes.clone();
    for at in 0..bytes.len() {
        for value in [bytes[at] ^ 1, bytes[at] ^ 0x80, bytes[at].wrapping_add(1), 0, 0xff, b'9'] {
            damaged[at] = value;
            let outcome = read_field_bytes(&damaged);
            assert!(at < header || value == bytes[at] || outcome.is_err(), "byte {at}");
            outcome.iter().for_each(use_all);
        }
        damaged[at] = bytes[at];
    }
}

fn replaced(from: &str, to: &str) -> ReadError {
    assert_eq!(from.len(), to.len());
    let mut bytes = small_file();
    let at = bytes.windows(from.len()).position(|w| w == from.as_bytes()).expect(from);
    bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
    read_field_bytes(&bytes).expect_err(to)
}

#[test]
fn other_versions_and_wrong_numbers_are_refused_with_a_reason() {
    let error = replaced("eigentone.field/1", "eigentone.field/2");
    assert!(matches!(error, ReadError::Version { .. }));
    let text = error.to_string();
    assert!(
        text.contains("eigentone.field/2") && text.contains("eigentone.field/1") && error.hint().is_some(),
        "{text}"
    );
    let text = replaced("eigentone.field/1", "eigentone.modal/1").to_string();
    assert!(text.contains("expected \"eigentone.field/1\", found “eigentone.modal/1”"), "{text}");
    let text = replaced("\"quantum\":\"1\"", "\"quantum\":\"0\"").to_string();
    assert!(text.contains("metadata quantum: expected a number from 0.015625 to 64"), "{text}");
    let text = replaced("[21,10,4]", "[9999999]").to_string();
    assert!(text.contains("metadata occupancy_lattice"), "{text}");
    let text = replaced("\\\"step_m\\\":1.0", "\\\"step_m\\\":-10").to_string();
    assert!(text.contains("a positive step"), "{text}");
}

#[test]
fn what_does_not_fit_together_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.field.safetensors");
    let (lattice, cells) = (occupancy([3, 3, 3]).lattice, occupancy([3, 3, 3]));
    let probe = [encode_probe(&walks([3, 3, 3], false, 1), 1.0)];
    let write = |lattice: &Lattice, cells: &Occupancy, quantum| {
        write_field(&path, &info(quantum), lattice, cells, &probe).map_err(|e| e.to_string())
    };
    assert!(
        write(&lattice, &cells, 3.0).unwrap_err().contains("not written: expected probes of quantum 3, found one of 1")
    );
    assert!(write(&Lattice { step_m: f64::NAN, ..lattice }, &cells, 1.0).unwrap_err().contains("a positive step"));
    assert!(write(&lattice, &Occupancy { lattice, solid: Bits::new(5) }, 1.0).unwrap_err().contains("27 cells"));
    assert!(!path.exists());
    write(&lattice, &cells, 1.0).unwrap();
}

/// One byte per sample is the paper's figure with DEFLATE per layer; a code of single lines should not cost more.
#[test]
fn the_code_of_lines_is_no_larger_than_deflate() {
    for (noise, quantum) in [(0.0, 3.0), (0.7, 3.0), (0.0, 1.0), (0.7, 1.0)] {
        let size = [48, 40, 8];
        let probes: Vec<_> =
            (0..4).map(|i| room(size, Vec3::new(8.0 + 10.0 * f64::from(i), 14.0, 2.0), noise, 11)).collect();
        let field = read_field_bytes(&file(&probes, quantum)).unwrap();
        let (ours, deflate) = (field.sizes().parameters, deflate_baseline(&field));
        let (sum, baseline) = (ours.iter().sum::<u64>(), deflate.iter().sum::<u64>());
        println!(
            "noise {noise}, quantum {quantum}: {ours:?} against {deflate:?}, ratio {:.3}; {:?}",
            sum as f64 / baseline as f64,
            field.sizes()
        );
        assert!(sum as f64 <= 1.1 * baseline as f64, "{sum} against {baseline}");
        assert!(field.stored_bytes() < field.raw_bytes());
    }
}
