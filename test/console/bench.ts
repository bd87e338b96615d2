// `npm run bench:console`: how long lists, pages and searches of the console take among many users and grants: each list and the searches
// on the server, each page of a list, pages of objects and the first page in Chromium, and the largest paint of a first visit at a
// processor four times slower, each as the median and the 95th percentile of some rounds.
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { JsonValue } from "@bufbuild/protobuf";
import { median } from "../bench/judge.ts";
import { newStore, startService } from "../bench/store.ts";
import { headOfLog } from "../../src/console/declared/health.ts";
import { person } from "../../src/console/declared/person.ts";
import { pageRequest, rowsOfPage, spanOf } from "../../src/console/objects/asked.ts";
import { pages } from "../../src/console/routes.ts";
import { optionsOf } from "../../.ci/options.ts";
import { measurePages } from "./bench-pages.ts";

const values = optionsOf(
  "How long lists, pages and searches of the console take among many users and grants.",
  {
    users: ["1000000", "how many users"],
    grants: ["700000", "how many grants"],
    rounds: ["20", "how many rounds"],
    only: ["", "the rows to measure: those whose names begin so"],
    most: [
      "100,200,1000",
      "what a row may take at the 95th percentile, in milliseconds: on the server, in the browser, and until the largest paint",
    ],
  },
);
const users = Number(values.users);
const grants = Number(values.grants);
const rounds = Number(values.rounds);
const [mostOfServer = Number.NaN, mostOfBrowser = Number.NaN, mostOfPaint = Number.NaN] =
  values.most.split(",").map(Number);
const password = "correct-Horse-9-battery";
const partUsers = 1_000;

using store = await newStore();
const { child } = await startService(store.dir, { asItself: true });
await using service = child;
const url = `http://localhost:${service.port}`;
const headers = { authorization: `Bearer ${store.token}`, "content-type": "application/json" };

async function send(
  method: string,
  path: string,
  body?: JsonValue,
): Promise<ReturnType<typeof Object>> {
  const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
  const answer = await fetch(`${url}${path}`, sent);
  const json = Object(await answer.json());
  if (!answer.ok) throw new Error(`${method} ${path}: ${JSON.stringify(json)}`);
  return json;
}
const resources = (path: string, body: JsonValue = []) =>
  send("POST", `/resources/v3alpha${path}`, body);

const orgId = "console-bench";
const projectId = "console-bench-project";
const idOf = (nth: number): string => `bench-${String(nth).padStart(8, "0")}`;

/** An organization with a project, so many people, and roles of the project for some of them, as an import takes it. */
function* records(): Generator<string> {
  const role = { projectId, roleKey: "reader", displayName: "Reader" };
  yield JSON.stringify({
    orgId,
    org: { name: "Console bench" },
    projects: [{ projectId, project: { name: "Bench project" } }],
    projectRoles: [role],
  });
  for (let from = 0; from < users; from += partUsers) {
    const numbers = Array.from({ length: Math.min(partUsers, users - from) }, (_, at) => from + at);
    yield JSON.stringify({
      orgId,
      humanUsers: numbers.map((nth) => ({
        userId: idOf(nth),
        user: {
          userName: `person-${String(nth).padStart(8, "0")}`,
          profile: { firstName: `Given ${nth % 5_000}`, lastName: `Family ${nth}` },
          email: { email: `person-${nth}@bench.test`, isEmailVerified: true },
        },
      })),
      userGrants: numbers
        .filter((nth) => nth < grants)
        .map((nth) => ({ userId: idOf(nth), projectId, roleKeys: ["reader"] })),
    });
  }
}

async function seed(): Promise<void> {
  const began = performance.now();
  const lines = Readable.from(records(), { objectMode: true }).map((line: string) =>
    Buffer.from(`${line}\n`),
  );
  const answer = await fetch(`${url}/management/v1/import?awaitResponse=false`, {
    method: "POST",
    headers,
    body: Readable.toWeb(lines),
    duplex: "half",
  } as RequestInit);
  const { job } = Object(await answer.json());
  if (!answer.ok) throw new Error("the import was refused");
  for (;;) {
    const now = (await send("GET", `/management/v1/import/${job.id}`)).job;
    if (now.state !== "IMPORT_STATE_RUNNING" && now.state !== "IMPORT_STATE_RECEIVING") {
      if (Number(now.refused) > 0) throw new Error(JSON.stringify(now));
      break;
    }
    await delay(1_000);
  }
  const seconds = (performance.now() - began) / 1_000;
  console.log(`${users} users and ${grants} grants, imported in ${seconds.toFixed(0)} s`);
}

const p95 = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? Number.NaN;
const over: string[] = [];

async function row(name: string, most: number, once: (nth: number) => Promise<number>) {
  if (!name.startsWith(values.only)) return;
  const times: number[] = [];
  await once(0);
  for (let nth = 1; nth <= rounds; nth++) times.push(await once(nth));
  const slow = p95(times);
  if (slow > most) over.push(name);
  console.log(
    `${name.padEnd(64)} ${median(times).toFixed(1).padStart(8)} ms  p95 ${slow.toFixed(1).padStart(8)} ms`,
  );
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return performance.now() - began;
};
/** Another user each time: what was asked for before is in a cache. */
const nthOf = (nth: number): number => (nth * 7_919) % users;
const nameOf = (nth: number): string => `person-${String(nthOf(nth)).padStart(8, "0")}`;
const page = "query.limit=50&query.asc=true&query.skip_total=true";
const sorted = `${page}&sorting_column=USER_FIELD_NAME_USERNAME`;
const begins = (name: string) => ({ name, method: "TEXT_FILTER_METHOD_STARTS_WITH_IGNORE_CASE" });

