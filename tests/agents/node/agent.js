// An agent for Node without packages: gRPC on node:http2, messages by hand.
const http2 = require("node:http2");
const { pick } = require("./pick.js");

const varint = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]);
const number = (field, value) => [field << 3, ...varint(value)];
const bytes = (field, value) => [(field << 3) | 2, ...varint(value.length), ...value];
const text = (field, value) => bytes(field, [...Buffer.from(value)]);

// Reads a message: a map from fields to their last values.
function read(buffer) {
  const fields = new Map();
  let at = 0;
  const next = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = buffer[at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  while (at < buffer.length) {
    const key = next();
    const field = Math.floor(key / 8);
    if (key % 8 === 0) fields.set(field, next());
    else if (key % 8 === 1) at += 8;
    else if (key % 8 === 5) at += 4;
    else {
      const length = next();
      fields.set(field, buffer.subarray(at, at + length));
      at += length;
    }
  }
  return fields;
}

function moves(packed) {
  const all = [];
  let value = 0;
  let shift = 0;
  for (const byte of packed) {
    value += (byte & 127) * 2 ** shift;
    shift += 7;
    if (byte < 128) {
      all.push(value);
      value = shift = 0;
    }
  }
  return all;
}

const bot = [...text(1, "first"), ...text(3, "kalah"), ...number(5, 1), ...number(6, 1)];
const methods = {
  "/grpc.health.v1.Health/Check": () => number(1, 1),
  "/arena.v1.AgentService/Describe": () => [...text(1, "node"), ...text(2, "1"), ...bytes(4, bot)],
  "/arena.v1.AgentService/ChooseMove": (request) => {
    const decision = read(read(request).get(2));
    return number(1, pick(moves(decision.get(7))));
  },
};

const server = http2.createServer();
server.on("stream", (stream, headers) => {
  const method = methods[headers[":path"]];
  const answered = { ":status": 200, "content-type": "application/grpc" };
  if (!method) {
    stream.respond({ ...answered, "grpc-status": "12" }, { endStream: true });
    return;
  }
  const parts = [];
  stream.on("data", (part) => parts.push(part));
  stream.on("end", () => {
    const answer = Buffer.from(method(Buffer.concat(parts).subarray(5)));
    const head = Buffer.alloc(5);
    head.writeUInt32BE(answer.length, 1);
    stream.respond(answered, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end(Buffer.concat([head, answer]));
  });
});

const listen = process.env.ARENA_LISTEN;
if (listen.startsWith("unix:")) server.listen(listen.slice(5));
else server.listen(Number(listen.split(":").pop()), "127.0.0.1");
