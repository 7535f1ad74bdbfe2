use super::*;
use crate::base64;

/// A stream by the encoder of the meshoptimizer project (1.3.0), and what its own decoder makes of it.
#[derive(Deserialize)]
struct Case {
    name: String,
    mode: String,
    filter: String,
    count: usize,
    stride: usize,
    stream: String,
    rows: String,
}

impl Case {
    fn compressed(&self) -> Compressed {
        let (mode, filter) = (self.mode.clone(), Some(self.filter.clone()));
        Compressed { byte_stride: self.stride, count: self.count, mode, filter, ..Default::default() }
    }

    fn stream(&self) -> Vec<u8> {
        base64::decode(self.stream.as_bytes()).unwrap()
    }

    fn decode(&self, stream: &[u8]) -> Result<Vec<u8>, Fault> {
        self.compressed().decode(stream, "buffer view 0")
    }
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("../../../../tests/data/meshopt.json")).unwrap()
}

/// The specification leaves the last bit of directions and rotations open, and nothing else.
#[test]
fn streams_of_the_reference_encoder_decode_to_what_its_decoder_says() {
    let cases = cases();
    assert_eq!(cases.len(), 19);
    for case in &cases {
        let rows = case.decode(&case.stream()).unwrap_or_else(|e| panic!("{}: {e:?}", case.name));
        let expected = base64::decode(case.rows.as_bytes()).unwrap();
        assert_eq!(rows.len(), expected.len(), "{}", case.name);
        let close = match (case.filter.as_str(), case.stride) {
            ("OCTAHEDRAL", 4) => rows.iter().zip(&expected).all(|(a, b)| (*a as i8).abs_diff(*b as i8) <= 1),
            ("OCTAHEDRAL" | "QUATERNION", _) => {
                let half = |bytes: &[u8]| i16::from_le_bytes([bytes[0], bytes[1]]);
                rows.chunks(2).zip(expected.chunks(2)).all(|(a, b)| half(a).abs_diff(half(b)) <= 1)
            }
            _ => rows == expected,
        };
        assert!(close, "{}", case.name);
    }
}

#[test]
fn streams_cut_off_or_too_long_are_refused() {
    for case in cases() {
        let stream = case.stream();
        for length in 0..stream.len() {
            assert!(case.decode(&stream[..length]).is_err(), "{} cut to {length}", case.name);
        }
        let mut long = stream.clone();
        long.insert(stream.len() / 2, 0);
        let _ = case.decode(&long);
        let mut more = case.compressed();
        more.count = 1 << 22;
        more.count -= more.count % 3;
        assert!(more.decode(&stream, "").is_err(), "{}: rows that are not there", case.name);
    }
}

#[test]
fn damaged_streams_never_panic() {
    let mut state = 7u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for case in cases() {
        for _ in 0..2000 {
            let mut stream = case.stream();
            for _ in 0..=random(3) {
                let at = random(stream.len());
                stream[at] = random(256) as u8;
            }
            let _ = case.decode(&stream);
        }
    }
}

#[test]
fn layouts_that_cannot_be_are_refused_by_name() {
    let decode = |mode: &str, filter: &str, stride: usize, count: usize| {
        let (mode, filter) = (mode.to_owned(), Some(filter.to_owned()));
        let compressed = Compressed { byte_stride: stride, count, mode, filter, ..Default::default() };
        let mut stream = vec![0; 64];
        stream[0] = 0xa0;
        compressed.decode(&stream, "view").unwrap_err().in_file("x".as_ref()).to_string()
    };
    for (mode, filter, stride, count, expected) in [
        ("ATTRIBUTES", "NONE", 0, 1, "a stride of 4 to 256 bytes"),
        ("ATTRIBUTES", "NONE", 6, 1, "a stride of 4 to 256 bytes"),
        ("ATTRIBUTES", "NONE", 260, 1, "a stride of 4 to 256 bytes"),
        ("TRIANGLES", "NONE", 1, 3, "indices of 2 or 4 bytes"),
        ("TRIANGLES", "NONE", 2, 4, "three indices for each triangle"),
        ("INDICES", "EXPONENTIAL", 4, 4, "no filter on indices"),
        ("SPLINES", "NONE", 4, 4, "ATTRIBUTES, TRIANGLES or INDICES"),
        ("INDICES", "NONE", 4, 4, "indices of version 1"),
    ] {
        let error = decode(mode, filter, stride, count);
        assert!(error.contains(expected), "{mode} {filter} {stride}: {error}");
    }
}
