import type { FoundApp } from "../authz/apps.ts";
import type { Consents } from "./ports.ts";
import type { AccessView } from "./parts/access.ts";
import type { LoginUsers } from "./users.ts";

/** What a person is asked before an app gets what it asks for, as pages show it. */
export type Asked = {
  app: string;
  organization: string;
  scopes: readonly string[];
  access: AccessView;
};

export async function askedFor(
  { consents, users }: { consents: Consents; users: LoginUsers },
  instanceId: string,
  user: { id: string; organizationId: string },
  { app, scope }: { app: FoundApp; scope: readonly string[] },
): Promise<Asked> {
  const { apiAccess } = app;
  const { choices, others } = await consents.asked(instanceId, user, app, scope);
  const named = (id: string) => users.organizationName(instanceId, id);
  const organization = await named(app.organizationId);
  const ids = apiAccess === undefined || apiAccess.instance ? [] : apiAccess.organizationIds;
  const within = await Promise.all(ids.map(named));
  return { app: app.name, organization, scopes: others, access: { choices, organization, within } };
}

/** Where the browser goes back to, as people know it: the host, or the scheme of an app that has none. */
export function hostOf(redirectUri: string): string {
  const { host, protocol } = new URL(redirectUri);
  return host === "" ? protocol : host;
}
