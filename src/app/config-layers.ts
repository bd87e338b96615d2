import { readFileSync } from "node:fs";
import { type DomainError, invalidArgument } from "../errors.ts";
import { isMap, parseYaml, type Raw } from "./option-types.ts";
import { type Option, options } from "./options.ts";

export type ConfigInput = {
  /** YAML files; later ones win. */
  files: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** By flag name (`tls-cert`, `--tls-cert`) or as commander names them (`tlsCert`). */
  flags: Readonly<Record<string, string | readonly string[] | undefined>>;
};

/** What somebody set an option to; `isPath` when it came as `_FILE`. `source` names file and key, variable or flag. */
export type Given = { raw: Raw; source: string; isPath: boolean };

/** The option table as a list: name and option. */
export const optionEntries = (): [string, Option<unknown>][] => Object.entries(options);

export const yamlName = (env: string): string => env.slice("IDSVC_".length).toLowerCase();
export const flagName = (env: string): string => `--${yamlName(env).replaceAll("_", "-")}`;

/**
 * What is set in files, environment and flags, by variable name; the highest layer wins.
 *
 * @throws invalidArgument CONFIG_OPTION_UNKNOWN, CONFIG_OPTION_TWICE (in one layer) and CONFIG_FILE_WRONG.
 */
export function readLayers({ files, env, flags }: ConfigInput): Map<string, Given> {
  return new Map([
    ...files.flatMap((file) => [...fileLayer(file)]),
    ...environmentLayer(env),
    ...flagLayer(flags),
  ]);
}

/** The text of a file, without the newline that editors and `echo` put at its end. */
export function readText(file: string, what: string): string {
  try {
    return readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (cause) {
    throw invalidArgument(
      "CONFIG_FILE_WRONG",
      `${what} cannot be read: ${file} (${cause instanceof Error && "code" in cause ? String(cause.code) : "unknown"}); name a readable file`,
      { metadata: { file }, cause },
    );
  }
}

/** `env`: the variable that this spelling would be. */
type Entry = { env: string; spelled: string; raw: Raw };
type Known = { option: Option<unknown>; isPath: boolean };

const known = new Map<string, Known>(
  optionEntries().flatMap(([, option]) => [
    [option.env, { option, isPath: false }] satisfies [string, Known],
    ...(option.type.secret
      ? [[`${option.env}_FILE`, { option, isPath: true }] satisfies [string, Known]]
      : []),
  ]),
);

function fileLayer(file: string): Map<string, Given> {
  const parsed = parseYaml(readText(file, "the configuration file"));
  if (parsed === "") return new Map();
  if (!isMap(parsed)) {
    const where =
      typeof parsed === "object" && "broken" in parsed ? `, wrong ${parsed.broken}` : "";
    throw invalidArgument(
      "CONFIG_FILE_WRONG",
      `configuration file ${file} must be a YAML map of options${where}`,
      { metadata: { file } },
    );
  }
  return layer(flatten(parsed, []), yamlName, (name) => `file ${file} (${name})`);
}

/** `tls: {cert: x}` is `tls_cert: x`. */
function flatten(map: ReadonlyMap<string, Raw>, path: readonly string[]): Entry[] {
  return [...map].flatMap(([key, raw]) => {
    const parts = [...path, key];
    const name = parts.join("_");
    const env = /^[a-z_]+$/.test(name) ? `IDSVC_${name.toUpperCase()}` : "";
    const entry = { env, spelled: parts.join("."), raw };
    return isMap(raw) && !known.has(env) && parts.length < 8 ? flatten(raw, parts) : [entry];
  });
}

function environmentLayer(env: ConfigInput["env"]): Map<string, Given> {
  // Kubernetes puts such names, for a service called "idsvc", into every pod beside it; the tests have names of their own;
  // and IDSVC_TOKEN is whom `idsvc migrate --send` calls as, in the shell that starts the service too.
  const foreign = /^IDSVC_(SERVICE_(HOST|PORT)|PORT_\d+_|TEST_|TOKEN$)/;
  const entries = Object.entries(env).flatMap(([name, raw]) =>
    name.startsWith("IDSVC_") && !foreign.test(name) && raw !== undefined
      ? [{ env: name, spelled: name, raw }]
      : [],
  );
  return layer(
    entries,
    (name) => name,
    (name) => `variable ${name}`,
  );
}

function flagLayer(flags: ConfigInput["flags"]): Map<string, Given> {
  const entries = Object.entries(flags).flatMap(([key, raw]) => {
    const kebab = key
      .replace(/^--/, "")
      .replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const env = `IDSVC_${kebab.replaceAll("-", "_").toUpperCase()}`;
    return raw === undefined ? [] : [{ env, spelled: `--${kebab}`, raw }];
  });
  return layer(entries, flagName, (name) => `flag ${name}`);
}

function layer(
  entries: readonly Entry[],
  spell: (env: string) => string,
  sourceOf: (spelled: string) => string,
): Map<string, Given> {
  const given = new Map<string, Given>();
  for (const { env, spelled, raw } of entries) {
    const source = sourceOf(spelled);
    const found = known.get(env);
    if (!found) throw unknown(spelled, source, spell);
    const before = given.get(found.option.env);
    if (before) throw twice(found.option, before.source, source);
    given.set(found.option.env, { raw, source, isPath: found.isPath });
  }
  return given;
}

function unknown(spelled: string, source: string, spell: (env: string) => string): DomainError {
  const suggestion = nearest(spelled, [...known.keys()].map(spell));
  const hint =
    suggestion === undefined ? "`idsvc config` lists all options" : `did you mean ${suggestion}?`;
  return invalidArgument("CONFIG_OPTION_UNKNOWN", `${source} is no option; ${hint}`, {
    metadata: { option: spelled, source, ...(suggestion === undefined ? {} : { suggestion }) },
  });
}

function twice(option: Option<unknown>, one: string, other: string): DomainError {
  return invalidArgument(
    "CONFIG_OPTION_TWICE",
    `${option.env} is set twice, by ${one} and by ${other}; leave one`,
    { metadata: { option: option.env, source: other } },
  );
}

/** The candidate that fewest changed letters away, if it is near enough to be meant. */
function nearest(word: string, candidates: readonly string[]): string | undefined {
  const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(plain(word), plain(candidate)) }))
    .sort((one, other) => one.distance - other.distance);
  const [best] = ranked;
  return best && best.distance <= Math.max(2, Math.floor(plain(word).length / 4))
    ? best.candidate
    : undefined;
}

function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [i, letter] of one.split("").entries()) {
    const next = [i + 1];
    for (const [j, against] of other.split("").entries()) {
      const replaced = (row[j] ?? 0) + (letter === against ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
