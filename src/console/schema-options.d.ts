/** What the build reads of the options of the schema (`.ci/console-schema.ts`). */
declare module "#schema-options" {
  /** Rules of the fields of requests, by message and field. */
  export const rules: Readonly<Record<string, import("./forms/controls.ts").Rule | undefined>>;
  /** Verb, address and the field that is the body (`*`: all) over REST, by method. */
  export const rest: Readonly<
    Record<string, readonly [verb: string, path: string, body: string] | undefined>
  >;
}
