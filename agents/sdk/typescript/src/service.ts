// arena.v1.AgentService over a set of agents.
import * as grpc from "@grpc/grpc-js";
import { type Agent, type Answer, describe } from "./agent.js";
import { type ContextMessage, type DecisionMessage, type Long, messageType, number } from "./codec.js";
import { Context, Decision } from "./decision.js";

// Messages within messages are null if they are absent.
interface MoveRequest {
  context: ContextMessage | null;
  decision: DecisionMessage | null;
  time_budget_us: Long;
}

interface MovesRequest {
  contexts: ContextMessage[];
  decisions: DecisionMessage[];
  time_budget_us: Long;
  batch: Long;
}

interface Chosen {
  slot: number;
  move_id: number;
  info?: object;
}

type Stream = grpc.ServerDuplexStream<MovesRequest, object>;

/** Characters of an error's text: a client refuses headers of more than 16 KiB. */
const DETAILS_MAX = 1500;

export const NAME = "arena.v1.AgentService";

function method(name: string, isStream = false): grpc.MethodDefinition<any, any> {
  const [request, response] = [messageType(`${name}Request`), messageType(`${name}Response`)];
  return {
    path: `/${NAME}/${name}`,
    requestStream: isStream,
    responseStream: isStream,
    requestSerialize: (value) => Buffer.from(request.encode(value).finish()),
    requestDeserialize: (bytes) => request.decode(bytes),
    responseSerialize: (value) => response.encode(value).finish() as Buffer,
    responseDeserialize: (bytes) => response.decode(bytes),
  };
}

/** The definition of the service, as grpc-js takes it. */
export const DEFINITION = {
  describe: method("Describe"),
  chooseMove: method("ChooseMove"),
  chooseMoves: method("ChooseMoves", true),
};

/** Calls `then` with a value, now or when its promise is fulfilled. */
function after<T, U>(value: T | Promise<T>, then: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(then) : then(value);
}

/** What failed in a batch. Only the first failure is printed: what an agent may print is limited. */
class Failures {
  first: unknown;
  private count = 0;
  private decision: Decision | undefined;

  add(error: unknown, decision?: Decision): void {
    if (this.count++ === 0) [this.first, this.decision] = [error, decision];
  }

  print(): void {
    if (this.count === 0) return;
    const where = this.decision ? ` in ${this.decision}` : "";
    const more = this.count > 1 ? ` (and ${this.count - 1} more failures in this batch)` : "";
    const trace = this.first instanceof Error ? this.first.stack : this.first;
    process.stderr.write(`arena-agent: failed${where}${more}\n${trace}\n`);
  }
}

function toChosen(decision: Decision, answer: Answer): Chosen {
  const { move, ...info } = typeof answer === "object" && answer ? answer : { move: answer };
  if (!Number.isInteger(move) || move < 0 || move >= 2 ** 32) {
    throw new TypeError(`the policy returned ${String(move)}: return one of decision.legalMoves, or a Choice`);
  }
  if (typeof answer === "number") return { slot: decision.slot, move_id: move };
  const { variation = [] } = info as { variation?: unknown[] };
  return { slot: decision.slot, move_id: move, info: { ...info, variation: variation.map(String) } };
}

/** Asks for each decision. A failure leaves its decision without an answer. */
function chooseEach(agent: Agent, decisions: Decision[], failures: Failures): Chosen[] | Promise<Chosen[]> {
  const chosen: Chosen[] = [];
  const pending: Promise<unknown>[] = [];
  for (const decision of decisions) {
    try {
      const answer = agent.choose(decision);
      if (answer instanceof Promise) {
        const settled = answer.then((answer) => chosen.push(toChosen(decision, answer)));
        pending.push(settled.catch((error) => failures.add(error, decision)));
      } else {
        chosen.push(toChosen(decision, answer));
      }
    } catch (error) {
      failures.add(error, decision);
    }
  }
  return pending.length > 0 ? Promise.all(pending).then(() => chosen) : chosen;
}

async function chooseTogether(agent: Agent, decisions: Decision[], failures: Failures): Promise<Chosen[]> {
  try {
    const answers = await agent.chooseBatch!(decisions);
    if (answers.length !== decisions.length) {
      throw new Error(`chooseBatch returned ${answers.length} answers to ${decisions.length} decisions`);
    }
    return answers.flatMap((answer, at) => (answer === undefined ? [] : [toChosen(decisions[at], answer)]));
  } catch (error) {
    failures.add(error, decisions[0]);
    return [];
  }
}

/** An agent, with the promise of its last batch. */
class Bot {
  private last: Promise<unknown> | undefined;

  constructor(readonly agent: Agent) {}

