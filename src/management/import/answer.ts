import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ImportErrorSchema,
  ImportSuccessOrgSchema,
} from "#gen/idsvc/management/v1/import_pb.ts";
import type { RecordOutcome } from "./tables.ts";

const mostErrors = 10_000;
const mostSuccesses = 100_000;

type Org = MessageInitShape<typeof ImportSuccessOrgSchema>;
type List = Exclude<keyof Org, "$typeName" | "$unknown" | "orgId">;

const lists: Readonly<Record<string, List>> = {
  projects: "projectIds",
  projectRoles: "projectRoles",
  oidcApps: "oidcAppIds",
  apiApps: "apiAppIds",
  humanUsers: "humanUserIds",
  machineUsers: "machineUserIds",
  projectGrants: "projectGrants",
  userGrants: "userGrants",
  orgMembers: "orgMembers",
  projectMembers: "projectMembers",
  projectGrantMembers: "projectGrantMembers",
  userMetadata: "userMetadata",
  domains: "domains",
  appKeys: "appKeys",
  machineKeys: "machineKeys",
  userLinks: "userLinks",
  oidcIdps: "oidcIpds",
  jwtIdps: "jwtIdps",
};

/** What the blocking call answers (specification 11.12): what is here now by organization, and what was refused. */
export async function answerOf(outcomes: AsyncIterable<RecordOutcome & { kind: string }>) {
  const errors: MessageInitShape<typeof ImportErrorSchema>[] = [];
  const orgs = new Map<string, Org & Record<List, string[]>>();
  let successes = 0;
  for await (const { kind: type, org, id, is, reason = "", field = "", message = "" } of outcomes) {
    if (is === "refused") {
      if (errors.length < mostErrors) errors.push({ type, id, message, reason, field, orgId: org });
      continue;
    }
    if (successes === mostSuccesses) continue;
    successes += 1;
    let of = orgs.get(org);
    if (of === undefined) orgs.set(org, (of = { orgId: org, ...empty() }));
    const list = lists[type];
    if (list !== undefined) of[list].push(id);
  }
  return { errors, success: { orgs: [...orgs.values()] } };
}

const empty = (): Record<List, string[]> =>
  // Every list of the table, each its own.
  Object.fromEntries(Object.values(lists).map((list) => [list, []])) as unknown as Record<
    List,
    string[]
  >;
