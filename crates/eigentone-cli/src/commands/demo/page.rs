//! The demo's web page: plays the sounds without a server.

use super::make::{DemoObject, DemoScene};
use super::rooms::DemoRooms;
use std::fmt::Write;
use std::path::Path;

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}\
h1{font-weight:600;margin-bottom:.2rem}h2{font-weight:600;margin:0 0 .2rem}\
article{border-top:1px solid #8886;padding:1.2rem 0}\
.facts{color:#777;font-size:.92em;margin:.2rem 0 .8rem}\
.strikes{display:flex;flex-wrap:wrap;gap:1rem}.strikes figure{margin:0;flex:1 1 18rem}\
figcaption{font-size:.92em;margin-bottom:.2rem}audio{width:100%}\
img{max-width:100%;border-radius:4px;background:#fff}code{font-size:.92em}";

/// The page; files are named relative to it.
pub fn html(objects: &[DemoObject], scenes: &[DemoScene], rooms: &DemoRooms) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Eigentone demo</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>Eigentone</h1>\n\
         <p>Five objects made from a mesh and a material, each struck at two places, three scenes in which things fall, roll and scrape, and one sound in two rooms whose acoustics were computed from the wave equation. Nothing here was recorded.</p>\n"
    );
    for object in objects {
        article(&mut page, object);
    }
    for s in scenes {
        let _ = write!(
            page,
            "<article>\n<h2>{}</h2>\n<p class=\"facts\">{} bodies · {} impacts · {} contacts that slide or roll · <code>{}</code></p>\n\
             <audio controls preload=\"none\" src=\"{}\"></audio>\n<p><img src=\"{}\" alt=\"Level, spectrogram and events\"></p>\n</article>\n",
            s.title,
            s.bodies,
            s.impacts,
            s.contacts,
            name(&s.file),
            name(&s.sound),
            name(&s.picture)
        );
    }
    page.push_str("<article>\n<h2>One block of wood in two rooms</h2>\n<div class=\"strikes\">\n");
    for r in &rooms.rooms {
        let _ = writeln!(
            page,
            "<figure><figcaption>{}: {} simulations, decay {:.1} s · <code>{}</code></figcaption><audio controls preload=\"none\" src=\"{}\"></audio></figure>",
            r.title,
            r.probes,
            r.late_decay_s,
            name(&r.field),
            name(&r.sound)
        );
    }
    let _ = write!(
        page,
        "</div>\n<p><img src=\"{}\" alt=\"Spectrograms and decay curves\"></p>\n</article>\n",
        name(&rooms.picture)
    );
    page.push_str("<article>\n<h2>Overview</h2>\n<img src=\"overview.png\" alt=\"Meshes, modes and spectrograms of all objects\">\n</article>\n</body>\n</html>\n");
    page
}

fn article(page: &mut String, o: &DemoObject) {
    let frequencies: Vec<String> = o.first_hz.iter().map(|f| format!("{f:.0}")).collect();
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "<article>\n<h2>{}</h2>\n<p class=\"facts\">{} · {} · {:.0} g · {} modes, the lowest at {} Hz · T60 of the first {:.1} s</p>\n<p>{}</p>\n<div class=\"strikes\">\n",
        o.title,
        o.material,
        o.method,
        1e3 * o.mass_kg,
        o.modes,
        frequencies.join(", "),
        o.first_t60_s,
        o.story
    );
    for (place, file) in &o.sounds {
        let file = name(file);
        let _ = writeln!(
            page,
            "<figure><figcaption>struck: {place}</figcaption><audio controls preload=\"none\" src=\"{file}\"></audio></figure>"
        );
    }
    let _ = write!(
        page,
        "</div>\n<p><a href=\"{0}.png\">picture of its modes</a> · <code>{1}</code></p>\n</article>\n",
        o.name,
        name(&o.model)
    );
}

fn name(file: &Path) -> String {
    file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}
