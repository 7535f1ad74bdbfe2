#![no_main]

use eigentone_core::acoustics::{Parameter, encode_probe};
use eigentone_io::{field_bytes, read_field_bytes, read_probe_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_probe_bytes(bytes);
    let Ok(field) = read_field_bytes(bytes) else { return };
    let quantum = field.info().quantum;
    let mut probes = Vec::new();
    for (i, place) in field.probes().enumerate() {
        let probe = field.probe(i);
        assert!(probe.values.iter().flatten().all(|v| v.is_finite()));
        if place.cubes() > 0 {
            let mut line = vec![0.0; place.size[0] as usize];
            field.line(i, Parameter::Tilt, place.size[1] - 1, place.size[2] - 1, &mut line);
        }
        probes.push(encode_probe(&probe, quantum));
    }
    let again = field_bytes(field.info(), field.lattice(), field.occupancy(), &probes).expect("it was a field");
    let same = read_field_bytes(&again).expect("we wrote it");
    (0..probes.len()).for_each(|i| assert_eq!(same.probe(i), field.probe(i)));
});
