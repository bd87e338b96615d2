import type { Kind, Listed } from "./declared/declare.ts";

/** What an address may say of a page beside its path, all of it text. */
export type PageSearch = { q?: string; org?: string; state?: string; tab?: string };

/** What the rail leads to, in its order. */
export const areas = ["people", "organizations", "applications"] as const;
type Area = (typeof areas)[number];

/** A list, with the method that it begins with: who has no use for it is not led there. */
export type ListRoute = {
  path: string;
  area: Area;
  word: string;
  method: string;
  load: () => Promise<Listed>;
};
type ObjectRoute = { path: string; area: Area; load: () => Promise<Kind> };

/** The lists, each loaded by who opens it; the first of an area is where the rail leads. */
export const lists: readonly ListRoute[] = [
  {
    ...{ path: "/people", area: "people", word: "people", method: "UserService.SearchUsers" },
    load: async () => (await import("./declared/people.ts")).people,
  },
  {
    ...{ path: "/organizations", area: "organizations", word: "organizations" },
    method: "OrganizationService.SearchOrganizations",
    load: async () => (await import("./declared/organization.ts")).organizations,
  },
  {
    ...{ path: "/applications", area: "applications", word: "applications" },
    method: "AppService.SearchApps",
    load: async () => (await import("./declared/application.ts")).applications,
  },
  {
    ...{ path: "/projects", area: "applications", word: "projects" },
    method: "ProjectService.SearchProjects",
    load: async () => (await import("./declared/project.ts")).projects,
  },
];

/** The pages of objects. */
export const objects: readonly ObjectRoute[] = [
  {
    ...{ path: "/people/$id", area: "people" },
    load: async () => (await import("./declared/person.ts")).person,
  },
  {
    ...{ path: "/organizations/$id", area: "organizations" },
    load: async () => (await import("./declared/organization.ts")).organization,
  },
  {
    ...{ path: "/applications/$id", area: "applications" },
    load: async () => (await import("./declared/application.ts")).application,
  },
  {
    ...{ path: "/projects/$id", area: "applications" },
    load: async () => (await import("./declared/project.ts")).projectPage,
  },
];
