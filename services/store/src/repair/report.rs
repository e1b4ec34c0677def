//! What verification and repair report.

use std::path::PathBuf;

use serde::Serialize;

/// Findings of [`verify`](crate::verify).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// The data folder.
    pub path: PathBuf,
    /// Intact games.
    pub games: u64,
    /// Packs of games.
    pub packs: u64,
    /// Intact documents.
    pub documents: u64,
    /// Intact agent binaries.
    pub binaries: u64,
    /// Bytes of the database on disk.
    pub bytes_on_disk: u64,
    /// True if there was no room to check a copy. sled may then have truncated a torn end
    /// of its log.
    pub in_place: bool,
    /// All differences from what was acknowledged; empty for a sound store.
    #[serde(rename = "damages")]
    pub damage_report: Vec<String>,
    /// The commands that repair it, if it is damaged.
    pub remedy: Option<String>,
}

impl VerifyReport {
    /// True if everything that was acknowledged is there unchanged.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.damage_report.is_empty()
    }
}

/// Results of [`repair`](crate::repair).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RepairReport {
    /// The data folder.
    pub path: PathBuf,
    /// Games kept.
    pub games: u64,
    /// Documents kept.
    pub documents: u64,
    /// Games among them that were found only in the raw bytes of the files.
    pub games_rescued: u64,
    /// Documents among them of which the database lacked the newest version.
    pub documents_rescued: u64,
    /// Acknowledged games that are lost.
    pub games_lost: u64,
    /// Minimum number of documents that are lost or miss their last change.
    pub documents_lost: u64,
    /// Damage and losses; empty if there was nothing to repair.
    #[serde(rename = "damages")]
    pub damage_report: Vec<String>,
    /// Folder of the damaged database, unchanged; it may be deleted.
    pub before: Option<PathBuf>,
}

impl RepairReport {
    /// True if acknowledged data is lost.
    #[must_use]
    pub fn has_losses(&self) -> bool {
        self.games_lost > 0 || self.documents_lost > 0
    }
}

/// Contents of a backup.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct BackupReport {
    /// The backup's file, or the restored folder.
    pub path: PathBuf,
    /// Games in it.
    pub games: u64,
    /// Documents in it.
    pub documents: u64,
    /// Agents' binaries in it.
    pub binaries: u64,
    /// Events of the audit trail in it.
    pub events: u64,
    /// Its size in bytes.
    pub bytes: u64,
}
