import { paths } from "../paths.ts";
import { problemsOf, type Route, type RouteParts } from "../route.ts";

/** Leads a flow to the page where it stands; whoever comes without one begins one. */
export const beginRoute = ({ advance }: RouteParts): Route => ({
  path: paths.begin,
  async get(visit) {
    if (visit.hasFlow) return advance.next(visit);
    const { problems } = problemsOf(visit);
    await visit.save({});
    return visit.go(paths.loginName, problems?.[0] ? { problem: problems[0].code } : {});
  },
});
