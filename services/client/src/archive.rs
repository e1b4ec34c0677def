//! Archives of tournaments that have ended: a folder with everything that is known of one.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
};

use arena_model::printable_json;
use arena_report::{
    ReportError,
    records::{self, TournamentRecords, each_game},
    standings::view,
    tournaments::describe_fully,
    whole_file,
};
use arena_wire::v1;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    access::Client,
    failure::{Failure, Outcome},
};

/// Games per request.
const PAGE: u32 = 1024;
/// The file with the checksums of all others, in the format of `sha256sum`.
pub const SUMS: &str = "SHA256SUMS";
/// What stands before the hash in a record's line.
const HASH: &str = ",\"hash\":\"";

/// Writes the archive of a tournament and checks it. Returns its folder and the SHA-256 of its
/// checksums.
pub async fn write(
    client: &mut Client,
    tournament: &v1::Tournament,
    into: &Path,
) -> Outcome<(PathBuf, String)> {
    let id = &tournament.tournament_id;
    let folder = into.join(id);
    if folder.exists() {
        return Err(Failure::usage(format!(
            "{} exists already: name another folder with --into, or move it away",
            folder.display()
        )));
    }
    let unfinished = into.join(format!("{id}.unfinished"));
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).map_err(|error| whole_file::failed(&unfinished, &error))?;
    }
    fs::create_dir_all(&unfinished).map_err(|error| whole_file::failed(&unfinished, &error))?;
    let mut archive = Archive {
        folder: unfinished.clone(),
        sums: Vec::new(),
    };
    archive.fill(client, tournament).await?;
    let now = records::tournament(client, id).await?;
    if (now.generation, now.state) != (tournament.generation, tournament.state) {
        return Err(Failure::failed(format!(
            "tournament {id} continued while it was archived: archive it again when it has ended"
        )));
    }
    let sums = archive.finish()?;
    archive.check()?;
    let renamed = fs::rename(&unfinished, &folder).and_then(|()| File::open(into)?.sync_all());
    renamed.map_err(|error| whole_file::failed(&folder, &error))?;
    Ok((folder, sums))
}

/// An archive that is being written.
struct Archive {
    folder: PathBuf,
    /// Names of files, with their SHA-256.
    sums: Vec<(String, String)>,
}

impl Archive {
    async fn fill(&mut self, client: &mut Client, tournament: &v1::Tournament) -> Outcome {
        let id = &tournament.tournament_id;
        let setup = tournament.setup.clone().unwrap_or_default();
        self.text("spec.toml", &tournament.spec_toml)?;
        self.json("tournament.json", &describe_fully(tournament))?;
        let agents = setup.agents.iter().map(|agent| {
            let identity: Value = serde_json::from_str(&agent.record_json).unwrap_or_default();
            json!({ "name": agent.name, "identity": identity })
        });
        self.json("agents.json", &agents.collect::<Vec<_>>())?;
        let rules = TournamentRecords::new(&setup)?;
        let newest = tournament.generation.max(1);
        let earlier = tournament.earlier.iter().map(|it| (it.number, it.games));
        for (generation, games) in earlier.chain([(newest, tournament.games_done)]) {
            let suffix = match generation == newest {
                true => String::new(),
                false => format!("-generation-{generation}"),
            };
            let request = v1::GetStandingsRequest {
                tournament_id: id.clone(),
                pairs: true,
                generation,
                ..v1::GetStandingsRequest::default()
            };
            let standings = client.get_standings(request).await?.into_inner();
            let standings = standings.standings.unwrap_or_default();
            self.json(&format!("standings{suffix}.json"), &view::view(&standings))?;
            let name = format!("games{suffix}.jsonl");
            let written = self.games(client, &rules, (id, generation), &name).await?;
            if written != games {
                return Err(Failure::differs(format!(
                    "{id} has {games} games in generation {generation}, but {written} could be \
                     read: check the store with `arena store verify`"
                )));
            }
        }
        let report = arena_report::gather(client, id, &[]).await?;
        self.text("report.html", &arena_report::html(&report)?)
    }

