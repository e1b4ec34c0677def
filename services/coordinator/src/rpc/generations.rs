//! Generations of a tournament.

use std::sync::Arc;

use crate::{error::Error, info::Info};

/// The newest generation of a tournament, or the requested one.
pub(super) fn generation(info: &Arc<Info>, asked: u32) -> Result<Arc<Info>, Error> {
    if asked == 0 || asked == info.generation {
        return Ok(Arc::clone(info));
    }
    if asked > info.generation {
        return Err(Error::Request(format!(
            "tournament {} has generations 1 to {}, no generation {asked}",
            info.id, info.generation
        )));
    }
    info.of_generation(asked).map(Arc::new)
}
