import { internal } from "../../errors.ts";
import { type PathTemplate, percentDecode } from "./path-template.ts";

/** What a path leads to. `variables` are pairs of field path and decoded text, in the order of the template. */
export type RouteMatch<T> =
  | { kind: "found"; value: T; variables: [fieldPath: string, text: string][] }
  | { kind: "methodNotAllowed"; allow: string[] }
  | { kind: "notFound" }
  | { kind: "badEncoding" };

/** Routes by HTTP method and path. */
export type RouteTree<T> = {
  /** @throws DUPLICATE_ROUTE when the method already has a route of the same shape */
  add(httpMethod: string, template: PathTemplate, value: T): void;
  /** Matches the path of a request target as it came, without the query. */
  match(httpMethod: string, rawPath: string): RouteMatch<T>;
};

type Route<T> = { template: PathTemplate; value: T };
type Node<T> = {
  literals: Map<string, Node<T>>;
  one: Node<T> | undefined;
  /** By verb: routes that end here, and routes that take all that is left. */
  here: Map<string, Route<T>>;
  rest: Map<string, Route<T>>;
};
type MethodTree<T> = { root: Node<T>; verbs: Set<string> };

/**
 * Routes of google.api.http, matched segment by segment on the raw path: nothing is decoded before a route is chosen,
 * so no encoding of `/` or `..` can reach another route. Each method has its own tree, so a static path of one method
 * does not hide a variable of another; within a method static segments win, then `*`, then `**`.
 */
export function createRouteTree<T>(): RouteTree<T> {
  const trees = new Map<string, MethodTree<T>>();
  return {
    add(httpMethod, template, value) {
      let tree = trees.get(httpMethod);
      if (!tree) trees.set(httpMethod, (tree = { root: emptyNode(), verbs: new Set() }));
      insert(tree, httpMethod, { template, value });
    },
    match(httpMethod, rawPath) {
      const segments = rawPath.split("/");
      // A path that does not start with a slash has its first segment where the empty one belongs.
      if (segments.shift() !== "") return { kind: "notFound" };
      const tree = trees.get(httpMethod);
      const route = tree && find(tree, segments);
      if (!route) {
        const allow = [...trees].filter(([, other]) => find(other, segments)).map(([name]) => name);
        return allow.length > 0
          ? { kind: "methodNotAllowed", allow: allow.sort() }
          : { kind: "notFound" };
      }
      const variables = capture(route.template, segments);
      return variables ? { kind: "found", value: route.value, variables } : { kind: "badEncoding" };
    },
  };
}

function emptyNode<T>(): Node<T> {
  return { literals: new Map(), one: undefined, here: new Map(), rest: new Map() };
}

function insert<T>(tree: MethodTree<T>, httpMethod: string, route: Route<T>): void {
  const { segments, verb } = route.template;
  let node = tree.root;
  let ends = node.here;
  for (const segment of segments) {
    if (segment.kind === "rest") {
      ends = node.rest;
      break;
    }
    node = child(node, segment);
    ends = node.here;
  }
  const earlier = ends.get(verb);
  if (earlier) {
    throw internal(
      "DUPLICATE_ROUTE",
      `${httpMethod} ${route.template.text} has the shape of ${httpMethod} ${earlier.template.text}`,
    );
  }
  ends.set(verb, route);
  if (verb !== "") tree.verbs.add(verb);
}

function child<T>(node: Node<T>, segment: { kind: "literal"; text: string } | { kind: "one" }) {
  if (segment.kind === "one") return (node.one ??= emptyNode());
  let next = node.literals.get(segment.text);
  if (!next) node.literals.set(segment.text, (next = emptyNode()));
  return next;
}

function find<T>(tree: MethodTree<T>, segments: readonly string[]): Route<T> | undefined {
  const last = segments.at(-1) ?? "";
  const colon = last.lastIndexOf(":");
  const verb = last.slice(colon + 1);
  // An id may hold a colon; only a verb that some route has is taken off.
  if (colon >= 0 && tree.verbs.has(verb)) {
    const route = walk(tree.root, segments.with(-1, last.slice(0, colon)), 0, verb);
    if (route) return route;
  }
  return walk(tree.root, segments, 0, "");
}

function walk<T>(
  node: Node<T>,
  segments: readonly string[],
  index: number,
  verb: string,
): Route<T> | undefined {
  const text = segments[index];
  if (text === undefined) return node.here.get(verb) ?? node.rest.get(verb);
  const next = node.literals.get(text);
  const found = next && walk(next, segments, index + 1, verb);
  if (found) return found;
  if (text === "") return undefined; // no variable is empty
  const byVariable = node.one && walk(node.one, segments, index + 1, verb);
  if (byVariable) return byVariable;
  return segments.includes("", index) ? undefined : node.rest.get(verb);
}

function capture(
  template: PathTemplate,
  segments: readonly string[],
): [string, string][] | undefined {
  const captured: [string, string][] = [];
  for (const variable of template.variables) {
    const toEnd = variable.to === template.segments.length;
    const taken = segments.slice(variable.from, toEnd ? segments.length : variable.to).join("/");
    const raw = toEnd && template.verb !== "" ? taken.slice(0, -template.verb.length - 1) : taken;
    const text = percentDecode(raw, variable.spansSegments);
    if (text === undefined) return undefined;
    captured.push([variable.fieldPath, text]);
  }
  return captured;
}
