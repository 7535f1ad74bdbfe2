//! Events over time, in rows: impacts as stems whose height is the impulse, or as a density where there are many; contacts
//! as bars.
//!
//! A row is a pair of bodies. What a melody drops counts as one body; if there are too many pairs, so do copies (`pea`,
//! `pea 2`, …), the largest family first. What is still too much goes into a last row.

use super::super::{
    axis::Axis,
    canvas::{Align, Area, Canvas, Text},
    mesh::{number, three_digits},
    model::empty,
    style,
};
use eigentone_scene::scene::{EventKind, EventRecord};
use std::collections::{BTreeMap, BTreeSet};

/// Rows with a name.
const MAX_ROWS: usize = 16;
/// A row with more impacts is drawn as a density.
const MAX_STEMS: usize = 500;
/// With more than this its dots are smaller.
const FEW_STEMS: usize = 100;
/// Impulses further below the largest stand at the foot of their row.
const IMPULSE_RANGE: f64 = 1e5;

/// What happened between two bodies, or families of them.
#[derive(Default)]
pub(super) struct Row {
    pub name: String,
    /// When, and with which impulse in N·s.
    pub impacts: Vec<(f64, f64)>,
    /// From when to when.
    pub contacts: Vec<[f64; 2]>,
}

impl Row {
    fn count(&self) -> usize {
        self.impacts.len() + self.contacts.len()
    }
}

/// All rows, the busiest first.
pub(super) struct EventRows {
    pub rows: Vec<Row>,
    impulse: Axis,
}

/// In the name of what a melody drops, between the body and the note.
const DROP: &str = " for note ";

type Pair<'a> = [&'a str; 2];

impl EventRows {
    /// Sorts the events of a scene that ends at `end_s`. What never ended ends there.
    pub fn new(events: &[EventRecord], end_s: f64) -> Self {
        let mut pairs: BTreeMap<Pair, Row> = BTreeMap::new();
        let mut open: BTreeMap<Pair, Vec<f64>> = BTreeMap::new();
        for event in events.iter().filter(|e| (0.0..=end_s).contains(&e.time_s)) {
            let pair = pair_of(event);
            let row = pairs.entry(pair).or_default();
            match event.kind {
                EventKind::Impact => {
                    row.impacts.push((event.time_s, f64::from(event.impulse_ns.unwrap_or(0.0))));
                }
                EventKind::ContactBegin => open.entry(pair).or_default().push(event.time_s),
                // The end of one that began before the first event is all that is known of it.
                EventKind::ContactEnd => {
                    let from = open.get_mut(&pair).and_then(Vec::pop).unwrap_or(0.0);
                    row.contacts.push([from, event.time_s]);
                }
            }
        }
        for (pair, begins) in open {
            pairs.entry(pair).or_default().contacts.extend(begins.into_iter().map(|from| [from, end_s]));
        }
        let rows = grouped(pairs);
        let impulses = rows.iter().flat_map(|r| &r.impacts).map(|i| i.1).filter(|i| i.is_finite() && *i > 0.0);
        let (low, high) = impulses.fold((f64::MAX, 0f64), |(l, h), i| (l.min(i), h.max(i)));
        let impulse = Axis::log((0.8 * low).max(high / IMPULSE_RANGE), high.max(1e-12), "impulse (N·s)");
        Self { rows, impulse }
    }

