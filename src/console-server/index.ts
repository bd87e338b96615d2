import type { Deps } from "../projection/module.ts";
import { consoleFiles } from "./files.ts";
import { type AskProvider, type ConsoleEndpoint, consoleLogIn } from "./log-in.ts";
import { consolePages, type Needs } from "./pages.ts";
import { consolePreview } from "./preview.ts";
import type { ConsoleSessions } from "./sessions.ts";

type At = { instanceId: string; issuer: string };

/**
 * What serves the console: its log-in, its files, and the page that all its addresses have.
 *
 * @param parts.ask the provider, whose client the console is
 */
export const createConsole = <A extends At>(
  deps: Pick<Deps, "db" | "secrets" | "now">,
  parts: { sessions: ConsoleSessions; ask: AskProvider<A>; needs: () => Needs },
): ConsoleEndpoint<A>[] => [
  ...consoleLogIn(deps, parts.sessions, parts.ask),
  consolePreview<A>(deps, parts.sessions),
  ...consolePages<A>(deps, consoleFiles(), parts.needs),
];
