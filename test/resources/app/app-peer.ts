import type { JsonObject } from "@bufbuild/protobuf";
import type { TestOptions } from "../../support/app.ts";
import { bodyOf, type ResourcePeer, startPeer, uniqueName } from "../../support/peer.ts";

export type MadeApp = { id: string; projectId: string; clientId: string; secret: string };

/** A running service with what apps are about. */
export type AppPeer = ResourcePeer & {
  addProject(organizationId?: string): Promise<string>;
  /** Creates an app of OpenID Connect, unless told otherwise, in a project of its own. */
  addApp(more?: JsonObject & { project_id?: string }): Promise<MadeApp>;
  /** The app as it is read. */
  appOf(id: string): Promise<JsonObject & { app: JsonObject; state: string }>;
  /** A user of another organization who holds roles on one project only. */
  addProjectMember(projectId: string, roles: string[]): Promise<{ userId: string; token: string }>;
};

export const callback = "https://rp.test/callback";

export async function startAppPeer(options: TestOptions = {}): Promise<AppPeer> {
  const service = await startPeer(options);
  const { app, get, post, addMember, addOrganization } = service;
  const addProject = async (organizationId = app.made.organization_id) => {
    const project = { name: uniqueName("project") };
    return String(
      bodyOf(await post(`/projects?ctx.org_id=${organizationId}`, project), 201).details.id,
    );
  };
  return {
    ...service,
    addProject,
    async addApp(more = {}) {
      const kind = "api" in more ? {} : { oidc: { redirect_uris: [callback] } };
      const project_id = more.project_id ?? (await addProject());
      const wanted = { name: uniqueName("app"), ...kind, ...more, project_id };
      const made = bodyOf(await post("/apps", wanted), 201);
      const secret = String(made.client_secret ?? "");
      return { id: made.details.id, projectId: project_id, clientId: made.client_id, secret };
    },
    appOf: async (id) => bodyOf(await get(`/apps/${id}`)).app,
    async addProjectMember(project_id, roles) {
      const member = await addMember(await addOrganization(), []);
      const membership = { ctx: { project_id }, user_id: member.userId, roles };
      bodyOf(await post("/memberships", membership), 201);
      return member;
    },
  };
}
