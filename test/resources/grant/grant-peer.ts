import type { JsonObject } from "@bufbuild/protobuf";
import { bodyOf, type ResourcePeer, startPeer, uniqueName } from "../../support/peer.ts";

/** A running service with what grants are about: projects, their roles, organizations that get them, and users. */
export type GrantPeer = ResourcePeer & {
  addProject(organizationId: string): Promise<string>;
  addRoles(project_id: string, ...keys: string[]): Promise<string[]>;
  addProjectGrant(grant: JsonObject): Promise<string>;
  addUserGrant(grant: JsonObject, query?: string): Promise<string>;
  addUser(organizationId: string): Promise<string>;
  /** A user of another organization who holds roles on a project or a project grant only. */
  addMemberOf(ctx: JsonObject, roles: string[]): Promise<{ userId: string; token: string }>;
};

const idOf = (answer: Parameters<typeof bodyOf>[0]) => String(bodyOf(answer, 201).details.id);

export const ids = (found: { result: { details: { id: string } }[] }): string[] =>
  found.result.map(({ details }) => details.id);

export async function startGrantPeer(): Promise<GrantPeer> {
  const service = await startPeer();
  const { post, addMember, addOrganization } = service;
  return {
    ...service,
    addProject: async (organizationId) =>
      idOf(await post(`/projects?ctx.org_id=${organizationId}`, { name: uniqueName("project") })),
    addRoles: (project_id, ...keys) =>
      Promise.all(keys.map(async (key) => idOf(await post("/project_roles", { project_id, key })))),
    addProjectGrant: async (grant) => idOf(await post("/project_grants", grant)),
    addUserGrant: async (grant, query = "") => idOf(await post(`/user_grants${query}`, grant)),
    addUser: async (organizationId) => (await addMember(organizationId, [])).userId,
    async addMemberOf(ctx, roles) {
      const member = await addMember(await addOrganization(), []);
      bodyOf(await post("/memberships", { ctx, user_id: member.userId, roles }), 201);
      return member;
    },
  };
}