    /// Writes the records of a generation. Returns their number.
    async fn games(
        &mut self,
        client: &mut Client,
        rules: &TournamentRecords,
        (id, generation): (&str, u32),
        name: &str,
    ) -> Outcome<u64> {
        let request = v1::ListGamesRequest {
            tournament_id: id.to_owned(),
            page_size: PAGE,
            generation,
            ..v1::ListGamesRequest::default()
        };
        let hash_only = rules.has_no_events();
        let mut file = self.create(name)?;
        let mut games = 0;
        each_game(client, request, |_, record| {
            rules.check(&record)?;
            let line = match hash_only {
                true => rules.short_line(&record)?,
                false => rules.line(&record)?,
            };
            games += 1;
            file.write(&line)?;
            file.write("\n")
        })
        .await?;
        self.sums.push(file.finish(name)?);
        Ok(games)
    }

    fn json(&mut self, name: &str, value: &impl Serialize) -> Outcome {
        let text = serde_json::to_string_pretty(value).map_err(Failure::failed)?;
        self.text(name, &format!("{}\n", printable_json(&text)))
    }

    fn text(&mut self, name: &str, text: &str) -> Outcome {
        let mut file = self.create(name)?;
        file.write(text)?;
        self.sums.push(file.finish(name)?);
        Ok(())
    }

    fn create(&self, name: &str) -> Outcome<Summed> {
        let path = self.folder.join(name);
        let file = File::create(&path).map_err(|error| whole_file::failed(&path, &error))?;
        Ok(Summed {
            file: io::BufWriter::new(file),
            digest: Sha256::new(),
            path,
        })
    }

    /// Writes the checksums, after all other files. Returns their SHA-256.
    fn finish(&self) -> Outcome<String> {
        let line = |(name, sum): &(String, String)| format!("{sum}  {name}\n");
        let text: String = self.sums.iter().map(line).collect();
        let mut file = self.create(SUMS)?;
        file.write(&text)?;
        let (_, sum) = file.finish(SUMS)?;
        let synced = File::open(&self.folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| whole_file::failed(&self.folder, &error))?;
        Ok(sum)
    }

    /// Reads all files again. Each has its checksum, and each record its hash.
    fn check(&self) -> Outcome {
        for (name, sum) in &self.sums {
            let path = self.folder.join(name);
            let failed = |error: io::Error| Failure::from(whole_file::failed(&path, &error));
            let mut digest = Sha256::new();
            let mut file = BufReader::new(File::open(&path).map_err(failed)?);
            let mut line = String::new();
            while file.read_line(&mut line).map_err(failed)? > 0 {
                digest.update(&line);
                if name.ends_with(".jsonl") && !has_hash(line.trim_end()) {
                    return Err(Failure::differs(format!(
                        "{}: a record does not have its hash: {line}",
                        path.display()
                    )));
                }
                line.clear();
            }
            if hex::encode(digest.finalize()) != *sum {
                return Err(Failure::differs(format!(
                    "{} was read with other bytes than were written: check the disk",
                    path.display()
                )));
            }
        }
        Ok(())
    }
}

/// True if a record's line has the hash of the line. A line without events has that of the whole line,
/// which only a replay with the agents gives.
fn has_hash(line: &str) -> bool {
    if line.contains("\"events\":null") {
        return true;
    }
    let Some((before, after)) = line.rsplit_once(HASH) else {
        return false;
    };
    let Some((hash, rest)) = after.split_once('"') else {
        return false;
    };
    hex::encode(Sha256::digest(format!("{before}{rest}"))) == hash
}

/// A file whose checksum is computed while it is written.
struct Summed {
    path: PathBuf,
    file: io::BufWriter<File>,
    digest: Sha256,
}

impl Summed {
    fn write(&mut self, text: &str) -> Result<(), ReportError> {
        self.digest.update(text);
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|error| whole_file::failed(&self.path, &error))
    }

    /// Makes the file durable. Returns its name and its SHA-256.
    fn finish(mut self, name: &str) -> Outcome<(String, String)> {
        let synced = self
            .file
            .flush()
            .and_then(|()| self.file.get_ref().sync_all());
        synced.map_err(|error| whole_file::failed(&self.path, &error))?;
        Ok((name.to_owned(), hex::encode(self.digest.finalize())))
    }
}
