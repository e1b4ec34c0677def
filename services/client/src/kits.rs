//! Kits: the files from which `arena agent new` and `arena rulesets new` make folders.

mod agents;
mod folder;
mod rules;

pub use agents::{AGENT, kit};
pub use folder::{Kit, KitFile, Made, Named, make_folder};
pub use rules::{PYTHON, RULES};
