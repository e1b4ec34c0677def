//! Compiles `proto/` with protox, so that no protoc is needed.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    error::Error,
    fs,
    path::PathBuf,
};

use prost_types::{
    DescriptorProto, FileDescriptorSet,
    field_descriptor_proto::{Label, Type},
};
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
        .codec_path("crate::bounds::MeasuredCodec")
        .btree_map(".");
    if env::var_os("CARGO_FEATURE_JSON").is_some() {
        builder = with_json(builder, &files);
        fs::write(out.join("positions.rs"), positions(&files))?;
    }
    fs::write(out.join("shapes.rs"), shapes(&files))?;
    builder.compile_fds(files)?;
    Ok(())
}

/// The tables of `src/bounds.rs`: for each message of requests, what it needs in memory, and the names of the
/// requests to the coordinator.
fn shapes(files: &FileDescriptorSet) -> String {
    let mut messages = BTreeMap::new();
    for file in &files.file {
        for message in &file.message_type {
            nested(&format!(".{}", file.package()), message, &mut messages);
        }
    }
    let services = files.file.iter().flat_map(|file| &file.service);
    let own = services
        .filter(|it| ["AdminService", "CoordinatorService", "WorkerService"].contains(&it.name()));
    let requests: BTreeSet<&str> = own
        .flat_map(|service| &service.method)
        .map(|method| method.input_type())
        .collect();
    // All messages that they contain.
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut open: Vec<&str> = requests.iter().copied().collect();
    let mut order = Vec::new();
    while let Some(name) = open.pop() {
        if numbers.contains_key(name) {
            continue;
        }
        numbers.insert(name, order.len());
        order.push(name);
        let fields = messages[name].field.iter();
        open.extend(
            fields
                .filter(|it| it.r#type() == Type::Message)
                .map(|it| it.type_name()),
        );
    }
    let mut text = "static SHAPES: &[Shape] = &[\n".to_owned();
    for name in &order {
        let bytes = memory(&messages, messages[*name], 0);
        text += &format!("    Shape {{ bytes: {bytes}, parts: &[");
        for field in &messages[*name].field {
            let part = match field.r#type() {
                Type::Message => format!("Part::Message({})", numbers[field.type_name()]),
                Type::String | Type::Bytes => "Part::Bytes".to_owned(),
                of if field.label() == Label::Repeated => format!("Part::Numbers({})", number(of)),
                _ => continue,
            };
            text += &format!("({}, {part}), ", field.number());
        }
        text += "] },\n";
    }
    text += "];\nstatic REQUESTS: &[(&str, usize)] = &[\n";
    for name in requests {
        let short = name.rsplit('.').next().unwrap_or_default();
        text += &format!("    ({short:?}, {}),\n", numbers[name]);
    }
    text + "];\n"
}

fn nested<'a>(
    parent: &str,
    message: &'a DescriptorProto,
    messages: &mut BTreeMap<String, &'a DescriptorProto>,
) {
    let name = format!("{parent}.{}", message.name());
    for inner in &message.nested_type {
        nested(&name, inner, messages);
    }
    messages.insert(name, message);
}

/// Bytes of a number in a list.
fn number(of: Type) -> u64 {
    match of {
        Type::Bool => 1,
        Type::Int32 | Type::Uint32 | Type::Sint32 | Type::Fixed32 | Type::Sfixed32 => 4,
        Type::Float | Type::Enum => 4,
        _ => 8,
    }
}

/// Bytes of a message in memory, or a few more, without those that its lists and texts refer to.
fn memory(messages: &BTreeMap<String, &DescriptorProto>, of: &DescriptorProto, depth: u32) -> u64 {
    let fields = of.field.iter().map(|field| match field.r#type() {
        _ if field.label() == Label::Repeated => 24,
        Type::String | Type::Bytes => 24,
        Type::Message if depth < 8 => 8 + memory(messages, messages[field.type_name()], depth + 1),
        _ => 16,
    });
    fields.sum()
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
