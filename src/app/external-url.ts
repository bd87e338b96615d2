import { columnsWhere } from "../projection/rows.ts";
import { hostName, isLoopback } from "../authz/host.ts";
import type { EventOf } from "../eventstore/event.ts";
import { ownWork } from "../eventstore/transaction.ts";
import type { Concern } from "../projection/module.ts";
import {
  hasInstance,
  instance,
  instanceDomains,
  instanceEvents,
  instanceReader,
  instances,
} from "../resources/instance/index.ts";
import { asc } from "../storage/drizzle.ts";
import type { Kernel } from "./kernel.ts";

/** Who writes what a start writes; nobody who calls the API has this name. */
export const startedBy = "bootstrap";

/** The host of the external URL, without its port. */
export const externalHost = ({ externalUrl }: Pick<Kernel["config"], "externalUrl">): string =>
  hostName(new URL(externalUrl).host);

/** The domains that the first instance owns for the host of the external URL (B1). */
export const domainsOfHost = (host: string): string[] =>
  host === "localhost" ? [host, "127.0.0.1", "[::1]"] : [host];

type Parts = Pick<Kernel, "config" | "db" | "events">;

/** The instance that the first start made; undefined where it was deleted since. */
async function firstInstance({ db, events }: Parts): Promise<string | undefined> {
  const t = db.table(instances);
  const oldest = db.read.select({ id: t.id }).from(t).orderBy(asc(t.creationDate), asc(t.id));
  const [row] = await oldest.limit(1);
  if (row === undefined) return undefined;
  const [added] = await events.read({ instanceId: row.id, types: ["instance.added"], limit: 1 });
  return added?.service === startedBy ? row.id : undefined;
}

/** Whose the host is, and which domain of the first instance stands for it where no request names one. */
async function lookAt(parts: Parts) {
  const { config, db } = parts;
  const host = externalHost(config);
  const owner = await instanceReader(db).byDomain(host);
  const first = await firstInstance(parts);
  const ofFirst = { instanceId: first ?? "" };
  const own = await columnsWhere(db, instanceDomains, ["domain", "isPrimary"], ofFirst);
  return {
    host,
    first,
    owner: owner?.id,
    primary: own.find(({ isPrimary }) => isPrimary)?.domain,
    isLocal: own.every(({ domain }) => isLoopback(domain)),
  };
}

/**
 * Makes it so at every start that the first instance owns the host of the external URL (B1), beside the domains that it has, unless
 * the host leads to another instance. The host becomes the primary domain, unless a caller of the API has chosen that.
 */
export async function followExternalUrl(parts: Parts & Pick<Kernel, "newId" | "logger">) {
  const { config, events, logger } = parts;
  const { host, first, owner, primary, isLocal } = await lookAt(parts);
  const about = { domain: host, externalUrl: config.externalUrl };
  if (first === undefined) {
    if (owner === undefined) logger.warn(about, nowhere);
    return;
  }
  if (owner !== undefined && (owner !== first || primary === host)) return;
  const as = { editorId: startedBy, service: startedBy, requestId: startedBy };
  const by = ownWork({ instanceId: first, ...as });
  const change = events.transact(by, async (tx) => {
    const loaded = await tx.load(instance, first);
    const changes = await changesFor(parts, loaded.state, first, host);
    tx.record(instance, loaded, changes);
    return changes.length > 0;
  });
  const isChanged = await change.catch(async (error: unknown) => {
    // Another replica has done it at the same time.
    if (owner === undefined && (await lookAt(parts)).owner !== undefined) return false;
    throw error;
  });
  if (!isChanged) return;
  logger.info(
    { ...about, instanceId: first },
    "the host of IDSVC_EXTERNAL_URL is a domain of the first instance now; the former ones stay",
  );
  if (isLocal && !isLoopback(host)) {
    logger.warn(
      { instanceId: first },
      "the instance was made on loopback and keeps its settings: idsvc doctor names those that demand less than others begin with",
    );
  }
}

async function changesFor(
  { db, events, newId }: Pick<Kernel, "db" | "events" | "newId">,
  state: (typeof instance)["initial"],
  instanceId: string,
  host: string,
): Promise<EventOf<typeof instanceEvents>[]> {
  if (state === undefined) return [];
  const known = state.domains.find(({ name }) => name === host);
  const byDomain = instanceReader(db).byDomain;
  const added = [];
  for (const domain of known === undefined ? domainsOfHost(host) : []) {
    if (domain === host || (await byDomain(domain)) === undefined) {
      added.push({ domain, domainId: newId(), isGenerated: false });
    }
  }
  const aggregate = { type: instance.type, id: instanceId };
  const types = ["instance.domain.primary.set"];
  const chosen = (await events.read({ instanceId, aggregate, types })).at(-1);
  const domainId = known?.id ?? added[0]?.domainId ?? "";
  const follows = chosen?.service === startedBy && state.primaryDomain !== host;
  return [
    ...added.map((each) => instanceEvents["domain.added"](each)),
    ...(follows ? [instanceEvents["domain.primary.set"]({ domain: host, domainId })] : []),
  ];
}

const nowhere =
  "host of IDSVC_EXTERNAL_URL leads to no instance and the first instance is gone: no instance is served there until one of them gets the domain (POST /resources/v3alpha/domains)";

/** What `idsvc doctor` tells of the host of the external URL. */
export async function externalUrlConcern(parts: Parts): Promise<Concern> {
  const { host, first, owner } = await lookAt(parts);
  const of = (name: string, text: string): Concern => ({ name, text, count: 1, some: [host] });
  if (owner === undefined && first === undefined) {
    const isNew = !(await hasInstance(parts.db));
    return { ...of("external_url_nowhere", nowhere), count: isNew ? 0 : 1 };
  }
  if (owner === undefined) {
    return of(
      "external_url_new",
      "host of IDSVC_EXTERNAL_URL leads to no instance yet: the next start makes it a domain of the first instance, beside those it has",
    );
  }
  const elsewhere = of(
    "external_url_elsewhere",
    "host of IDSVC_EXTERNAL_URL leads to another instance than the first: set another address, or take the domain from that instance",
  );
  return { ...elsewhere, count: first === undefined || owner === first ? 0 : 1 };
}
