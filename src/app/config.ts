import { BlockList, isIP } from "node:net";
import { availableParallelism, totalmem } from "node:os";
import { isLoopback } from "../authz/host.ts";
import { type DomainError, invalidArgument } from "../errors.ts";
import {
  type ConfigInput,
  flagName,
  type Given,
  optionEntries,
  readLayers,
  readText,
  yamlName,
} from "./config-layers.ts";
import type { Raw } from "./option-types.ts";
import { type ConfigValues, type Option, options } from "./options.ts";

export type { ConfigInput } from "./config-layers.ts";

/** An option as `idsvc config` shows it: the value in force, masked if secret, and where it comes from. */
export type DescribedOption = {
  name: string;
  env: string;
  flag: string;
  yaml: string;
  value: string;
  source: string;
  secret: boolean;
  expected: string;
  why: string;
  unit?: string;
};

export type Config = ConfigValues & { describe(): DescribedOption[] };

type Read = <T>(option: Option<T> & { default: string }) => T;

const rateLimits = (read: Read) => ({
  rateLimit: read(options.rateLimit),
  rateLimitChanges: read(options.rateLimitChanges),
  rateLimitInstance: read(options.rateLimitInstance),
  rateLimitInstanceChanges: read(options.rateLimitInstanceChanges),
});

const budgets = (read: Read) => ({
  budgetGuesses: read(options.budgetGuesses),
  budgetMessages: read(options.budgetMessages),
  budgetRecipientMessages: read(options.budgetRecipientMessages),
  budgetSenderMessages: read(options.budgetSenderMessages),
  budgetRegistrations: read(options.budgetRegistrations),
  budgetFlows: read(options.budgetFlows),
  budgetUnauthenticated: read(options.budgetUnauthenticated),
  budgetConnections: read(options.budgetConnections),
});

/**
 * The configuration in force, frozen: defaults < YAML files in order < environment < flags.
 *
 * @throws invalidArgument with option, source and what would be right: CONFIG_VALUE_WRONG, CONFIG_OPTION_UNKNOWN,
 * CONFIG_OPTION_TWICE, CONFIG_FILE_WRONG, CONFIG_TLS_INCOMPLETE, CONFIG_LIMITS_CONTRADICT. No secret is repeated.
 */
export function loadConfig(input: ConfigInput): Config {
  const given = readLayers(input);
  const inForce = new Map<string, Shown>();

  function read<T>(option: Option<T> & { default: string }): T;
  function read<T>(option: Option<T> & { derived: string }, derived: string): T;
  function read<T>(option: Option<T>): T | undefined;
  function read<T>(option: Option<T>, derived?: string): T | undefined {
    const fallback = option.default ?? derived;
    const from =
      given.get(option.env) ?? (fallback === undefined ? undefined : byDefault(fallback));
    if (!from) {
      inForce.set(option.env, { value: `(not set: ${option.absent})`, source: "default" });
      return undefined;
    }
    const value = option.type.parse(contents(option, from), (why) => {
      throw wrongValue(option, from, why);
    });
    inForce.set(option.env, { value: option.type.show(value), source: from.source });
    return value;
  }

  const port = read(options.port);
  const dataDir = read(options.dataDir);
  const tlsCert = read(options.tlsCert);
  const scheme = tlsCert === undefined ? "http" : "https";
  const externalUrl = read(options.externalUrl, `${scheme}://localhost:${port}`);
  const databaseUrl = read(options.databaseUrl, `${dataDir}/idsvc.db`);
  const values: ConfigValues = {
    host: read(options.host),
    port,
    externalUrl,
    dataDir,
    databaseUrl,
    masterKey: read(options.masterKey),
    masterKeyPrevious: read(options.masterKeyPrevious),
    egressAllow: read(options.egressAllow),
    trustedProxies: read(options.trustedProxies),
    tlsCert,
    tlsKey: read(options.tlsKey),
    processes: read(options.processes, isLoopback(new URL(externalUrl).hostname) ? "1" : "auto"),
    logLevel: read(options.logLevel),
    bootstrapOrganization: read(options.bootstrapOrganization),
    bootstrapAdminPassword: read(options.bootstrapAdminPassword),
    bootstrapToken: read(options.bootstrapToken),
    bootstrapPrint: read(options.bootstrapPrint),
    systemCallers: read(options.systemCallers),
    listLimitDefault: read(options.listLimitDefault),
    listLimitMax: read(options.listLimitMax),
    historyLimitDefault: read(options.historyLimitDefault),
    historyLimitMax: read(options.historyLimitMax),
    followersPerCaller: read(options.followersPerCaller),
    followers: read(options.followers),
    ...rateLimits(read),
    logAddresses: read(options.logAddresses),
    places: read(options.places),
    breachedPasswordsFile: read(options.breachedPasswordsFile),
    breachedPasswordsUrl: read(options.breachedPasswordsUrl),
    metricsPort: read(options.metricsPort),
    metricsToken: read(options.metricsToken),
    proxyHeaders: read(options.proxyHeaders),
    ...budgets(read),
    maxMessageBytes: read(options.maxMessageBytes),
    callTimeoutMs: read(options.callTimeoutMs),
    shutdownTimeoutMs: read(options.shutdownTimeoutMs),
    maxConnections: read(options.maxConnections),
    featureMultitenancyResourcesApi: read(options.featureMultitenancyResourcesApi),
    featureMultitenancySettings: read(options.featureMultitenancySettings),
    featureOidcTokenExchange: read(options.featureOidcTokenExchange),
  };
  checkTogether(values);
  const describe = () => describeOptions(inForce);
  // A configuration that is logged by mistake shows what `describe` shows, not its secrets.
  return Object.freeze({ ...values, describe, toJSON: describe });
}

