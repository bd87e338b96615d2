import { InstanceService } from "#gen/idsvc/resources/instance/v3alpha/instance_service_pb.ts";
import type { Path, Shown } from "./declare.ts";

const quotas = "instance.limits.quotas";
const usage = "instance.usage";

/** Something that an instance uses, and how much of it there may be; absent where it is not limited. */
export type Amount = { word: string; used: Path; most: Path };

/** The instance itself: what whoever runs the service limits it to, and what it uses. */
export const ownInstance = {
  get: InstanceService.method.getOwnInstance,
  object: "instance",
  facts: [
    { path: "instance.name" },
    { path: "instance.domains", word: "domains" },
    { path: "instance.default_organization_id", word: "defaultOrganization", as: "organization" },
    { path: "instance.limits.audit_log_retention", word: "historyFor" },
    { path: "instance.version", word: "version" },
    { path: "details.id", word: "id", as: "code" },
  ] satisfies Shown[],
  amounts: [
    { word: "usersAndMachines", used: `${usage}.users`, most: `${quotas}.users` },
    { word: "organizations", used: `${usage}.organizations`, most: `${quotas}.organizations` },
    { word: "requestsToday", used: `${usage}.requests_today`, most: `${quotas}.requests_per_day` },
    { word: "tokensToday", used: `${usage}.tokens_today`, most: `${quotas}.tokens_per_day` },
  ] satisfies Amount[],
  /** What is counted only while it is limited. */
  countedWhereLimited: [`${usage}.requests_today`, `${usage}.tokens_today`] as readonly Path[],
};
