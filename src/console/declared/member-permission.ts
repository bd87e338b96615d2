/** The contexts that memberships are given in, with how the permissions on members of each begin. */
const begins = { instance_id: "iam", org_id: "org", project_id: "project" } as const;

export type MemberContext = keyof typeof begins;

/** What it takes to read, give or take memberships in a context: each kind of contexts has permissions of its own. */
export const memberPermission = (
  context: MemberContext,
  act: "read" | "write" | "delete",
): string => `${begins[context]}.member.${act}`;

export const memberContexts = Object.keys(begins) as readonly MemberContext[];
