import { internal } from "../../errors.ts";

/** One step of a path: fixed text, exactly one segment (`*`), or all that is left (`**`). */
export type Segment =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "one" }
  | { readonly kind: "rest" };

/** A field that the segments `from` up to but without `to` fill. */
export type Variable = {
  readonly fieldPath: string;
  readonly from: number;
  readonly to: number;
  /** Whether the value may hold slashes; then an encoded slash stays encoded, so that the two differ. */
  readonly spansSegments: boolean;
};

/** A path of google.api.http, taken apart. `verb` is the text behind the last colon, empty when there is none. */
export type PathTemplate = {
  readonly text: string;
  readonly segments: readonly Segment[];
  readonly variables: readonly Variable[];
  readonly verb: string;
};

const literal = /[-A-Za-z0-9._~!$&'()+,;@]+/y;
const fieldPath = /[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*/y;

/**
 * Takes a path of google.api.http apart: literals, `*`, `**`, `{field.path}`, `{field=orgs/*}` and a `:verb`.
 *
 * Source: the grammar in google/api/http.proto.
 * @throws INVALID_PATH_TEMPLATE with the column of the first mistake, counted from 1
 */
export function parsePathTemplate(template: string): PathTemplate {
  const segments: Segment[] = [];
  const variables: Variable[] = [];
  let at = 0;
  let restColumn = -1;

  const refuse = (problem: string, index = at) =>
    internal(
      "INVALID_PATH_TEMPLATE",
      `path template "${template}", column ${index + 1}: ${problem}`,
    );
  const take = (text: string): boolean => {
    const taken = template.startsWith(text, at);
    if (taken) at += text.length;
    return taken;
  };
  const takeMatch = (pattern: RegExp, expected: string): string => {
    pattern.lastIndex = at;
    const text = pattern.exec(template)?.[0];
    if (text === undefined) throw refuse(`expected ${expected}`);
    at += text.length;
    return text;
  };

  function takeSegments(insideVariable: boolean): void {
    do {
      if (restColumn >= 0) throw refuse("** must be the last segment", restColumn);
      takeSegment(insideVariable);
    } while (take("/"));
  }
  function takeSegment(insideVariable: boolean): void {
    const start = at;
    if (take("**")) {
      restColumn = start;
      segments.push({ kind: "rest" });
    } else if (take("*")) {
      segments.push({ kind: "one" });
    } else if (template[at] === "{") {
      if (insideVariable) throw refuse("a variable must not contain another variable");
      takeVariable();
    } else {
      const text = takeMatch(literal, "a segment: text, *, ** or {field}");
      if (text === "." || text === "..") throw refuse("a dot segment can never match", start);
      segments.push({ kind: "literal", text });
    }
  }
  function takeVariable(): void {
    const start = at;
    at += 1;
    const name = takeMatch(fieldPath, "the name of a field");
    if (variables.some((variable) => variable.fieldPath === name)) {
      throw refuse(`the field ${name} is bound twice`, start);
    }
    const from = segments.length;
    if (take("=")) takeSegments(true);
    else segments.push({ kind: "one" });
    if (!take("}")) throw refuse(`expected } to close the variable ${name}`);
    const to = segments.length;
    const spansSegments = to - from > 1 || segments[from]?.kind === "rest";
    variables.push({ fieldPath: name, from, to, spansSegments });
  }

  if (!take("/")) throw refuse("expected / at the start");
  takeSegments(false);
  const verb = take(":") ? takeMatch(literal, "a verb") : "";
  if (at < template.length) throw refuse(`unexpected "${template[at]}"`);
  return { text: template, segments, variables, verb };
}

// What a request target may hold by RFC 3986; anything else was put there raw and has no agreed meaning.
const printableAscii = /^[!-~]*$/;

/**
 * Decodes percent-encoded UTF-8, once. Undefined when the text is no well-formed encoding.
 * @param keepSlash leaves `%2F` as it is, the rule of google.api.http for variables of several segments
 */
export function percentDecode(text: string, keepSlash = false): string | undefined {
  if (!printableAscii.test(text)) return undefined;
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(keepSlash ? text.replace(/%(?=2f)/gi, "%25") : text);
  } catch {
    return undefined; // decodeURIComponent has one way to fail, and it says nothing more
  }
}
