import { createPublicKey } from "node:crypto";
import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { isIP } from "node:net";
import { resolve } from "node:path";
import type * as Yaml from "yaml";
import { DomainError } from "../errors.ts";
import { parseEgressAllow, parseNetwork } from "../egress/url-guard.ts";

/** A value as every layer gives it: all scalars are text, so that `0123` means the same in a file and in a variable. */
export type Raw = string | readonly Raw[] | ReadonlyMap<string, Raw>;

/** Ends the parse of a wrong value, with what exactly is wrong where the general expectation does not say it. */
export type Wrong = (why?: string) => never;

/** How an option is read, what would be right (said after "must be"), and how it is shown; a secret is shown masked. */
export type OptionType<T> = {
  expected: string;
  secret?: true;
  parse(raw: Raw, wrong: Wrong): T;
  show(value: T): string;
};

export type SystemCaller = { readonly name: string; readonly publicKey: string };
export type DatabaseLocation =
  | { readonly kind: "sqlite"; readonly file: string }
  | { readonly kind: "postgres"; readonly url: string };

/** Text of 1 to `max` characters without control characters. */
export const text = (max = 1000, expected = `text of 1 to ${max} characters`) =>
  scalar(expected, (given, wrong) =>
    given.length <= max && !/\p{Cc}/u.test(given) ? given : wrong(),
  );

/** Text that is never shown. */
export const secretText = (pattern: RegExp, expected: string): OptionType<string> => ({
  ...scalar(
    expected,
    (given, wrong) => (pattern.test(given) ? given : wrong()),
    () => "***",
  ),
  secret: true,
});

export const oneOf = <T extends string>(...words: readonly T[]): OptionType<T> =>
  scalar(
    `one of ${words.join(", ")}`,
    (given, wrong) => words.find((word) => word === given) ?? wrong(),
  );

export const bool: OptionType<boolean> = scalar("true or false", (given, wrong) =>
  given === "true" ? true : given === "false" ? false : wrong(),
);

export const int = (min: number, max: number): OptionType<number> =>
  scalar(`a whole number from ${min} to ${max}`, (given, wrong) =>
    within(/^\d{1,15}$/.test(given) ? Number(given) : Number.NaN, min, max, wrong),
  );

const mostProcesses = 256;

/** A number of processes; `auto` for as many as the machine runs at once, within the limits of a container. */
export const processes: OptionType<number | "auto"> = scalar(
  `a whole number from 1 to ${mostProcesses}, or auto`,
  (given, wrong) => (given === "auto" ? given : int(1, mostProcesses).parse(given, wrong)),
);

const byteUnits = new Map([
  ["", 1],
  ["KiB", 1024],
  ["MiB", 1024 ** 2],
  ["GiB", 1024 ** 3],
]);

/** A number of bytes. */
export const bytes = (min: number, max: number): OptionType<number> =>
  scalar(
    `a size from ${sizeText(min)} to ${sizeText(max)}, such as 4194304 or 4MiB`,
    (given, wrong) => {
      const [, amount = "", unit = ""] = /^(\d{1,15})(KiB|MiB|GiB)?$/.exec(given) ?? wrong();
      return within(Number(amount) * (byteUnits.get(unit) ?? Number.NaN), min, max, wrong);
    },
    sizeText,
  );

