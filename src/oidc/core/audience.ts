import type { At, Client, Ports, User } from "./ports.ts";
import { projectsIn } from "./scope.ts";

const ownProjectName = "idsvc";

/**
 * Whom tokens are for: the client, its project with its apps, and the projects that the scope asks for where the user may
 * use them; others are left out.
 */
export async function audienceOf(
  { clients, users, settings }: Pick<Ports, "clients" | "users" | "settings">,
  at: At,
  client: Pick<Client, "clientId" | "projectId"> | { clientId: string; projectId?: undefined },
  user: User,
  scope: readonly string[],
): Promise<string[]> {
  const audience = new Set([client.clientId]);
  if (client.projectId !== undefined) {
    audience.add(client.projectId);
    for (const clientId of await clients.ofProject(at, client.projectId)) audience.add(clientId);
  }
  // An app that is not set up yet has no client id.
  audience.delete("");
  for (const asked of projectsIn(scope)) {
    const id = asked === ownProjectName ? await settings.ownProjectId(at) : asked;
    if (!audience.has(id) && (await users.mayAddress(at, user, id))) audience.add(id);
  }
  return [...audience];
}