/** How long the log is. */
async function headOfStore(): Promise<bigint> {
  return headOfLog.head(await resources("/events/_search?query.limit=1&query.skip_total=true"));
}

/** Each list of the console, as its page asks for it. */
async function lists(): Promise<void> {
  for (const listPage of pages) {
    if (listPage.shows !== "list") continue;
    const { search, logWindow } = await listPage.load();
    const { method, request, isDescending = false } = search;
    const span = logWindow === undefined ? undefined : spanOf(logWindow, await headOfStore());
    const sequence = span && { from: span.from };
    const asked = request({ q: "", org: undefined, state: "", language: "en", sequence });
    const body = pageRequest(method, asked, { limit: 50, isDescending, after: "" });
    const path = `/${method.parent.typeName}/${method.name}`;
    await row(`server   list ${listPage.path}`, mostOfServer, () =>
      timed(() => send("POST", path, body)),
    );
  }
}

/** A part of a text is found within the time, or the search is refused by name. */
async function byPart(): Promise<void> {
  const find = (nth: number) => {
    const name = nameOf(nth).slice(4);
    return resources(`/users/_search?${sorted}`, [
      { username: { name, method: "TEXT_FILTER_METHOD_CONTAINS_IGNORE_CASE" } },
    ]);
  };
  const refused = await find(0).then(
    () => undefined,
    (error: unknown) => String(error),
  );
  if (refused !== undefined) console.log(`server   people, by a part of a name: ${refused}`);
  else
    await row("server   people, by a part of a name", mostOfServer, (nth) =>
      timed(() => find(nth)),
    );
}

/** What a person did, as the tab of their page asks for it: in the newest part of the log. */
function activityOf(id: string, head: bigint): [path: string, body: JsonValue] {
  const rows = person.rows.find(({ word }) => word === "activity");
  if (rows?.search === undefined || rows.logWindow === undefined) throw new Error("no such tab");
  const { method, request } = rows.search;
  const { from } = spanOf(rows.logWindow, head);
  const asked = request({ details: { id } }, undefined, { from });
  const options = { limit: rowsOfPage, isDescending: true, after: "" };
  return [`/${method.parent.typeName}/${method.name}`, pageRequest(method, asked, options)];
}

async function server(): Promise<void> {
  const head = await headOfStore();
  const list = await resources(`/users/_search?${sorted}`);
  const calls: [string, (nth: number) => Promise<unknown>][] = [
    ["people, the first page", () => resources(`/users/_search?${sorted}`)],
    [
      "people, a page behind another",
      () => resources(`/users/_search?${sorted}&query.after=${list.details.next}`),
    ],
    [
      "people of an organization",
      () => resources(`/users/_search?${sorted}`, [{ organization: { org_id: orgId } }]),
    ],
    [
      "people, by how a name, address or number begins",
      (nth) => {
        const q = begins(nameOf(nth).slice(0, -1));
        const filters = [{ username: q }, { display_name: q }, { email: q }, { phone: q }];
        return resources(`/users/_search?${sorted}`, [{ or: { filters } }]);
      },
    ],
    [
      "people, by an e-mail address, whole",
      (nth) => {
        const email = { name: `person-${nthOf(nth)}@bench.test` };
        return resources(`/users/_search?${sorted}`, [
          { email: { ...email, method: "TEXT_FILTER_METHOD_EQUALS_IGNORE_CASE" } },
        ]);
      },
    ],
    [
      "history of a person",
      (nth) => resources(`/users/${idOf(nthOf(nth))}/events/_search?${page}`, {}),
    ],
    [
      "grants of a project, the first page",
      () => resources(`/user_grants/_search?${page}`, [{ project_id: projectId }]),
    ],
    [
      "grants of a person",
      (nth) =>
        resources(`/user_grants/_search?${page}`, [{ in_user_ids: { ids: [idOf(nthOf(nth))] } }]),
    ],
    [
      "the search over everything, by an address",
      (nth) => resources("/_search_all", { q: `person-${nthOf(nth)}@bench.test` }),
    ],
    [
      "the search over everything, by how a name begins",
      (nth) => resources("/_search_all", { q: `Given ${nthOf(nth) % 5_000}` }),
    ],
    ["what a person did", (nth) => send("POST", ...activityOf(idOf(nthOf(nth)), head))],
    ["events, the newest", () => resources("/events/_search?query.limit=50&query.skip_total=true")],
  ];
  for (const [name, call] of calls) {
    await row(`server   ${name}`, mostOfServer, (nth) => timed(() => call(nth)));
  }
}

/** Somebody who owns the instance, and their login name. */
async function addOwner(): Promise<string> {
  const owner = await resources("/users", {
    username: "bench-owner",
    data: { given_name: "Bench", family_name: "Owner" },
    authenticators: { password: { password } },
  });
  const roles = ["IAM_OWNER"];
  const ctx = { instance_id: store.made.instance_id };
  await resources("/memberships", { ctx, user_id: owner.details.id, roles });
  const { user } = await send("GET", `/resources/v3alpha/users/${owner.details.id}`);
  return user.user.login_names[0];
}

await seed();
await lists();
await server();
await byPart();
await measurePages({
  url,
  login: { name: await addOwner(), password },
  data: { orgId, projectId, userId: (nth) => idOf(nthOf(nth)), userName: nameOf },
  grantedId: (nth) => idOf(nthOf(nth) % grants),
  most: { shown: mostOfBrowser, painted: mostOfPaint },
  row,
});
if (over.length > 0) {
  console.log(`slower than ${values.most} ms: ${over.join("; ")}`);
  process.exitCode = 1;
}
