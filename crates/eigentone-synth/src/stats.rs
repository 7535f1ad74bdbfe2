//! What the audio side has been doing, readable from the control side at any time.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! statistics {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counters. Those "now" describe the last block, the others count since the engine began.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Stats {
            $($(#[$doc])* pub $name: u64,)*
        }

        /// The same, shared between the threads.
        #[derive(Debug, Default)]
        pub(crate) struct SharedStats {
            $($name: AtomicU64,)*
        }

        impl SharedStats {
            pub fn publish(&self, stats: &Stats) {
                $(self.$name.store(stats.$name, Relaxed);)*
            }

            pub fn snapshot(&self) -> Stats {
                Stats { $($name: self.$name.load(Relaxed),)* }
            }
        }
    };
}

statistics! {
    /// Blocks rendered.
    blocks,
    /// Bodies now in the engine.
    bodies,
    /// Bodies now sounding.
    sounding,
    /// Modes of all bodies that are not asleep, now.
    modes,
    /// Modes now computed, those fading in and out included.
    mixed,
    /// Largest number of modes computed at once.
    mixed_most,
    /// Sum over all blocks of the modes computed: divided by `blocks`, their mean.
    mixed_sum,
    /// Modes now asleep because they are below the truncation level.
    truncated,
    /// Modes now left out because others mask them or the ear does not hear them.
    masked,
    /// Modes now left out because the budget is spent.
    scaled,
    /// Modes now fading out; they are counted among the computed and the left out. So `modes + leaving = mixed + truncated + masked + scaled`.
    leaving,
    /// Blows served.
    hits,
    /// Contacts now sounding.
    contacts,
    /// Events served after their time.
    late,
    /// Events for bodies that were no longer there.
    orphaned,
    /// Events dropped because too many were waiting.
    dropped,
    /// Blows that were summed with others on their body, because a block had more events than time.
    merged,
    /// Events that happened some blocks later, for the same reason.
    spread,
    /// Blows that were given up, for the same reason.
    shed,
    /// Most events that were waiting at once.
    waiting_most,
    /// Samples that a force stream did not deliver in time.
    starved,
    /// Things that could not be handed back for freeing and were leaked: zero unless the control side is gone.
    leaked,
}
