import type { JsonObject } from "@bufbuild/protobuf";
import {
  type Named,
  type Picked,
  type Reference,
  type Shown,
  textAt,
} from "../declared/declare.ts";
import { firstRequest, idsIn, namedBy, namesRequest, ownNamed } from "../declared/references.ts";
import { objectsAt } from "../declared/schema.ts";
import { useAnswer } from "../json-calls.ts";
import { useOrg, useRights } from "../rights.ts";

/** What the IDs in objects name, as far as the reader may know it: one call for each kind. */
export type Names = Readonly<Record<Reference | "own", ReadonlyMap<string, string>>>;

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
  const { data } = useAnswer(method, isAsked ? firstRequest(kind, may) : undefined);
  return objectsAt(data ?? {}, "result").map((each) => {
    const id = textAt(each, "details.id");
    return { id, name: name(each), more: textAt(each, more) || id };
  });
}

const useNamesOf = (kind: Reference, objects: readonly JsonObject[], shown: readonly Shown[]) =>
  useNamesBy(namedBy[kind], idsIn(kind, objects, shown));

function useNamesBy(named: Named, ids: readonly string[]): ReadonlyMap<string, string> {
  const { method, name } = named;
  const { may } = useRights();
  const org = useOrg();
  const { data } = useAnswer(method, namesRequest(named, ids, { may, org }));
  return new Map(
    objectsAt(data ?? {}, "result").map((each) => [textAt(each, "details.id"), name(each)]),
  );
}
