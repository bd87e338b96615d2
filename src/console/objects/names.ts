import type { JsonObject } from "@bufbuild/protobuf";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import {
  at,
  type Named,
  type Picked,
  type Reference,
  type Shown,
  textAt,
} from "../declared/declare.ts";
import { firstRequest, idsIn, namedBy, namesRequest, ownNamed } from "../declared/references.ts";
import { objectsAt } from "../declared/schema.ts";
import { userName } from "../declared/user-name.ts";
import { useAnswer } from "../json-calls.ts";
import { useOrg, useRights } from "../rights.ts";

/** What an ID names, and whether the reader may open its page. */
export type Called = { name: string; isReadable: boolean };

/** What the IDs in objects name, as far as the reader may know it: one call for each kind. */
export type Names = Readonly<Record<Reference | "own", ReadonlyMap<string, Called>>>;

export function useNames(objects: readonly JsonObject[], shown: readonly Shown[]): Names {
  const { named, ids } = ownNamed(objects, shown) ?? { named: namedBy.person, ids: [] };
  return {
    person: useNamesOf("person", objects, shown),
    organization: useNamesOf("organization", objects, shown),
    project: useNamesOf("project", objects, shown),
    application: useNamesOf("application", objects, shown),
    provider: useNamesOf("provider", objects, shown),
    own: useNamesBy(named, ids),
  };
}

/** Some objects of a kind, for whoever does not know what to type; none where the reader may not search them. */
export function useFirst(kind: Picked, isAsked: boolean) {
  const { method, name, more = "details.id" } = namedBy[kind];
  const { may } = useRights();
  const wanted = isAsked ? firstRequest(kind, may) : undefined;
  const { data } = useAnswer(method, wanted, { isOffered: true });
  return objectsAt(data ?? {}, "result").map((each) => {
    const id = textAt(each, "details.id");
    return { id, name: name(each), more: textAt(each, more) || id };
  });
}

function useNamesOf(kind: Reference, objects: readonly JsonObject[], shown: readonly Shown[]) {
  const { me, organizationNames } = useRights();
  // Everybody knows what they are called themselves. The frame around all pages has asked for it.
  const { data } = useAnswer(UserService.method.getUser, { id: me.userId });
  const ownName = userName(at(data, "user"));
  const own = ownName === "" ? [] : [[me.userId, ownName] as const];
  const known = kind === "organization" ? organizationNames : kind === "person" ? own : [];
  return useNamesBy(namedBy[kind], idsIn(kind, objects, shown), known);
}

function useNamesBy(
  named: Named,
  ids: readonly string[],
  known: Iterable<readonly [id: string, name: string]> = [],
): ReadonlyMap<string, Called> {
  const { method, name } = named;
  const { may } = useRights();
  const org = useOrg();
  const { data } = useAnswer(method, namesRequest(named, ids, { may, org }));
  const found = objectsAt(data ?? {}, "result");
  return new Map<string, Called>([
    ...Array.from(known, ([id, called]) => [id, { name: called, isReadable: false }] as const),
    ...found.map(
      (each) => [textAt(each, "details.id"), { name: name(each), isReadable: true }] as const,
    ),
  ]);
}