/** The options for help texts and documentation: as `describe`, with the default in words for the value. */
export function listOptions(): DescribedOption[] {
  const defaults = optionEntries().map(([, option]): [string, Shown] => [
    option.env,
    { value: option.default ?? option.derived ?? `(${option.absent})`, source: "default" },
  ]);
  return describeOptions(new Map(defaults));
}

/**
 * Refuses to serve beyond loopback with a master key that lies beside the data it protects.
 *
 * @throws invalidArgument MASTER_KEY_REQUIRED.
 */
export function masterKeyRule(config: Pick<ConfigValues, "host" | "masterKey">): void {
  if (config.masterKey || isLoopbackAddress(config.host)) return;
  throw invalidArgument(
    "MASTER_KEY_REQUIRED",
    `IDSVC_MASTER_KEY must be ${options.masterKey.type.expected}, because IDSVC_HOST is ${config.host} and not loopback`,
    { metadata: { option: "IDSVC_MASTER_KEY" } },
  );
}

type Shown = { value: string; source: string };

const byDefault = (raw: string): Given => ({ raw, source: "default", isPath: false });

function contents(option: Option<unknown>, { raw, source, isPath }: Given): Raw {
  if (!isPath) return raw;
  if (typeof raw !== "string" || raw === "")
    throw configValueWrong(`${source} must be the path of one file`, {
      option: option.env,
      source,
    });
  return readText(raw, `the file of ${source}`);
}

function wrongValue(option: Option<unknown>, { raw, source }: Given, why?: string): DomainError {
  const shown =
    typeof raw === "string" && !option.type.secret ? `, not "${raw.slice(0, 100)}"` : "";
  const reason = why === undefined ? shown : ` (${why})`;
  return configValueWrong(
    `${option.env}, set by ${source}, must be ${option.type.expected}${reason}`,
    { option: option.env, source, expected: option.type.expected },
  );
}

/** An option, or a variable that counts as one, has a value that it cannot have. */
export const configValueWrong = (text: string, metadata: Record<string, string>): DomainError =>
  invalidArgument("CONFIG_VALUE_WRONG", text, { metadata });

/** What one process takes under load, with as much again for its peaks. */
const memoryOfProcess = 512 * 1024 ** 2;
/** Each takes 5 connections, and a server of PostgreSQL has a hundred unless told otherwise. */
const mostOnPostgres = 16;

/** What this machine gives, or the container where that has limits: threads that run at once, and bytes of memory. */
const machine = () => ({
  cores: availableParallelism(),
  // Without a limit it is 0, or more than there is.
  memory: Math.min(totalmem(), process.constrainedMemory() || Infinity),
});

/**
 * How many processes serve together. `auto` is as many as there are cores, as far as there is memory for them and the
 * database has connections.
 */
export function processCount(
  { processes, databaseUrl }: Pick<Config, "processes" | "databaseUrl">,
  { cores, memory } = machine(),
): number {
  if (processes !== "auto") return processes;
  const most = databaseUrl.kind === "postgres" ? mostOnPostgres : Infinity;
  return Math.max(1, Math.min(cores, Math.floor(memory / memoryOfProcess), most));
}

function checkTogether(values: ConfigValues): void {
  if ((values.tlsCert === undefined) !== (values.tlsKey === undefined))
    throw invalidArgument(
      "CONFIG_TLS_INCOMPLETE",
      "IDSVC_TLS_CERT and IDSVC_TLS_KEY belong together: set both, or neither",
      { metadata: { option: values.tlsCert === undefined ? "IDSVC_TLS_CERT" : "IDSVC_TLS_KEY" } },
    );
  if (values.metricsPort === 0 && processCount(values) > 1)
    throw configValueWrong(
      "IDSVC_METRICS_PORT must be from 1 to 65535 where several processes serve (IDSVC_PROCESSES): each would take a free one of its own",
      { option: "IDSVC_METRICS_PORT", expected: "from 1 to 65535" },
    );
  for (const [usual, most, kind] of [
    [values.listLimitDefault, values.listLimitMax, "LIST"],
    [values.historyLimitDefault, values.historyLimitMax, "HISTORY"],
  ] as const)
    if (usual > most)
      throw invalidArgument(
        "CONFIG_LIMITS_CONTRADICT",
        `IDSVC_${kind}_LIMIT_DEFAULT is ${usual}; it must not be above IDSVC_${kind}_LIMIT_MAX, which is ${most}`,
        { metadata: { option: `IDSVC_${kind}_LIMIT_DEFAULT` } },
      );
}

function describeOptions(shown: ReadonlyMap<string, Shown>): DescribedOption[] {
  return optionEntries().map(([name, { env, type, why, unit }]) => ({
    name,
    env,
    flag: flagName(env),
    yaml: yamlName(env),
    value: shown.get(env)?.value ?? "",
    source: shown.get(env)?.source ?? "",
    secret: type.secret === true,
    expected: type.expected,
    why,
    ...(unit === undefined ? {} : { unit }),
  }));
}

function isLoopbackAddress(host: string): boolean {
  if (host === "localhost") return true;
  const loopback = new BlockList();
  loopback.addSubnet("127.0.0.0", 8, "ipv4");
  loopback.addAddress("::1", "ipv6");
  return isIP(host) !== 0 && loopback.check(host, isIP(host) === 4 ? "ipv4" : "ipv6");
}
