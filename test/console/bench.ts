// `npm run bench:console`: how long lists, pages and searches of the console take among many users and grants: the calls of a page on
// the server, and the page itself in Chromium, each as the median and the 95th percentile of some rounds.
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { JsonValue } from "@bufbuild/protobuf";
import { median } from "../bench/judge.ts";
import { newStore, startService } from "../bench/store.ts";
import { startBrowser } from "../support/browser.ts";

const { values } = parseArgs({
  options: {
    users: { type: "string", default: "1000000" },
    grants: { type: "string", default: "700000" },
    rounds: { type: "string", default: "20" },
    /** What a row may take at the 95th percentile, in milliseconds: on the server and in the browser. */
    most: { type: "string", default: "100,200" },
  },
});
const users = Number(values.users);
const grants = Number(values.grants);
const rounds = Number(values.rounds);
const [mostOfServer = Number.NaN, mostOfBrowser = Number.NaN] = values.most.split(",").map(Number);
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
const page = "query.limit=50&query.asc=true&query.skip_total=true";
const sorted = `${page}&sorting_column=USER_FIELD_NAME_USERNAME`;
const begins = (name: string) => ({ name, method: "TEXT_FILTER_METHOD_STARTS_WITH_IGNORE_CASE" });

async function server(): Promise<void> {
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
        const q = begins(`person-${String(nthOf(nth)).padStart(8, "0").slice(0, 7)}`);
        const filters = [{ username: q }, { display_name: q }, { email: q }, { phone: q }];
        return resources(`/users/_search?${sorted}`, [{ or: { filters } }]);
      },
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
    ["events, the newest", () => resources("/events/_search?query.limit=50&query.skip_total=true")],
  ];
  for (const [name, call] of calls) {
    await row(`server   ${name}`, mostOfServer, (nth) => timed(() => call(nth)));
  }
}

async function browser(): Promise<void> {
  const owner = await resources("/users", {
    username: "bench-owner",
    data: { given_name: "Bench", family_name: "Owner" },
    authenticators: { password: { password } },
  });
  const roles = ["IAM_OWNER"];
  const ctx = { instance_id: store.made.instance_id };
  await resources("/memberships", { ctx, user_id: owner.details.id, roles });
  const { user } = await send("GET", `/resources/v3alpha/users/${owner.details.id}`);
  await using chromium = await startBrowser();
  await using visit = await chromium.visit({ viewport: { width: 1440, height: 900 } });
  const tab = visit.page;
  await tab.goto(`${url}/ui/console/organizations`);
  await tab.fill("input[name=login_name]", user.user.login_names[0]);
  await tab.click("button[type=submit]");
  await tab.fill("input[name=password]", password);
  await tab.click("button[type=submit]");
  await tab.getByRole("heading", { level: 1, name: "Organizations" }).waitFor();

  /** From a click on a link to the rows that it leads to, in the browser's own clock. */
  const shown = (path: string, selector: string): Promise<number> =>
    tab.evaluate(
      async ([to = "", rows = ""]) => {
        const began = performance.now();
        history.pushState(undefined, "", to);
        const isElsewhere = () => location.pathname + location.search !== to;
        while (isElsewhere() || document.querySelector(rows) === null) {
          if (performance.now() - began > 30_000) throw new Error(`${to} does not show ${rows}`);
          await new Promise(requestAnimationFrame);
        }
        return performance.now() - began;
      },
      [`/ui/console${path}`, selector],
    );
  /** Another page, in a console that has read nothing yet. */
  async function anew(): Promise<void> {
    await tab.goto(`${url}/ui/console/limits`);
    await tab.locator("tbody th").first().waitFor();
  }
  const pages: [string, (nth: number) => string, (nth: number) => string][] = [
    ["people", () => "/people", () => 'tbody a[href*="/people/"]'],
    [
      "people, by how a name begins",
      (nth) => `/people?q=person-${String(nthOf(nth)).padStart(8, "0")}`,
      (nth) => `tbody a[href*="/people/${idOf(nthOf(nth))}"]`,
    ],
    [
      "people of an organization",
      () => `/people?org=${orgId}`,
      () => `tbody a[href*="/people/bench-"]`,
    ],
    ["a person", (nth) => `/people/${idOf(nthOf(nth))}`, () => 'main a[href*="tab=history"]'],
    [
      "a person's roles",
      (nth) => `/people/${idOf(nthOf(nth) % grants)}?tab=access`,
      () => `tbody a[href*="/projects/${projectId}"]`,
    ],
    [
      "people with roles of a project",
      () => `/projects/${projectId}?tab=access`,
      () => `tbody a[href*="/people/bench-"]`,
    ],
    ["events", () => "/events", () => "tbody td time"],
  ];
  for (const [name, pathFor, rowsFor] of pages) {
    await row(`browser  ${name}`, mostOfBrowser, async (nth) => {
      await anew();
      return shown(pathFor(nth), rowsFor(nth));
    });
  }
}

await seed();
await server();
await browser();
if (over.length > 0) {
  console.log(`slower than ${values.most} ms: ${over.join("; ")}`);
  process.exitCode = 1;
}