const timeUnits = new Map([
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

/** A duration in milliseconds. */
export const duration = (min: string, max: string): OptionType<number> => {
  const least = milliseconds(min);
  const most = milliseconds(max);
  return scalar(
    `a duration from ${min} to ${max}, such as 500ms, 30s, 5m or 1h30m`,
    (given, wrong) => within(milliseconds(given), least, most, wrong),
    (value) => (value % 1000 === 0 ? `${value / 1000}s` : `${value}ms`),
  );
};

/** 32 bytes of key material. */
export const key32: OptionType<Uint8Array> = {
  ...scalar(
    "32 bytes in base64 (make one with: openssl rand -base64 32)",
    (given, wrong) =>
      /^[A-Za-z0-9+/_-]{43}=?$/.test(given)
        ? new Uint8Array(Buffer.from(given, "base64"))
        : wrong(),
    () => "***",
  ),
  secret: true,
};

/** An absolute path; relative ones are taken from the working directory. */
export const path: OptionType<string> = scalar("a path", (given, wrong) =>
  given.includes("\0") ? wrong() : resolve(given),
);

/** The absolute path of a file that exists. */
export const file: OptionType<string> = scalar("the path of an existing file", (given, wrong) =>
  statSync(given, { throwIfNoEntry: false })?.isFile() ? resolve(given) : wrong(),
);

export const listenHost = scalar(
  "an IP address or host name to listen on, such as 127.0.0.1, 0.0.0.0, :: or localhost",
  (given, wrong) => (isIP(given) || /^[a-z0-9]([a-z0-9.-]{0,252})$/i.test(given) ? given : wrong()),
);

/** Scheme, host and port in their shortest spelling, with no slash at the end. */
export const origin = scalar(
  "an http or https URL without path, query, fragment and user, such as https://id.example.com",
  (given, wrong) => {
    const url = URL.parse(given);
    if (!url || !/^https?:\/\/[^/?#@\\]+\/?$/i.test(given) || url.pathname !== "/") return wrong();
    return url.origin;
  },
);

/** An address with a path, without query, fragment and user. */
export const httpUrl = scalar(
  "an http or https URL without query, fragment and user, such as https://api.example.com/range",
  (given, wrong) =>
    /^https?:\/\/[^?#@\\\s]+$/i.test(given) && URL.canParse(given) ? given : wrong(),
);

/** A PostgreSQL URL, or the path of an SQLite file; the password of the URL is never shown. */
export const database: OptionType<DatabaseLocation> = {
  ...scalar<DatabaseLocation>(
    "postgres://user:password@host:5432/name, or the path of an SQLite file",
    (given, wrong) => {
      const name = given.replace(/^(sqlite|file):(\/\/(?=\/))?/, "");
      if (name === ":memory:") return wrong("the store must outlive the process");
      if (/^postgres(ql)?:\/\//.test(given))
        return URL.canParse(given) ? { kind: "postgres", url: given } : wrong();
      return name === "" || /^[a-z][a-z0-9+.-]*:/i.test(name)
        ? wrong()
        : { kind: "sqlite", file: resolve(name) };
    },
    showDatabase,
  ),
  secret: true,
};

/** Proxy addresses and networks. */
export const networkList = list(
  "addresses and CIDR networks separated by commas, such as 10.0.0.0/8,::1",
  (entries, wrong) => {
    for (const entry of entries) if (!parseNetwork(entry)) wrong(`"${entry}" is none`);
  },
);

export const egressList = list(
  "addresses, CIDR networks, hosts and ports separated by commas, such as 10.0.0.0/8,[fd00::/8]:8443,hooks.internal,*:587",
  (entries, wrong) => {
    try {
      parseEgressAllow(entries);
    } catch (error) {
      if (error instanceof DomainError) wrong(error.message);
      throw error;
    }
  },
);

/** Callers of the system API: name to public key. Private keys are refused, they do not belong here. */
export const systemCallers: OptionType<readonly SystemCaller[]> = {
  expected: "a YAML map from a caller's name to its public key in PEM",
  parse(raw, wrong) {
    // Nobody, as most starts have it: that is no reason to load what reads YAML.
    if (raw === "{}") return Object.freeze([]);
    const map = typeof raw === "string" ? parseYaml(raw) : raw;
    if (!isMap(map)) return wrong();
    return Object.freeze([...map].map(([name, pem]) => Object.freeze(toCaller(name, pem, wrong))));
  },
  show: (callers) => callers.map(({ name }) => name).join(", ") || "(none)",
};

/**
 * Reads YAML with every scalar as text and maps as Map, so that no key can mean anything to an object.
 *
 * @returns the text "at line L, column C (CODE)" in `broken` for wrong YAML; never the source, which may hold secrets.
 */
export function parseYaml(source: string): Raw | { broken: string } {
  // Where nothing is in YAML, its 70 modules are not loaded.
  const { LineCounter, parseDocument }: typeof Yaml = createRequire(import.meta.url)("yaml");
  const lineCounter = new LineCounter();
  const document = parseDocument(source, {
    schema: "failsafe",
    prettyErrors: false,
    lineCounter,
    logLevel: "error",
  });
  const [error] = [...document.errors, ...document.warnings];
  if (error) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    return { broken: `at line ${line}, column ${col} (${error.code})` };
  }
  try {
    return toRaw(document.toJS({ mapAsMap: true }));
  } catch {
    // Only an alias can fail here: unknown, or too many of them.
    return { broken: "(BAD_ALIAS)" };
  }
}

export const isMap = (value: unknown): value is ReadonlyMap<string, Raw> => value instanceof Map;

function toRaw(value: unknown): Raw {
  if (Array.isArray(value)) return value.map(toRaw);
  if (value instanceof Map)
    return new Map([...value].map(([name, each]) => [String(name), toRaw(each)]));
  return typeof value === "string" ? value : "";
}

function scalar<T>(
  expected: string,
  parse: (given: string, wrong: Wrong) => T,
  show: (value: T) => string = String,
): OptionType<T> {
  return {
    expected,
    // An empty value is most often a variable that was never filled: saying so beats guessing.
    parse: (raw, wrong) =>
      typeof raw !== "string"
        ? wrong("it is not one value")
        : raw === ""
          ? wrong("it is empty")
          : parse(raw, wrong),
    show,
  };
}

/** A list of texts: separated by commas, or a YAML list; the empty text is the empty list. */
function list(
  expected: string,
  check: (entries: readonly string[], wrong: Wrong) => void,
): OptionType<readonly string[]> {
  return {
    expected,
    parse(raw, wrong) {
      const parts = typeof raw === "string" ? [raw] : Array.isArray(raw) ? raw : wrong();
      const entries = parts
        .flatMap((part: Raw) => (typeof part === "string" ? part.split(",") : wrong()))
        .map((part: string) => part.trim())
        .filter((part: string) => part !== "");
      check(entries, wrong);
      return Object.freeze(entries);
    },
    show: (entries) => (entries.length === 0 ? "(empty)" : entries.join(", ")),
  };
}

function within(value: number, min: number, max: number, wrong: Wrong): number {
  return value >= min && value <= max ? value : wrong();
}

function milliseconds(given: string): number {
  if (!/^(\d{1,9}(ms|s|m|h))+$/.test(given)) return Number.NaN;
  return [...given.matchAll(/(\d+)(ms|s|m|h)/g)]
    .map(([, amount, unit = ""]) => Number(amount) * (timeUnits.get(unit) ?? Number.NaN))
    .reduce((sum, part) => sum + part, 0);
}

function sizeText(value: number): string {
  const [unit, factor] = [...byteUnits].findLast(
    ([, size]) => value % size === 0 && value >= size,
  ) ?? ["", 1];
  return `${value / factor}${unit}`;
}

function showDatabase(location: DatabaseLocation): string {
  if (location.kind === "sqlite") return location.file;
  const { protocol, username, host, pathname } = new URL(location.url);
  return `${protocol}//${username === "" ? "" : `${username}:***@`}${host}${pathname}`;
}

function toCaller(name: string, pem: Raw, wrong: Wrong): SystemCaller {
  if (!/^[^\p{Cc}]{1,200}$/u.test(name)) return wrong("a name has 1 to 200 characters");
  if (typeof pem !== "string") return wrong(`"${name}" has no key`);
  // Node derives the public key of a private one, which would go unnoticed.
  if (pem.includes("PRIVATE")) return wrong(`"${name}" has a private key`);
  try {
    const { asymmetricKeyType: kind, asymmetricKeyDetails: details } = createPublicKey(pem);
    if (kind === "rsa" && (details?.modulusLength ?? 0) < 2048)
      return wrong(`the key of "${name}" is below 2048 bits`);
  } catch (error) {
    if (error instanceof DomainError) throw error;
    return wrong(`the key of "${name}" is not PEM`);
  }
  return { name, publicKey: pem };
}
