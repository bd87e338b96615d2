import { type DescMethodUnary, fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import { ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { AuthService } from "#gen/idsvc/resources/auth/v3alpha/auth_service_pb.ts";
import { OrganizationService } from "#gen/idsvc/resources/org/v3alpha/organization_service_pb.ts";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import {
  type Action,
  at,
  contextOf,
  type Opens,
  type Picked,
  type Rows,
  type Shown,
  textAt,
} from "../../src/console/declared/declare.ts";
import { contextsAbove, membersMethod, rolesMethod } from "../../src/console/declared/access.ts";
import { checks, headOfLog, logIns } from "../../src/console/declared/health.ts";
import { firstSteps, mayTake } from "../../src/console/declared/home.ts";
import { ownInstance } from "../../src/console/declared/own-instance.ts";
import { toMe } from "../../src/console/declared/reader.ts";
import { listOf, objectsAt } from "../../src/console/declared/schema.ts";
import { objectRequest, pageRequest, placeOf, shownRows } from "../../src/console/objects/asked.ts";
import {
  firstRequest,
  idsIn,
  isPicked,
  namedBy,
  namesRequest,
  ownNamed,
  references,
} from "../../src/console/declared/references.ts";
import { type Place, rightsOf } from "../../src/console/rights-of.ts";
import { objects, type PageRoute, pages } from "../../src/console/routes.ts";
import { allFields } from "./declared.ts";

/** What somebody came to see: the pages by their paths, how many calls were made, and which of them were refused. */
export type Walked = { seen: ReadonlySet<string>; calls: number; refused: readonly string[] };

/** Of each list. */
const mostOpened = 2;
const pageSize = 50;

/**
 * Goes through all pages that the console leads somebody to, by what they are declared by: makes every call that a browser would
 * make to show them, and to fill in their forms.
 */
export async function walk(
  issuer: string,
  token: string,
  needs: Readonly<Record<string, string>>,
  /** Organizations to choose, for whoever may work in all of them. */
  chosen: readonly string[],
): Promise<Walked> {
  const transport = createConnectTransport({
    baseUrl: issuer,
    httpVersion: "1.1",
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${token}`);
        return next(request);
      },
    ],
  });
  const permissions = await createClient(AuthService, transport).getMyPermissions({ limit: 1000 });
  const me = toMe(permissions);
  const { may, reach, organizations } = rightsOf(me, needs);
  const seen = new Set<string>();
  const answers = new Map<string, Promise<JsonObject>>();
  const refused: string[] = [];

  /** Asks once, as pages keep what was answered. */
  function ask(page: string, method: DescMethodUnary, request: JsonObject): Promise<JsonObject> {
    const key = `${method.parent.name}.${method.name} ${JSON.stringify(request)}`;
    const answer = answers.get(key) ?? call(page, method, request);
    answers.set(key, answer);
    return answer;
  }
  async function call(page: string, method: DescMethodUnary, request: JsonObject) {
    const message = fromJson(method.input, request);
    try {
      const answer = await transport.unary(method, undefined, undefined, {}, message);
      // A message is an object in JSON.
      return toJson(method.output, answer.message, {
        useProtoFieldName: true,
        alwaysEmitImplicit: true,
      }) as JsonObject;
    } catch (error) {
      refused.push(
        `${page}: ${method.name} ${JSON.stringify(request)}: ${ConnectError.from(error).message}`,
      );
      return {};
    }
  }

  async function names(
    page: string,
    rows: readonly JsonObject[],
    shown: readonly Shown[],
    org: string | undefined,
  ) {
    for (const kind of references) {
      const wanted = namesRequest(namedBy[kind], idsIn(kind, rows, shown), { may, org });
      if (wanted !== undefined) await ask(page, namedBy[kind].method, wanted);
    }
    const own = ownNamed(rows, shown);
    if (own === undefined) return;
    const wanted = namesRequest(own.named, own.ids, { may, org });
    if (wanted !== undefined) await ask(page, own.named.method, wanted);
  }

  /** What the forms of actions offer to choose from. */
  async function forms(
    page: string,
    actions: readonly Action[] = [],
    on: { object: JsonObject; page: JsonObject },
    place: Place | undefined,
  ): Promise<void> {
    for (const action of actions) {
      const { method, asFor = method, when, permission } = action;
      if (!may(asFor, place, permission) || (when !== undefined && !when(on.object))) continue;
      for (const { choices, as } of allFields(action)) {
        if (isPicked(as)) await pick(page, as);
        const wanted = choices?.request((path) => textAt(on.object, path) || textAt(on.page, path));
        if (choices !== undefined && wanted !== undefined) {
          await ask(page, choices.method, wanted);
        }
      }
    }
  }
  async function pick(page: string, kind: Picked): Promise<void> {
    const wanted = firstRequest(kind, may);
    if (wanted !== undefined) await ask(page, namedBy[kind].method, wanted);
  }

  async function open(opens: Opens | undefined, rows: readonly JsonObject[], org?: string) {
    if (opens === undefined) return;
    for (const row of rows.slice(0, mostOpened)) {
      const path = typeof opens.to === "string" ? opens.to : opens.to(row);
      await visitObject(path, textAt(row, opens.id), org);
    }
  }

  async function visitObject(path: string, id: string, org: string | undefined): Promise<void> {
    const route = objects.find((each) => each.path === path);
    if (route === undefined) throw new Error(`no page is at ${path}`);
    const page = `${path} ${id} in ${org ?? "all"}`;
    if (seen.has(page)) return;
    seen.add(page);
    const kind = await route.load();
    const object = at(await ask(page, kind.get, objectRequest(kind, id, org)), kind.object);
    if (typeof object !== "object" || object === null || Array.isArray(object)) return;
    const place = placeOf(kind, object, org);
    await names(page, [object], kind.facts, org);
    await forms(page, kind.actions, { object, page: object }, place);
    for (const rows of shownRows(kind, object, may, place)) {
      await visitRows(page, rows, { object, place, org });
    }
    for (const above of contextsAbove(kind, place, { may, instanceId: me.instanceId })) {
      await ask(page, rolesMethod, above.roles);
      if (above.members !== undefined) await list(page, membersMethod, above.members, false);
    }
    const { history } = kind;
    if (history === undefined || !may(history.method, place)) return;
    await list(page, history.method, history.request(object), true);
  }

  async function visitRows(
    page: string,
    { search, path = "", columns, actions, add, opens }: Rows,
    on: { object: JsonObject; place: Place | undefined; org: string | undefined },
  ): Promise<void> {
    const { object, place, org } = on;
    const found =
      search === undefined
        ? objectsAt(object, path)
        : await list(page, search.method, search.request(object), search.isDescending === true);
    await names(page, found, columns, org);
    await forms(page, add, { object, page: object }, place);
    for (const row of found.slice(0, mostOpened)) {
      await forms(page, actions, { object: row, page: object }, place);
    }
    await open(opens, found, org);
  }

  async function list(
    page: string,
    method: DescMethodUnary,
    request: JsonObject,
    isDescending: boolean,
  ): Promise<JsonObject[]> {
    const wanted = pageRequest(method, request, { ...firstOf(pageSize), isDescending });
    return objectsAt(await ask(page, method, wanted), listOf(method.output)?.name ?? "");
  }

  async function visitPage(route: PageRoute, org: string | undefined): Promise<void> {
    const page = `${route.path} in ${org ?? "all"}`;
    if (seen.has(page)) return;
    seen.add(page);
    if (route.shows === "limits") {
      const found = at(await ask(page, ownInstance.get, {}), ownInstance.object);
      if (typeof found !== "object" || found === null || Array.isArray(found)) return;
      await names(page, [found], ownInstance.facts, org);
    }
    if (route.shows === "settings") {
      await ask(page, (await route.load()).resolve, contextOf(org));
    }
    if (route.shows !== "list") return;
    const { search, columns, actions, add, opens, isOfInstance } = await route.load();
    const { method, request, isDescending = false } = search;
    const typed = { q: "", org, state: "", language: "en" };
    const rows = await list(page, method, request(typed), isDescending);
    const everywhere = isOfInstance === true ? ({ isInstance: true } as const) : undefined;
    const place = org === undefined ? everywhere : { organizationId: org, isWithin: true as const };
    const object = { instance: me.instanceId, ...(org === undefined ? {} : { org }) };
    await names(page, rows, columns, org);
    await forms(page, add, { object, page: object }, place);
    for (const row of rows.slice(0, mostOpened)) {
      await forms(page, actions, { object: row, page: object }, place);
    }
    await open(opens, rows, org);
  }

  await ask("/", UserService.method.getUser, { id: me.userId });
  for (const step of firstSteps) {
    if (mayTake(step, may)) await ask("/", step.method, step.request(me));
  }
  const instance = { isInstance: true as const };
  const looked = checks.filter(({ method }) => may(method, instance));
  const isByHead = looked.some((each) => each.isByHead);
  const head = isByHead ? headOfLog.head(await ask("/", headOfLog.method, headOfLog.request)) : 0n;
  for (const { method, request } of looked) await ask("/", method, request(head));
  const { getOrganization } = OrganizationService.method;
  const own = organizations.length > 0 ? organizations : chosen;
  // Who is bound to one organization always works in it.
  const everywhere = organizations.length === 1 ? [] : [undefined];
  for (const org of [...everywhere, ...own]) {
    if (org !== undefined && may(getOrganization, { organizationId: org })) {
      await ask("/", getOrganization, { id: org });
    }
    if (may(logIns.method, org === undefined ? instance : { organizationId: org })) {
      await ask("/", logIns.method, logIns.request(org));
    }
    for (const route of pages) {
      const reached = reach(route, org);
      if (reached !== undefined) await visitPage(route, reached.org);
    }
  }
  return { seen, calls: answers.size, refused };
}

const firstOf = (limit: number) => ({ limit, isDescending: false, after: "" });
