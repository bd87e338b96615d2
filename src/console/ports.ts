import type { DescMethod } from "@bufbuild/protobuf";

/** Where a permission is held; in every organization, or in one thing. */
export type HeldScope =
  | "unspecified"
  | "system"
  | "instance"
  | "everyOrganization"
  | "organization"
  | "project"
  | "projectGrant";

/** What a reader holds somewhere. The ID is empty for a wide scope, and so is the organization. */
export type Held = {
  scope: HeldScope;
  id: string;
  organizationId: string;
  organizationName: string;
  permissions: readonly string[];
};

/** Who reads, and what they hold where. */
export type Me = {
  userId: string;
  instanceId: string;
  organizationId: string;
  organizationName: string;
  result: readonly Held[];
};

/** What a text names, of all that the reader may read. */
export type Found = {
  users: readonly { id: string; displayName: string; username: string; email: string }[];
  organizations: readonly { id: string; name: string }[];
  projects: readonly { id: string; name: string }[];
  apps: readonly { id: string; name: string; clientId: string }[];
};

/** The log, followed from now on. */
export type LogWatch = {
  /** The method whose permission a watcher needs. */
  method: DescMethod;
  /**
   * What happens in the organization, or in the instance where none is named, as it happens; at times nothing, as a sign of life.
   *
   * @param asked.types names and groups of events, none for all
   * @param opened called once what happens from then on is told
   */
  follow(
    asked: { types: readonly string[]; org: string | undefined },
    given: { signal: AbortSignal; opened: () => void },
  ): AsyncIterable<{ isEvent: boolean }>;
};

/** What the console asks of the service on every page, and before any. */
export type ServicePort = {
  /** Who reads; with the most contexts of theirs that are to be told. */
  me(limit: number, signal?: AbortSignal): Promise<Me>;
  /** @param text of two characters or more */
  find(text: string, signal?: AbortSignal): Promise<Found>;
  log: LogWatch;
};
