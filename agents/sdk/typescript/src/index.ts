/** Write an agent for Arena in TypeScript or JavaScript: see README.md. */
export { option } from "./agent.js";
export type { About, Agent, Answer, Choice, Option, Policy } from "./agent.js";
export type { Decision, Move, Options, Position } from "./decision.js";
export type * from "./messages.js";
export { Rng } from "./rng.js";
export { serve } from "./server.js";
