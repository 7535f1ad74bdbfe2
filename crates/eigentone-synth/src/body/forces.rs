//! Forces that go on: where they push, and who shares a drive.

use super::{Body, DRIVES, Scratch, World};
use crate::drive::{Aim, Drive, Source};
use eigentone_core::model::SiteBlend;

/// Of the drives, how many contacts may take; further contacts share.
const SEATS: usize = 3;

/// After a force has begun, its spectrum is known block by block: its modes must not wait a policy frame.
pub(super) const EAGER_BLOCKS: u8 = 4;

impl Body {
    /// Starts a continuous force and says which drive it took, or gives it back.
    pub fn attach(
        &mut self,
        source: Source,
        site: &SiteBlend,
        direction: [f32; 3],
        now: u64,
        world: &World,
        scratch: &mut Scratch,
    ) -> Result<usize, Source> {
        let n = self.table.padded;
        let free = self.drives.iter().position(Drive::is_free);
        let (Some(d), Some((rows, factors))) = (free, self.table.excitation(site, direction)) else {
            return Err(source);
        };
        (world.kernels.wide.combine)(rows, factors, &mut scratch.push[..n]);
        self.drives[d].start(source, &scratch.push, world.rate_hz);
        self.forced = true;
        self.drives[d].aim = Some(Aim { site: *site, direction });
        self.account.asleep = false;
        self.calm = false;
        self.eager = EAGER_BLOCKS;
        self.settle(now, world);
        self.load(now, world, scratch);
        Ok(d)
    }

    /// Gives a contact a drive to push through: one of its own at this place and along this direction, or, if there is none left, that of the fewest
    /// others. Says which, and whether it is its own.
    pub fn seat(
        &mut self,
        site: &SiteBlend,
        direction: [f32; 3],
        now: u64,
        world: &World,
        scratch: &mut Scratch,
    ) -> Option<(usize, bool)> {
        let taken = self.drives.iter().filter(|d| d.is_of_contacts()).count();
        if taken < SEATS && self.drives.iter().any(Drive::is_free) {
            let d = self.attach(Source::Contacts, site, direction, now, world, scratch).ok()?;
            self.drives[d].riders = 1;
            return Some((d, true));
        }
        let shared = self.drives.iter_mut().enumerate().filter(|(_, d)| d.is_of_contacts());
        let (d, drive) = shared.min_by_key(|(_, d)| d.riders)?;
        drive.riders += 1;
        Some((d, false))
    }

    /// A contact no longer pushes.
    pub fn unseat(&mut self, drive: usize) {
        let drive = &mut self.drives[drive];
        drive.riders = drive.riders.saturating_sub(1);
        if drive.riders == 0 && drive.is_of_contacts() {
            drive.stop();
        }
    }

    /// A contact has moved.
    pub fn aim(&mut self, drive: usize, site: &SiteBlend, direction: [f32; 3], world: &World, scratch: &mut Scratch) {
        let n = self.table.padded;
        if let Some((rows, factors)) = self.table.excitation(site, direction) {
            (world.kernels.wide.combine)(rows, factors, &mut scratch.push[..n]);
            self.drives[drive].weigh(&scratch.push, world.rate_hz);
            self.drives[drive].aim = Some(Aim { site: *site, direction });
            self.load_weights();
        }
    }

    /// Drives, if any of them acts.
    pub fn acting(&mut self) -> &mut [Drive] {
        if self.forced { &mut self.drives } else { &mut [] }
    }

    /// Drives, for the engine to fill bridges and close streams.
    pub fn drives(&mut self) -> &mut [Drive; DRIVES] {
        &mut self.drives
    }
}
