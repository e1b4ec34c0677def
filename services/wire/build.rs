//! Compiles `proto/` with protox, so that no protoc is needed.

use std::{env, error::Error, fs, path::PathBuf};

use prost_types::{DescriptorProto, FileDescriptorSet, field_descriptor_proto::Type};
use tonic_prost_build::Builder;

/// A new file in one of these is compiled without being named anywhere.
const FOLDERS: &[&str] = &["arena/v1", "arena/games/v1", "externalscaler"];
/// The package of the positions.
const POSITIONS: &str = ".arena.games.v1";

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../proto");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    for folder in FOLDERS {
        for entry in fs::read_dir(root.join(folder))? {
            let path = entry?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "proto")
            {
                files.push(path);
            }
        }
    }
    // The order of a folder is not the same everywhere.
    files.sort();
    let mut compiler = protox::Compiler::new([&root])?;
    compiler.include_imports(true).open_files(files)?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    // Encoded by the compiler, because the messages of `prost-types` drop our method options.
    let encoded = compiler.encode_file_descriptor_set();
    fs::write(out.join("descriptors.bin"), encoded)?;
    let grpc = env::var_os("CARGO_FEATURE_GRPC").is_some();
    let files = compiler.file_descriptor_set();
    let mut builder = tonic_prost_build::configure()
        .build_client(grpc)
        .build_server(grpc)
        .btree_map(".");
    if env::var_os("CARGO_FEATURE_JSON").is_some() {
        builder = with_json(builder, &files);
        fs::write(out.join("positions.rs"), positions(&files))?;
    }
    builder.compile_fds(files)?;
    Ok(())
}

/// Positions as JSON: phases are words, and absent moves are left out.
fn with_json(mut builder: Builder, files: &FileDescriptorSet) -> Builder {
    let has_schema = env::var_os("CARGO_FEATURE_SCHEMA").is_some();
    let schema = |attribute: &str| match has_schema {
        true => attribute.to_owned(),
        false => String::new(),
    };
    builder = builder.type_attribute(
        POSITIONS,
        "#[derive(serde::Serialize)] #[serde(rename_all = \"snake_case\")]",
    );
    if has_schema {
        builder = builder.type_attribute(POSITIONS, "#[derive(schemars::JsonSchema)]");
    }
    for message in messages(files) {
        for field in &message.field {
            let path = format!("{POSITIONS}.{}.{}", message.name(), field.name());
            if field.r#type() == Type::Enum {
                let phase = field.type_name().rsplit('.').next().unwrap_or_default();
                builder = builder.field_attribute(
                    path,
                    format!("#[serde(serialize_with = \"crate::json::word::<{phase}, _>\")]")
                        + &schema(&format!("#[schemars(with = \"{phase}\")]")),
                );
            } else if field.name() == "moves" {
                builder = builder
                    .field_attribute(path, "#[serde(skip_serializing_if = \"Vec::is_empty\")]");
            }
        }
    }
    builder
}

/// The messages of positions and their moves.
fn messages(files: &FileDescriptorSet) -> impl Iterator<Item = &DescriptorProto> {
    let files = files.file.iter();
    let files = files.filter(|file| format!(".{}", file.package()) == POSITIONS);
    files.flat_map(|file| &file.message_type)
}

/// The call of a macro with each ruleset and its type: `"chinese-ludo" => ChineseLudoPosition`.
fn positions(files: &FileDescriptorSet) -> String {
    let mut call = "positions! {\n".to_owned();
    for message in messages(files) {
        let name = message.name();
        if let Some(words) = name.strip_suffix("Position") {
            let mut ruleset = String::new();
            for letter in words.chars() {
                if letter.is_ascii_uppercase() && !ruleset.is_empty() {
                    ruleset.push('-');
                }
                ruleset.push(letter.to_ascii_lowercase());
            }
            call += &format!("    \"{ruleset}\" => {words}({name}),\n");
        }
    }
    call + "}\n"
}
