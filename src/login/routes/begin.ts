import { paths } from "../paths.ts";
import { problemsOf, type Route, type RouteParts } from "../route.ts";
import { signedInHere } from "../sessions.ts";

/** Leads a flow to the page where it stands; whoever comes without one begins one, unless they are signed in already. */
export const beginRoute = ({ advance, sessions }: RouteParts): Route => ({
  path: paths.begin,
  async get(context) {
    if (context.hasFlow) return advance.next(context);
    const { problems } = problemsOf(context);
    if (problems === undefined && (await signedInHere(sessions, context)).length > 0) {
      return context.go(paths.account);
    }
    await context.save({});
    return context.go(paths.loginName, problems?.[0] ? { problem: problems[0].code } : {});
  },
});
