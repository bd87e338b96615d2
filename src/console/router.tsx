import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
} from "@tanstack/react-router";
import { keepOrg } from "./parts/keep-org.ts";
import { Problem } from "./parts/problem.tsx";
import { Shell } from "./shell/shell.tsx";
import { Waiting } from "./parts/waiting.tsx";

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value.slice(0, 200) : undefined;

const tabs = ["overview", "access", "history", "code"] as const;
export type Tab = (typeof tabs)[number];
const tabOf = (value: unknown): Tab => tabs.find((tab) => tab === value) ?? "overview";

const root = createRootRoute({
  component: Shell,
  // The organization that is worked in; none for the whole instance.
  validateSearch: ({ org }): { org?: string } => {
    const chosen = textOf(org);
    return chosen === undefined ? {} : { org: chosen };
  },
});

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  component: () => <Navigate to="/people" search={keepOrg} replace />,
});

const listSearch = ({ q }: Record<string, unknown>): { q?: string } => {
  const text = textOf(q);
  return text === undefined ? {} : { q: text };
};
const detailSearch = ({ tab }: Record<string, unknown>): { tab?: Tab } => {
  const chosen = tabOf(tab);
  return chosen === "overview" ? {} : { tab: chosen };
};

const people = createRoute({
  getParentRoute: () => root,
  path: "/people",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./pages/people.tsx"), "People"),
});
const person = createRoute({
  getParentRoute: () => root,
  path: "/people/$id",
  validateSearch: detailSearch,
  component: lazyRouteComponent(() => import("./pages/person.tsx"), "Person"),
});
const organizations = createRoute({
  getParentRoute: () => root,
  path: "/organizations",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./pages/organizations.tsx"), "Organizations"),
});
const organization = createRoute({
  getParentRoute: () => root,
  path: "/organizations/$id",
  validateSearch: detailSearch,
  component: lazyRouteComponent(() => import("./pages/organization.tsx"), "OrganizationPage"),
});
const applications = createRoute({
  getParentRoute: () => root,
  path: "/applications",
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import("./pages/applications.tsx"), "Applications"),
});
const application = createRoute({
  getParentRoute: () => root,
  path: "/applications/$id",
  validateSearch: detailSearch,
  component: lazyRouteComponent(() => import("./pages/application.tsx"), "Application"),
});

export const router = createRouter({
  // What stands in the address is text: an ID of digits is no number.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch(search) {
    const given = Object.entries(search).filter(([, value]) => typeof value === "string");
    const text = new URLSearchParams(given as [string, string][]).toString();
    return text === "" ? "" : `?${text}`;
  },
  basepath: "/ui/console",
  routeTree: root.addChildren([
    ...[home, people, person],
    ...[organizations, organization, applications, application],
  ]),
  defaultPendingComponent: Waiting,
  defaultErrorComponent: ({ error, reset }) => <Problem error={error} retry={reset} />,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
