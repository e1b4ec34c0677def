// Writes src/messages.ts from the repository's proto/: types and readers of positions, and a
// description of the messages of agents. Run it after a change of the protocol. With --check, it fails
// if the file is not current.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import protobuf from "protobufjs";

const TARGET = fileURLToPath(new URL("src/messages.ts", import.meta.url));
const PROTO = process.env.ARENA_PROTO ?? fileURLToPath(new URL("../../../proto", import.meta.url));
const GAMES = join(PROTO, "arena/games/v1");
const TYPES = { uint32: "number", sint32: "number", uint64: "number", bool: "boolean", bytes: "number[]", string: "string" };
const DEFAULTS = { uint32: "0", sint32: "0", bool: "false", bytes: "[]", string: '""' };

const root = new protobuf.Root();
for (const file of [join(PROTO, "arena/v1/agent.proto"), ...protosOfGames()]) {
  protobuf.parse(readFileSync(file, "utf8"), root, { keepCase: true, alternateCommentMode: true });
}
root.resolveAll();

function protosOfGames() {
  const names = readdirSync(GAMES).filter((name) => name.endsWith(".proto"));
  return names.sort().map((name) => join(GAMES, name));
}

// COWRY_PHASE_MOVE is "move", as in the line protocol.
function valueName(type, name) {
  const prefix = type.name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
  return name.slice(prefix.length + 1).toLowerCase();
}

function comment(text, indent = "") {
  const lines = text.split("\n");
  if (lines.length === 1) return `${indent}/** ${text} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd() + "\n").join("")}${indent} */\n`;
}

function lookup(table, field) {
  if (!(field.type in table)) throw new Error(`${field.fullName} has the type ${field.type}`);
  return table[field.type];
}

function fieldType(field) {
  return (field.resolvedType?.name ?? lookup(TYPES, field)) + (field.repeated ? "[]" : "");
}

// Aliases, not interfaces: a value of them can be used where any object is expected.
function declaration(type) {
  if (type instanceof protobuf.Enum) {
    const names = Object.keys(type.values).map((name) => `"${valueName(type, name)}"`);
    return `${comment(type.comment)}export type ${type.name} =\n  | ${names.join("\n  | ")};\n`;
  }
  const fields = type.fieldsArray.map((field) => `${comment(field.comment, "  ")}  ${field.name}: ${fieldType(field)};\n`);
  return `${comment(type.comment)}export type ${type.name} = {\n${fields.join("")}};\n`;
}

// A function that reads a message into a plain object with all fields, twice as fast as protobufjs.
function reader(type) {
  if (type instanceof protobuf.Enum) return "";
  const initial = ({ name, repeated, resolvedType, ...field }) => {
    if (repeated) return `${name}: []`;
    return `${name}: ${resolvedType ? '"unspecified"' : lookup(DEFAULTS, field)}`;
  };
  const value = ({ type, resolvedType }) => {
    if (resolvedType instanceof protobuf.Enum) return `${resolvedType.name}s[reader.int32()] ?? "unspecified"`;
    if (resolvedType) return `read${resolvedType.name}(reader, reader.uint32() + reader.pos)`;
    return type === "bytes" ? "Array.from(reader.bytes())" : `reader.${type}()`;
  };
  const cases = type.fieldsArray.map((field) => {
    const { id, name, repeated, resolvedType } = field;
    if (!repeated) return `      case ${id}: message.${name} = ${value(field)}; break;\n`;
    if (resolvedType || field.type === "string") return `      case ${id}: message.${name}.push(${value(field)}); break;\n`;
    return `      case ${id}: readNumbers(reader, tag, message.${name}, reader.${field.type}); break;\n`;
  });
  return `function read${type.name}(reader: Reader, end: number): ${type.name} {
  const message: ${type.name} = { ${type.fieldsArray.map(initial).join(", ")} };
  while (reader.pos < end) {
    const tag = reader.uint32();
    switch (tag >>> 3) {
${cases.join("")}      default: reader.skipType(tag & 7);
    }
  }
  return message;
}
`;
}

function valuesOf(type) {
  if (!(type instanceof protobuf.Enum)) return "";
  const entries = Object.entries(type.values).map(([name, at]) => `${at}: "${valueName(type, name)}"`);
  return `const ${type.name}s: { [value: number]: ${type.name} } = { ${entries.join(", ")} };\n`;
}

// A message as protobufjs describes it, with the names of values as above.
function description(type) {
  const json = type.toJSON();
  const values = Object.entries(json.values ?? {}).map(([name, value]) => [valueName(type, name), value]);
  if (json.values) json.values = Object.fromEntries(values);
  return `  ${type.name}: ${JSON.stringify(json)},\n`;
}

const games = root.lookup("arena.games.v1").nestedArray;
const messages = root.lookup("arena.v1").nestedArray.filter((type) => !(type instanceof protobuf.Service));
const rulesets = games.flatMap(({ name }) => {
  const ruleset = name.match(/^(.*)Position$/)?.[1].replace(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase();
  return ruleset ? [`  "${ruleset}": read${name},\n`] : [];
});
const text = [
  "// Generated by generate.mjs from proto/. Do not edit it.\n",
  'import type { Reader } from "protobufjs/light.js";\n',
  declaration(root.lookup("arena.v1.Clock")),
  ...games.map(declaration),
  games.map(valuesOf).join(""),
  `// Numbers are packed, or have a tag each.
function readNumbers(reader: Reader, tag: number, numbers: number[], read: () => number): void {
  if ((tag & 7) !== 2) numbers.push(read.call(reader));
  else for (const end = reader.uint32() + reader.pos; reader.pos < end; ) numbers.push(read.call(reader));
}
`,
  ...games.map(reader).filter((text) => text),
  `/** Reads the positions of each ruleset. @internal */
export const READERS: { [ruleset: string]: (reader: Reader, end: number) => object } = {\n${rulesets.join("")}};\n`,
  `/** The messages of agents. @internal */\nexport const MESSAGES = {\n${messages.map(description).join("")}};\n`,
].join("\n");

if (!process.argv.includes("--check")) {
  writeFileSync(TARGET, text);
} else if (readFileSync(TARGET, "utf8") !== text) {
  console.error("src/messages.ts is not current: run npm run generate in agents/sdk/typescript");
  process.exit(1);
}
