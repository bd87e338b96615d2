import { paths } from "../paths.ts";
import { problemsOf, type Route, type RouteParts } from "../route.ts";

/** Leads a flow to the page where it stands; whoever comes without one begins one. */
export const beginRoute = ({ advance }: RouteParts): Route => ({
  path: paths.begin,
  async get(context) {
    if (context.hasFlow) return advance.next(context);
    const { problems } = problemsOf(context);
    await context.save({});
    return context.go(paths.loginName, problems?.[0] ? { problem: problems[0].code } : {});
  },
});
