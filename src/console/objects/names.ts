import type { JsonObject } from "@bufbuild/protobuf";
import { type Picked, type Reference, type Shown, textAt } from "../declared/declare.ts";
import { firstRequest, idsIn, namedBy, namesRequest } from "../declared/references.ts";
import { objectsAt } from "../declared/schema.ts";
import { useAnswer } from "../json-calls.ts";
import { useOrg, useRights } from "../rights.ts";

/** What an ID names, and whether the reader may open its page. */
export type Called = { name: string; isReadable: boolean };

/** What the IDs in objects name, as far as the reader may know it: one call for each kind. */
export type Names = Readonly<Record<Reference, ReadonlyMap<string, Called>>>;

export function useNames(objects: readonly JsonObject[], shown: readonly Shown[]): Names {
  return {
    person: useNamesOf("person", objects, shown),
    organization: useNamesOf("organization", objects, shown),
    project: useNamesOf("project", objects, shown),
    application: useNamesOf("application", objects, shown),
    provider: useNamesOf("provider", objects, shown),
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

function useNamesOf(
  kind: Reference,
  objects: readonly JsonObject[],
  shown: readonly Shown[],
): ReadonlyMap<string, Called> {
  const { method, name } = namedBy[kind];
  const { may, organizationNames } = useRights();
  const org = useOrg();
  const { data } = useAnswer(method, namesRequest(kind, idsIn(kind, objects, shown), { may, org }));
  const told = kind === "organization" ? [...organizationNames] : [];
  const found = objectsAt(data ?? {}, "result");
  return new Map<string, Called>([
    ...told.map(([id, called]) => [id, { name: called, isReadable: false }] as const),
    ...found.map(
      (each) => [textAt(each, "details.id"), { name: name(each), isReadable: true }] as const,
    ),
  ]);
}
