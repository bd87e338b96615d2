import type { DescMethod } from "@bufbuild/protobuf";
import type { HeldScope, Me } from "./ports.ts";
import type { PageRoute } from "./routes.ts";

/** Where something is done; anywhere, where nothing is said. */
export type Place = {
  isInstance?: true;
  organizationId?: string;
  projectId?: string;
  /** It may as well be done to something in the organization alone, such as one project. */
  isWithin?: true;
};

export type May = (method: DescMethod | string, place?: Place, permission?: string) => boolean;

/** The organization to open a page in, where the reader has a use for it; none, where they have not. */
export type Reach = (page: PageRoute, org: string | undefined) => { org?: string } | undefined;

export type Rights = {
  may: May;
  /** The permission that a method needs at a place; empty where it needs none. */
  permissionOf: (method: DescMethod | string, place?: Place) => string;
  reach: Reach;
  /** The organizations that the reader is bound to, their own first; none, where they may do something in all of the instance. */
  organizations: readonly string[];
  /** What these are called, by ID: who may not read them knows so much. */
  organizationNames: ReadonlyMap<string, string>;
};

const nameOf = (method: DescMethod | string): string =>
  typeof method === "string" ? method : `${method.parent.name}.${method.name}`;

const isPermission = (needed: string): boolean => needed.includes(".") && !/^[A-Z]/.test(needed);

const wide: readonly HeldScope[] = ["system", "instance", "everyOrganization"];

/**
 * What a reader may do somewhere, by what the service says of them.
 *
 * @param needs by method, the permission that shows that somebody has a use for it; a second one, where the instance itself needs another
 */
export function rightsOf(
  me: Pick<Me, "result" | "organizationId" | "organizationName">,
  needs: Readonly<Record<string, string>>,
): Rights {
  const permissionOf: Rights["permissionOf"] = (method, place) => {
    const [act = "", onInstance = act] = needs[nameOf(method)]?.split(" ") ?? [];
    return place?.isInstance === true ? onInstance : act;
  };
  const may: May = (method, place, permission) => {
    const needed = permission ?? permissionOf(method, place);
    if (needed === "") return true;
    return me.result.some(
      ({ scope, id, organizationId, permissions }) =>
        permissions.includes(needed) &&
        (place === undefined ||
          scope === "system" ||
          scope === (place.isInstance === true ? "instance" : "everyOrganization") ||
          (scope === "organization" && id === place.organizationId) ||
          (scope === "project" && id === place.projectId) ||
          (place.isWithin === true && organizationId === place.organizationId)),
    );
  };
  const isWide = me.result.some(({ scope }) => wide.includes(scope));
  const held = new Set([me.organizationId, ...me.result.map((each) => each.organizationId)]);
  held.delete("");
  const reach: Reach = ({ scope, needs: needed }, org) => {
    const mayAt = (place?: Place) =>
      isPermission(needed) ? may("", place, needed) : may(needed, place);
    const here = org === undefined ? {} : { org };
    if (scope === "anywhere") return mayAt() ? here : undefined;
    if (scope === "instance") return mayAt({ isInstance: true }) ? {} : undefined;
    if (org !== undefined) return mayAt({ organizationId: org }) ? here : undefined;
    if (mayAt({ isInstance: true })) return {};
    // Who administers organizations alone is led to what one of them has.
    const first = [...held].find((organizationId) => mayAt({ organizationId }));
    return first === undefined ? undefined : { org: first };
  };
  const bound = [...held].filter((id) =>
    me.result.some(({ organizationId }) => organizationId === id),
  );
  const named = [me, ...me.result].map(
    (each) => [each.organizationId, each.organizationName] as const,
  );
  const organizations = isWide ? [] : bound;
  return { may, permissionOf, reach, organizations, organizationNames: new Map(named) };
}