  /** Does the work now, or after the last batch if that waits for promises. */
  take<T>(work: () => T | Promise<T>): T | Promise<T> {
    if (this.agent.concurrent) return work();
    const result = this.last ? this.last.then(work) : work();
    if (result instanceof Promise) {
      const last = result.finally(() => {
        if (this.last === last) this.last = undefined;
      });
      this.last = last;
    }
    return result;
  }
}

const microseconds = (started: number) => Math.round(1000 * (performance.now() - started));

/** The bots of a process. The first one answers requests that name none. */
export class Service {
  private readonly bots = new Map<string, Bot>();
  private readonly names: string;
  private readonly description: object;
  private readonly streams = new Set<() => void>();
  private asked = 0;

  constructor(agents: Agent[]) {
    this.description = messageType("DescribeResponse").fromObject(describe(agents));
    for (const agent of agents) this.bots.set(agent.name, new Bot(agent));
    this.names = [...this.bots.keys()].join(", ");
    this.bots.set("", this.bots.get(agents[0].name)!);
  }

  /** Whether an agent is choosing. */
  get isChoosing(): boolean {
    return this.asked > 0;
  }

  /** Takes no more batches, and ends each stream after its answers. */
  stop(): void {
    for (const end of this.streams) end();
  }

  implementation(): grpc.UntypedServiceImplementation {
    return {
      describe: ((_, reply) => reply(null, this.description)) as grpc.handleUnaryCall<object, object>,
      chooseMove: ((call, reply) => this.chooseMove(call.request, reply)) as grpc.handleUnaryCall<MoveRequest, object>,
      chooseMoves: (call: Stream) => this.chooseMoves(call),
    };
  }

  private chooseMove(request: MoveRequest, reply: grpc.sendUnaryData<object>): void {
    const failures = new Failures();
    const context = request.context ?? (messageType("GameContext").create() as unknown as ContextMessage);
    const message = request.decision ?? (messageType("Decision").create() as unknown as DecisionMessage);
    const bot = this.find(context.bot, failures);
    const decision = new Decision(new Context(context), message, number(request.time_budget_us));
    const started = performance.now();
    after(bot ? this.decide(bot, [decision], failures, chooseEach) : [], ([chosen]) => {
      failures.print();
      if (chosen) {
        reply(null, { move_id: chosen.move_id, info: { ...chosen.info, thinking_us: microseconds(started) } });
      } else {
        const code = bot ? grpc.status.INTERNAL : grpc.status.INVALID_ARGUMENT;
        reply({ code, details: String(failures.first).slice(0, DETAILS_MAX) });
      }
    });
  }

  private chooseMoves(call: Stream): void {
    let waiting = 0;
    let isOver = false;
    const end = () => {
      isOver = true;
      if (waiting === 0 && this.streams.delete(end)) call.end();
    };
    this.streams.add(end);
    call.on("data", (request: MovesRequest) => {
      // What is not answered, Arena asks again.
      if (isOver) return;
      waiting++;
      after(this.answer(request), (response) => {
        call.write(response);
        waiting--;
        if (isOver) end();
      });
    });
    call.on("end", end);
    call.on("cancelled", end);
  }

  private answer(request: MovesRequest): object | Promise<object> {
    const failures = new Failures();
    const budget = number(request.time_budget_us);
    const started = performance.now();
    const groups = request.contexts.map((message) => ({
      bot: this.find(message.bot, failures),
      context: new Context(message),
      decisions: [] as Decision[],
    }));
    for (const message of request.decisions) {
      const group = groups[message.context];
      group?.decisions.push(new Decision(group.context, message, budget));
    }
    const answers = groups.map(({ bot, decisions }) => {
      if (!bot || decisions.length === 0) return [];
      return this.decide(bot, decisions, failures, bot.agent.chooseBatch ? chooseTogether : chooseEach);
    });
    const isWaiting = answers.some((answer) => answer instanceof Promise);
    return after(isWaiting ? Promise.all(answers) : (answers as Chosen[][]), (answers) => {
      failures.print();
      const choices = answers.length === 1 ? answers[0] : answers.flat();
      return { batch: request.batch, choices, thinking_us: microseconds(started), last: true };
    });
  }

  private find(name: string, failures: Failures): Bot | undefined {
    const bot = this.bots.get(name);
    if (!bot) failures.add(`there is no bot "${name}"; this process offers ${this.names}`);
    return bot;
  }

  private decide(bot: Bot, decisions: Decision[], failures: Failures, choose: typeof chooseEach): Chosen[] | Promise<Chosen[]> {
    this.asked++;
    return after(
      bot.take(() => choose(bot.agent, decisions, failures)),
      (chosen) => {
        this.asked--;
        return chosen;
      },
    );
  }
}
