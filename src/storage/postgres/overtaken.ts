import type pg from "pg";
import { storeFacts, storeTables } from "../kernel-tables.ts";
import { storeNewer } from "../refusals.ts";
import { type Schema, shapeOf, storeFormat } from "../schema.ts";
import { overtakenState, projectionsName } from "./append-function.ts";
import { serverError, storeError } from "./errors.ts";
import { formatName } from "./migrate.ts";

type Connection = Pick<pg.Client | pg.Pool, "query">;

/**
 * Knows whether another build has changed projections, or the format, since this process migrated the store (F24). Such a process
 * neither reads nor writes any more, since its answers and rows would lack what the other build knows.
 */
export type Overtaken = {
  /** What the append function must find, so that nothing is written beside another build; null before the first look. */
  readonly version: string | null;
  /** Looks at what the store says of its tables; the first look is what later ones are compared with. */
  look(connection: Connection): Promise<void>;
  isOvertaken(): boolean;
  /** @throws UNAVAILABLE STORE_NEWER */
  requireCurrent(): void;
  /** What a caller may hear of an error, which may come of a change that was not noticed yet. */
  explain(error: unknown): Promise<unknown>;
  /** Called once, when the process has been overtaken. */
  onOvertaken(listener: () => void): void;
};

const newer = (cause?: unknown) =>
  storeNewer(
    "unavailable",
    "the store has been changed by a newer build: this replica must be replaced",
    { retryAfterSeconds: 1, cause },
  );

/** @param asking where to look once an error says that something is wrong */
export function createOvertaken(schema: Schema, asking: Connection): Overtaken {
  const own = new Map(schema.projections.map((table) => [table.name, shapeOf(table)]));
  const listeners: (() => void)[] = [];
  let initial: ReadonlyMap<string, string> | undefined;
  let version: string | null = null;
  let isOvertaken = false;

  async function look(connection: Connection): Promise<void> {
    const { rows } = await connection.query<[kind: string, name: string, value: string]>({
      name: "look_at_tables",
      text: `SELECT 'shape', name, shape FROM ${storeTables.name} WHERE role = 'projection'
             UNION ALL SELECT 'fact', name, encode(value, 'escape') FROM ${storeFacts.name}
             WHERE name IN ($1, $2)`,
      values: [formatName, projectionsName],
      rowMode: "array",
    });
    const of = (wanted: string) =>
      new Map(rows.flatMap(([kind, name, value]) => (kind === wanted ? [[name, value]] : [])));
    const [shapes, facts] = [of("shape"), of("fact")];
    const known = (initial ??= shapes);
    const before = isOvertaken;
    isOvertaken =
      Number(facts.get(formatName) ?? storeFormat) > storeFormat ||
      [...shapes].some(([name, shape]) => shape !== own.get(name) && shape !== known.get(name));
    if (!isOvertaken) version = facts.get(projectionsName) ?? "";
    if (isOvertaken && !before) for (const listen of listeners) listen();
  }

  return {
    get version() {
      return version;
    },
    look,
    isOvertaken: () => isOvertaken,
    requireCurrent() {
      if (isOvertaken) throw newer();
    },
    async explain(cause) {
      const told = storeError(cause);
      const isForeseen = told !== cause || serverError(cause) === undefined;
      if (isForeseen || initial === undefined) return told;
      await look(asking).catch(() => undefined);
      return isOvertaken ? newer(cause) : told;
    },
    onOvertaken: (listener) => void listeners.push(listener),
  };
}

/** Whether the append function has refused a batch since projections are not those that the process knows. */
export const isOvertakenError = (error: unknown): boolean =>
  serverError(error)?.code === overtakenState;
