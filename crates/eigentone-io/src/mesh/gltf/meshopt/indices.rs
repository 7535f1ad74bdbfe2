//! Modes 1 and 2: indices. Triangles are coded by an edge of the last few and a vertex that is new, recent, or near the last one named;
//! other lists by differences to one of two values.

use super::{Broken, TOO_LONG, TOO_SHORT, take};

const NOT_SEEN: Broken = Broken("edges and vertices that were there before");

/// The last sixteen of something.
struct Recent<T> {
    ring: [T; 16],
    pushed: usize,
}

impl<T: Copy + Default> Recent<T> {
    fn new() -> Self {
        Self { ring: [T::default(); 16], pushed: 0 }
    }

    fn push(&mut self, value: T) {
        self.ring[self.pushed % 16] = value;
        self.pushed += 1;
    }

    /// The one that was pushed `back` before the last.
    fn get(&self, back: u8) -> Result<T, Broken> {
        let back = usize::from(back);
        if back < 16 && back < self.pushed { Ok(self.ring[(self.pushed - 1 - back) % 16]) } else { Err(NOT_SEEN) }
    }
}

/// A number of seven bits a byte, lowest first; the highest bit says that more follow.
fn varint(data: &mut &[u8]) -> Result<u32, Broken> {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let byte = take(data, 1)?[0];
        value |= u32::from(byte & 127).wrapping_shl(shift);
        if byte < 128 {
            return Ok(value);
        }
    }
    Err(Broken("numbers of at most five bytes"))
}

fn signed(code: u32) -> u32 {
    (code >> 1) ^ (code & 1).wrapping_neg()
}

/// Appends indices in their width.
fn emit(out: &mut Vec<u8>, indices: &[u32], size: usize) {
    for index in indices {
        out.extend_from_slice(&index.to_le_bytes()[..size]);
    }
}

struct Triangles<'a> {
    data: &'a [u8],
    /// The lowest index not yet named, if all are named in order.
    fresh: u32,
    /// The last index that was given as a difference.
    last: u32,
    edges: Recent<[u32; 2]>,
    vertices: Recent<u32>,
}

impl Triangles<'_> {
    fn new_vertex(&mut self) -> u32 {
        let vertex = self.fresh;
        self.fresh = vertex.wrapping_add(1);
        vertex
    }

    fn named_vertex(&mut self) -> Result<u32, Broken> {
        self.last = self.last.wrapping_add(signed(varint(&mut self.data)?));
        Ok(self.last)
    }

    /// A vertex by four bits: new, recent, or, with all bits set, named. Also whether it is to be remembered.
    fn vertex(&mut self, code: u8) -> Result<(u32, bool), Broken> {
        match code {
            0 => Ok((self.new_vertex(), true)),
            15 => Ok((self.named_vertex()?, true)),
            _ => Ok((self.vertices.get(code - 1)?, false)),
        }
    }

    /// A triangle on a recent edge.
    fn on_edge(&mut self, edge: u8, vertex: u8) -> Result<[u32; 3], Broken> {
        let [a, b] = self.edges.get(edge)?;
        let c = match vertex {
            0 => self.new_vertex(),
            13 => self.last.wrapping_sub(1),
            14 => self.last.wrapping_add(1),
            15 => self.named_vertex()?,
            recent => self.vertices.get(recent)?,
        };
        if matches!(vertex, 13 | 14) {
            self.last = c;
        }
        if matches!(vertex, 0 | 13..) {
            self.vertices.push(c);
        }
        self.edges.push([c, b]);
        self.edges.push([a, c]);
        Ok([a, b, c])
    }

    /// A triangle on its own: the code of its first vertex, and those of the other two in a byte.
    fn alone(&mut self, first: u8, others: u8) -> Result<[u32; 3], Broken> {
        let (a, _) = self.vertex(first)?;
        let (b, keep_b) = self.vertex(others >> 4)?;
        let (c, keep_c) = self.vertex(others & 15)?;
        for edge in [[b, a], [c, b], [a, c]] {
            self.edges.push(edge);
        }
        for (vertex, keep) in [(a, true), (b, keep_b), (c, keep_c)] {
            if keep {
                self.vertices.push(vertex);
            }
        }
        Ok([a, b, c])
    }
}

/// The indices of triangles, in `size` bytes each.
pub(super) fn decode_triangles(stream: &[u8], count: usize, size: usize) -> Result<Vec<u8>, Broken> {
    let Some((0xe1, rest)) = stream.split_first() else { return Err(Broken("triangles of version 1")) };
    let body = rest.len().checked_sub(16).ok_or(TOO_SHORT)?;
    let (mut body, table) = rest.split_at(body);
    let codes = take(&mut body, count / 3)?;
    let mut state = Triangles { data: body, fresh: 0, last: 0, edges: Recent::new(), vertices: Recent::new() };
    let mut out = Vec::with_capacity(count * size);
    for &code in codes {
        let triangle = match (code >> 4, code & 15) {
            (15, which @ (14 | 15)) => {
                let others = take(&mut state.data, 1)?[0];
                if others == 0 {
                    state.fresh = 0;
                }
                state.alone(if which == 14 { 0 } else { 15 }, others)?
            }
            (15, entry) => {
                let others = table[usize::from(entry)];
                if others >> 4 == 15 || others & 15 == 15 {
                    return Err(Broken("a table of new and recent vertices"));
                }
                state.alone(0, others)?
            }
            (edge, vertex) => state.on_edge(edge, vertex)?,
        };
        emit(&mut out, &triangle, size);
    }
    if state.data.is_empty() { Ok(out) } else { Err(TOO_LONG) }
}

/// Indices of anything, in `size` bytes each.
pub(super) fn decode_sequence(stream: &[u8], count: usize, size: usize) -> Result<Vec<u8>, Broken> {
    let Some((0xd1, rest)) = stream.split_first() else { return Err(Broken("indices of version 1")) };
    let mut data = &rest[..rest.len().checked_sub(4).ok_or(TOO_SHORT)?];
    // Each takes a byte at least.
    if data.len() < count {
        return Err(TOO_SHORT);
    }
    let mut last = [0u32; 2];
    let mut out = Vec::with_capacity(count * size);
    for _ in 0..count {
        let code = varint(&mut data)?;
        let base = &mut last[(code & 1) as usize];
        *base = base.wrapping_add(signed(code >> 1));
        emit(&mut out, &[*base], size);
    }
    if data.is_empty() { Ok(out) } else { Err(TOO_LONG) }
}