    /// Draws into an area, with the axis of time below it.
    pub fn draw(&self, canvas: &mut Canvas, time: &Axis, area: Area) {
        self.caption(canvas, area);
        canvas.rect(area, style::PANEL);
        let ticks = time.ticks((area.w / 62.0) as usize);
        let px = |value: f64| (area.x + area.w * time.share(value)).round() + 0.5;
        for tick in &ticks {
            canvas.line([px(tick.value), area.y], [px(tick.value), area.bottom()], 1.0, style::FAINT_GRID);
        }
        let height = area.h / self.rows.len().max(1) as f32;
        for (k, row) in self.rows.iter().enumerate() {
            let place = Area::new(area.x, (area.y + k as f32 * height).round(), area.w, height.floor());
            if k > 0 {
                canvas.line([area.x - 6.0, place.y + 0.5], [area.right(), place.y + 0.5], 1.0, style::GRID);
            }
            self.draw_row(canvas, row, time, place);
            let middle = place.y + 0.5 * place.h;
            let size = if height < 20.0 { style::SMALL } else { style::TICK };
            canvas.text_within([area.x - 10.0, middle], area.x - 40.0, &row.name, Text::new(size).align(Align::Right));
            let count = Text::new(size).colour(style::MUTED);
            canvas.text([area.right() + 10.0, middle], &number(row.count()), count);
        }
        if self.rows.is_empty() {
            empty(canvas, area, "nothing touched");
        }
        canvas.frame(Area::new(area.x + 0.5, area.y + 0.5, area.w - 1.0, area.h - 1.0), 1.0, style::AXIS);
        let label = Text::new(style::TICK).colour(style::MUTED).align(Align::Centre);
        for tick in &ticks {
            let x = px(tick.value);
            canvas.line([x, area.bottom()], [x, area.bottom() + 5.0], 1.0, style::AXIS);
            canvas.text([x, area.bottom() + 14.5], tick.label.as_deref().unwrap_or_default(), label);
        }
        let title = Text::new(style::TICK + 1.0).align(Align::Centre);
        canvas.text([area.x + 0.5 * area.w, area.bottom() + 38.0], &time.title, title);
    }

    fn caption(&self, canvas: &mut Canvas, area: Area) {
        let y = area.y - 14.0;
        let muted = Text::new(style::TICK).colour(style::MUTED);
        let mut x = area.x;
        canvas.dot([x + 4.0, y], 3.5, style::BLUE);
        x += 13.0;
        let impacts = if self.rows.iter().any(|r| !r.impacts.is_empty()) {
            let [low, high] = [self.impulse.low, self.impulse.high].map(impulse_text);
            format!("impacts; the height in a row is the impulse on a logarithmic scale, {low} to {high}")
        } else {
            "impacts".to_owned()
        };
        x += canvas.text([x, y], &impacts, muted) + 26.0;
        canvas.rect(Area::new(x, y - 2.0, 20.0, 4.0), style::ORANGE);
        canvas.text([x + 27.0, y], "contacts that slide or roll", muted);
        canvas.text([area.right() + 10.0, y], "events", muted);
    }

    fn draw_row(&self, canvas: &mut Canvas, row: &Row, time: &Axis, place: Area) {
        let bar = (0.16 * place.h).clamp(3.0, 12.0).round();
        draw_contacts(canvas, &row.contacts, time, Area::new(place.x, place.bottom() - bar, place.w, bar));
        let foot = place.bottom() - bar - 1.0;
        let rise = (foot - place.y - 0.12 * place.h - 2.0).max(1.0);
        let share = |impulse: f64| self.impulse.share(impulse).clamp(0.0, 1.0);
        if row.impacts.len() > MAX_STEMS {
            return self.draw_density(canvas, row, time, Area::new(place.x, foot - rise, place.w, rise));
        }
        let fine = if row.impacts.len() > FEW_STEMS { 0.7 } else { 1.0 };
        for &(when, impulse) in &row.impacts {
            let share = share(impulse);
            let [x, y] = [place.x + place.w * time.share(when), foot - rise * share];
            canvas.line([x, foot], [x, y], 1.0, style::faded(style::BLUE, 120));
            let radius = fine * (1.2 + 2.6 * share).min(0.12 * place.h + 1.0);
            canvas.dot([x, y], radius, style::faded(style::BLUE, 210));
        }
    }

    /// How many impacts there are at each time and impulse, by darkness.
    fn draw_density(&self, canvas: &mut Canvas, row: &Row, time: &Axis, area: Area) {
        let cell = if area.h > 60.0 { 2 } else { 1 };
        let (columns, rows) = (area.w as usize / cell, (area.h as usize / cell).max(1));
        let mut counts = vec![0u32; columns * rows];
        for &(when, impulse) in &row.impacts {
            let place = |share: f32, cells: usize| ((share.clamp(0.0, 1.0) * cells as f32) as usize).min(cells - 1);
            let (x, y) = (place(time.share(when), columns), place(self.impulse.share(impulse), rows));
            counts[y * columns + x] += 1;
        }
        let most = counts.iter().copied().max().unwrap_or(1).max(1);
        let area = Area::new(area.x, area.y.round(), (columns * cell) as f32, (rows * cell) as f32);
        canvas.image(area, |x, y| {
            let count = counts[(rows - 1 - y / cell) * columns + x / cell];
            style::faded(style::BLUE, shade(count, most))
        });
    }
}

