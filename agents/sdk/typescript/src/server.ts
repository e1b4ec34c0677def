import * as grpc from "@grpc/grpc-js";
import type { About, Agent, Policy } from "./agent.js";
import type { Position } from "./decision.js";
import { DEFINITION, NAME, Service } from "./service.js";

/** Milliseconds for answers when the process has to end. */
const GRACE_MS = 2000;
const MESSAGE_BYTES_MAX = 64 << 20;

/** The standard health service: messages with one field each. */
const health = {
  definition: {
    check: healthMethod("Check", false),
    watch: healthMethod("Watch", true),
  },
  implementation: {
    check: (({ request: { service } }, reply) => {
      if (service === "" || service === NAME) reply(null, {});
      else reply({ code: grpc.status.NOT_FOUND, details: `there is no service "${service}"` });
    }) as grpc.handleUnaryCall<HealthRequest, object>,
    // Stays open, since an agent serves until it ends.
    watch: ((call) => call.write({})) as grpc.handleServerStreamingCall<HealthRequest, object>,
  },
};

type HealthRequest = { service: string };

function healthMethod(name: string, responseStream: boolean): grpc.MethodDefinition<HealthRequest, object> {
  return {
    path: `/grpc.health.v1.Health/${name}`,
    requestStream: false,
    responseStream,
    requestSerialize: ({ service }) => Buffer.from([10, service.length, ...Buffer.from(service)]),
    requestDeserialize: (bytes) => ({ service: bytes.toString("utf8", 2) }),
    responseSerialize: () => Buffer.from([8, 1]), // SERVING
    responseDeserialize: () => ({}),
  };
}

/**
 * Serves an agent until SIGTERM or SIGINT, at the address in the environment variable `ARENA_LISTEN`
 * (`unix:PATH` or `HOST:PORT`), or at a free port of this machine. `serve(choose, about)` serves a
 * policy with its description, as in the kits of `arena agent new`; `serve(first, second)` serves
 * several agents in one process. The first one is the default. The process ends with code 1 if they
 * cannot be served.
 */
export function serve<P = Position>(choose: Policy<P>, about: About<P>): void;
export function serve(...agents: Agent<any>[]): void;
export function serve(...given: any[]): void {
  const agents: Agent[] = typeof given[0] === "function" ? [{ ...given[1], choose: given[0] }] : given;
  let service: Service;
  try {
    service = new Service(agents);
  } catch (error) {
    return fail((error as Error).message);
  }
  const server = new grpc.Server({
    "grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
    "grpc.max_send_message_length": MESSAGE_BYTES_MAX,
  });
  server.addService(DEFINITION, service.implementation());
  server.addService(health.definition, health.implementation);
  const listen = process.env.ARENA_LISTEN || "127.0.0.1:0";
  server.bindAsync(listen, grpc.ServerCredentials.createInsecure(), (error, port) => {
    if (error) return fail(`cannot listen on ${listen}: ${error.message}`);
    const address = listen.startsWith("unix:") ? listen : listen.replace(/[^:]*$/, String(port));
    process.stderr.write(`arena-agent: ${agents.map(({ name }) => name).join(", ")} listening on ${address}\n`);
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop(server, service));
  });
}

function fail(message: string): void {
  process.stderr.write(`arena-agent: ${message}\n`);
  process.exit(1);
}

/** Ends the process after the answers to current requests. */
function stop(server: grpc.Server, service: Service): void {
  setTimeout(() => {
    if (!service.isChoosing) process.exit(0);
    fail(`still choosing after ${GRACE_MS} ms: ends without an answer`);
  }, GRACE_MS);
  service.stop();
  server.tryShutdown(() => process.exit(0));
}
