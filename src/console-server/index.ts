import type { Deps } from "../projection/module.ts";
import { type AskProvider, type ConsoleEndpoint, consoleLogIn } from "./log-in.ts";
import type { ConsoleSessions } from "./sessions.ts";

type At = { instanceId: string; issuer: string };

/**
 * What serves the console: its log-in.
 *
 * @param ask the provider, whose client the console is
 */
export const createConsole = <A extends At>(
  deps: Pick<Deps, "secrets" | "now">,
  sessions: ConsoleSessions,
  ask: AskProvider<A>,
): ConsoleEndpoint<A>[] => consoleLogIn(deps, sessions, ask);