/// Opacity for a count, by logarithms: full for the most.
fn shade(count: u32, most: u32) -> u8 {
    let share = if most > 1 { f64::from(count).ln() / f64::from(most).ln() } else { 1.0 };
    if count > 0 { (110.0 + 145.0 * share) as u8 } else { 0 }
}

/// Contacts as bars, darker where several last at once.
fn draw_contacts(canvas: &mut Canvas, contacts: &[[f64; 2]], time: &Axis, area: Area) {
    let columns = area.w as usize;
    let column = |when: f64| ((time.share(when).clamp(0.0, 1.0) * area.w) as usize).min(columns - 1);
    let mut steps = vec![0i32; columns + 1];
    for &[from, to] in contacts {
        steps[column(from)] += 1;
        steps[column(to) + 1] -= 1;
    }
    let depths: Vec<u32> = steps
        .iter()
        .scan(0, |depth, step| {
            *depth += step;
            Some((*depth).max(0) as u32)
        })
        .collect();
    let most = depths.iter().copied().max().unwrap_or(0);
    canvas.image(area, |x, _| style::faded(style::ORANGE, shade(depths[x], most)));
}

/// Both names in order, so that it does not matter who struck whom; a particle, which has none, comes first.
fn pair_of(event: &EventRecord) -> Pair<'_> {
    let mut pair = [event.body_a.as_str(), event.body_b.as_str()];
    pair.sort_unstable();
    pair
}

/// What a body is one of: its name without the number of a copy or the note it is dropped for.
fn family(name: &str) -> &str {
    let name = name.split(DROP).next().unwrap_or(name);
    match name.rsplit_once(' ') {
        Some((family, copy)) if !copy.is_empty() && copy.bytes().all(|b| b.is_ascii_digit()) => family,
        _ => name,
    }
}

/// Rows of few enough names.
fn grouped(pairs: BTreeMap<Pair<'_>, Row>) -> Vec<Row> {
    let mut members: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for name in pairs.keys().flatten() {
        members.entry(family(name)).or_default().insert(name);
    }
    let mut families: Vec<&str> = members.iter().filter(|(_, m)| m.len() > 1).map(|(f, _)| *f).collect();
    let dropped = |family: &str| members[family].iter().any(|name| name.contains(DROP));
    families.sort_by_key(|f| (!dropped(f), std::cmp::Reverse(members[f].len())));
    let rank: BTreeMap<&str, usize> = families.iter().enumerate().map(|(rank, family)| (*family, rank)).collect();
    let title = |name: &str, together: usize| match family(name) {
        _ if name.is_empty() => "particles".to_owned(),
        f if rank.get(f).is_some_and(|rank| *rank < together) => format!("{} × {f}", members[f].len()),
        _ => name.to_owned(),
    };
    let names = |pair: &Pair, together: usize| {
        let [a, b] = pair.map(|name| title(name, together));
        if a == b { format!("among {a}") } else { format!("{a} – {b}") }
    };
    // Nobody asks which marble it was that struck a bar.
    let mut together = families.iter().filter(|f| dropped(f)).count();
    while together < families.len()
        && pairs.keys().map(|p| names(p, together)).collect::<BTreeSet<_>>().len() > MAX_ROWS
    {
        // Doubling: a scene may have thousands of families.
        together = (2 * together).clamp(1, families.len());
    }
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for (pair, part) in pairs {
        let name = names(&pair, together);
        merge(rows.entry(name.clone()).or_insert_with(|| Row { name, ..Row::default() }), part);
    }
    let mut rows: Vec<Row> = rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count()));
    if rows.len() > MAX_ROWS + 1 {
        let rest = rows.split_off(MAX_ROWS);
        let mut others = Row { name: format!("{} others", number(rest.len())), ..Row::default() };
        rest.into_iter().for_each(|row| merge(&mut others, row));
        rows.push(others);
    }
    rows
}

fn merge(row: &mut Row, part: Row) {
    row.impacts.extend(part.impacts);
    row.contacts.extend(part.contacts);
}

/// In the unit that suits it.
fn impulse_text(newton_seconds: f64) -> String {
    let units = [(1.0, "N·s"), (1e-3, "mN·s"), (1e-6, "µN·s")];
    let (unit, name) = units.into_iter().find(|(u, _)| newton_seconds >= *u).unwrap_or(units[2]);
    format!("{} {name}", three_digits(newton_seconds / unit))
}
