//! What turns decoded rows into numbers: directions from an octahedron, rotations without their largest component, floats from mantissa
//! and exponent. Colours are of no use here.

/// Changes rows of a stride in place.
pub(super) type Filter = fn(&mut [u8], usize);

/// The filter of this name, if rows of `stride` bytes can be its.
pub(super) fn by_name(name: &str, stride: usize) -> Option<Filter> {
    match (name, stride) {
        ("NONE", _) => Some(|_, _| {}),
        ("OCTAHEDRAL", 4) => Some(|rows, _| octahedral_bytes(rows)),
        ("OCTAHEDRAL", 8) => Some(|rows, _| each_half(rows, |v| octahedral(v, 32767.0))),
        ("QUATERNION", 8) => Some(|rows, _| each_half(rows, quaternion)),
        ("EXPONENTIAL", _) => Some(|rows, _| exponential(rows)),
        _ => None,
    }
}

/// Applies to rows of four numbers of 16 bits.
fn each_half(rows: &mut [u8], change: impl Fn([i32; 4]) -> [i32; 4]) {
    for row in rows.chunks_exact_mut(8) {
        let number = |k: usize| i32::from(i16::from_le_bytes([row[2 * k], row[2 * k + 1]]));
        let changed = change(std::array::from_fn(number));
        for (out, value) in row.chunks_exact_mut(2).zip(changed) {
            out.copy_from_slice(&(value as i16).to_le_bytes());
        }
    }
}

fn octahedral_bytes(rows: &mut [u8]) {
    for row in rows.chunks_exact_mut(4) {
        let changed = octahedral(std::array::from_fn(|k| i32::from(row[k] as i8)), 127.0);
        for (out, value) in row.iter_mut().zip(changed) {
            *out = value as i8 as u8;
        }
    }
}

/// Two coordinates on the unfolded octahedron and what stands for one; the fourth number stays.
fn octahedral([x, y, one, rest]: [i32; 4], largest: f32) -> [i32; 4] {
    let (x, y) = (x as f32 / one as f32, y as f32 / one as f32);
    let z = 1.0 - x.abs() - y.abs();
    let fold = z.min(0.0);
    let (x, y) = (x - fold.copysign(x), y - fold.copysign(y));
    let length = (x * x + y * y + z * z).sqrt();
    let whole = |v: f32| (v / length * largest).round() as i32;
    [whole(x), whole(y), whole(z), rest]
}

/// Three components over their largest value, 1/√2, and what stands for one with the place of the fourth in its lowest bits.
fn quaternion([x, y, z, last]: [i32; 4]) -> [i32; 4] {
    let unit = std::f32::consts::FRAC_1_SQRT_2 / (last | 3) as f32;
    let small = [x, y, z].map(|v| v as f32 * unit);
    let large = (1.0 - small.iter().map(|v| v * v).sum::<f32>()).max(0.0).sqrt();
    let mut out = [0; 4];
    for (k, v) in [large, small[0], small[1], small[2]].into_iter().enumerate() {
        out[((last & 3) as usize + k) % 4] = (v * 32767.0).round() as i32;
    }
    out
}

/// `2^e m`, with e in the highest byte and m in the other three.
fn exponential(rows: &mut [u8]) {
    for number in rows.chunks_exact_mut(4) {
        let mantissa = i32::from_le_bytes([0, number[0], number[1], number[2]]) >> 8;
        let exponent = i32::from(number[3] as i8);
        let value = f64::from(mantissa) * f64::from(exponent).exp2();
        number.copy_from_slice(&(value as f32).to_le_bytes());
    }
}
