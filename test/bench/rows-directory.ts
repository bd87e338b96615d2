import type { JsonObject } from "@bufbuild/protobuf";
import { addMember, membership } from "../../src/resources/membership/membership.ts";
import { addUser, builtInData, user } from "../../src/resources/user/index.ts";
import { counterMark, type LoadSpec } from "./load/spec.ts";
import type { BenchCase } from "./measure.ts";
import type { Child } from "./process.ts";
import { callJson, restSpec } from "./requests.ts";
import type { Bench, RowPlan } from "./rows.ts";
import { newStore, startService, type Store, withKernel, writer } from "./store.ts";

const base = "/resources/v3alpha";
const usersPerUnit = 1_000;

/** Users and members beside targets and flags. */
export async function directoryBench(
  sizes: readonly { label: string; users: number; memberships: number }[],
): Promise<Bench & { services: Map<string, Child> }> {
  const services = new Map<string, Child>();
  await using running = new AsyncDisposableStack();
  const cases: BenchCase[] = [];
  const rows: RowPlan[] = [];
  for (const { label, users, memberships } of sizes) {
    const store = running.use(await newStore(users));
    const someone = await seedUsers(store, users, memberships);
    const service = running.use((await startService(store.dir)).child);
    services.set(label, service);
    for (const each of directoryCases(label, store, service, someone)) {
      cases.push(each.of, each.beside);
      rows.push({
        id: each.id,
        service: each.of.name,
        peers: { [each.measure]: each.beside.name },
        waits: each.waits,
      });
    }
  }
  const held = running.move();
  return { cases, rows, services, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

function directoryCases(label: string, store: Store, service: Child, someone: string) {
  const { token } = store;
  const { port, pid } = service;
  const json = (name: string, load: LoadSpec): BenchCase => ({
    name: `${name} ${label}`,
    pid,
    load,
    verify: async () => void (await callJson(load)),
  });
  const search = (kind: string, filter: JsonObject) =>
    json(
      `${kind} by name`,
      restSpec(port, `POST ${base}/${kind}/_search?query.limit=10`, {
        token,
        body: [filter],
        connections: 16,
      }),
    );
  const starting = (name: string) => ({ name, method: "TEXT_FILTER_METHOD_STARTS_WITH" });
  const createTarget = json(
    "CreateTarget",
    restSpec(port, `POST ${base}/targets`, {
      token,
      body: { name: `${label} ${counterMark}`, rest_webhook: { url: "https://example.com" } },
      counted: true,
      connections: 32,
    }),
  );
  const createUser = json(
    "CreateUser",
    restSpec(port, `POST ${base}/users`, {
      token,
      body: {
        username: `${label}-${counterMark}`,
        data: { given_name: "Ada", family_name: "Lovelace" },
      },
      counted: true,
      connections: 32,
    }),
  );
  // What is counted makes no call of its own: a second one of the same name would be refused.
  for (const each of [createTarget, createUser]) each.verify = async () => {};
  return [
    {
      id: `user-get-${label}`,
      of: json("GetUser", restSpec(port, `GET ${base}/users/${someone}`, { token })),
      beside: json("features", restSpec(port, "GET /settings/v3alpha/features", { token })),
      measure: "ResolveFeatures",
      waits: false,
    },
    {
      id: `user-search-${label}`,
      of: search("users", { username: starting("seeded-0000000") }),
      beside: search("targets", { name: starting("seeded 0000000") }),
      measure: "SearchTargets",
      waits: false,
    },
    {
      id: `user-create-${label}`,
      of: createUser,
      beside: createTarget,
      measure: "CreateTarget",
      waits: true,
    },
  ];
}

/** Adds people by the service's own event store, and members of the instance; gives the id of one of the people. */
export async function seedUsers(store: Store, users: number, members: number): Promise<string> {
  const { instance_id: instanceId, organization_id: organizationId } = store.made;
  let someone = "";
  await withKernel(store, async ({ events, newId }) => {
    const owner = { type: "org" as const, id: organizationId };
    for (let from = 0; from < users; from += usersPerUnit) {
      await events.transact(writer(instanceId), async (tx) => {
        for (let at = from; at < Math.min(users, from + usersPerUnit); at++) {
          const id = newId();
          const username = `seeded-${String(at).padStart(8, "0")}`;
          const data = builtInData("human", { given_name: "Ada", family_name: `Number ${at}` });
          const loaded = tx.begin(user, id);
          tx.record(user, loaded, addUser(loaded, { ...data, organizationId, username }), owner);
          someone = id;
          if (at >= members) continue;
          const member = tx.begin(membership, newId());
          const context = { type: "instance" as const };
          const ofInstance = { type: "instance" as const, id: instanceId };
          const added = addMember(member.state, {
            userId: id,
            roles: ["IAM_OWNER_VIEWER"],
            context,
          });
          tx.record(membership, member, added, ofInstance);
        }
      });
    }
  });
  return someone;
}
