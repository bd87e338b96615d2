import { type Config, loadConfig } from "../app/config.ts";

export const exitCodes = { done: 0, failed: 1, usage: 2, no: 3 } as const;

/** What every command is given: where its configuration comes from, how it shall print, and what it shall work on. */
export type Context = {
  /** The argument of a command that has one; otherwise empty. */
  argument: string;
  /** Where a command shall bring something that has `--to`; otherwise empty. */
  to: string;
  /** Whom a command that has `--user` is about, by their login name; otherwise empty. */
  user: string;
  /** The instance that `--instance` names by a domain; otherwise empty. */
  instance: string;
  /** Whether a command that has `--end` shall end what it shows. */
  end: boolean;
  /** When that is to be (`--at`); empty where it is to be at once. */
  at: string;
  files: string[];
  flags: Record<string, string>;
  env: NodeJS.ProcessEnv;
  json: boolean;
};

export const configOf = ({ files, flags, env }: Context): Config =>
  loadConfig({ files, flags, env });

/** Prints a result: as one line of JSON, or as text for people. */
export function print({ json }: Context, result: object, text: string): void {
  process.stdout.write(json ? `${JSON.stringify(result)}\n` : `${text}\n`);
}
