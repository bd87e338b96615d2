import type { DescMessage, JsonObject, MessageShape } from "@bufbuild/protobuf";
import type { Transaction } from "../../eventstore/transaction.ts";

/** A thing that records refer to, or that one of them makes, under an id that nothing else of the instance may have (`isNew`). */
export type Ref = { type: NoteType; id: string; isNew?: true };
export type NoteType =
  | "organization"
  | "domain"
  | "policy"
  | "project"
  | "role"
  | "app"
  | "appKey"
  | "user"
  | "idp"
  | "machineKey"
  | "metadata"
  | "projectGrant"
  | "claim"
  | "events";

/** A fact that later records of the same import may need before it is in the store. */
export type Note = Omit<Ref, "isNew"> & { facts: JsonObject };

/** What a record came to, and what is to be remembered of it. */
export type Made = { is: "created" | "existed"; notes?: readonly Note[] };

/** What was made by records before, in this unit or in a dry run; the store is not asked. */
export type Known = {
  find(type: NoteType, id: string): Promise<JsonObject | undefined>;
  /** Whether an id that a record brings (`isNew`) is a client id, where that was read with those of the other records. */
  isClientId(id: string): boolean | undefined;
  /** Whether a claim of the instance is held, by the store or by what was made before. */
  isClaimed(kind: string, value: string): Promise<boolean>;
  /** The keys among these that are roles of the project. */
  roleKeys(projectId: string, keys: readonly string[]): Promise<string[]>;
};

export type ImportContext = { instanceId: string; orgId: string; known: Known };

/** What writes one record within a unit, as often as the unit is tried. It throws to refuse the record. */
export type Write = (tx: Transaction) => Promise<Made>;

/** One kind of records: the list of an organization that they come in, and what becomes of them. */
export type Kind = {
  /** The name of the list, in lower camel case. */
  name: string;
  idOf(record: object): string;
  /** What a record refers to, itself included: what only a dry run knows of it is recorded in the unit first. */
  refs(record: object, orgId: string): Ref[];
  begin(record: object, importContext: ImportContext): Write;
  type: DescMessage;
  /**
   * Whether no record is refused for what another one of the kind makes, but for ids and claims, which a commit judges: so one may be
   * decided while those before it are written.
   */
  isIndependent?: true;
};

type Of<D extends DescMessage> = {
  type: D;
  idOf(record: MessageShape<D>): string;
  refs(record: MessageShape<D>, orgId: string): Ref[];
  begin(record: MessageShape<D>, importContext: ImportContext): Write;
  isIndependent?: true;
};

/** The pairing of a kind with its message is checked here, once; whoever reads a record reads it by `type`. */
export const kind = <D extends DescMessage>(name: string, of: Of<D>): Kind => ({
  name,
  ...(of as unknown as Omit<Kind, "name">),
});

/** What a record about a user refers to. */
export const refsOfUser = (userId: string, orgId: string): Ref[] => [
  { type: "organization", id: orgId },
  { type: "user", id: userId },
];

export const created = (...notes: Note[]): Made => ({ is: "created", notes });
export const existed: Made = { is: "existed" };
export const note = (type: NoteType, id: string, facts: JsonObject = {}): Note => ({
  type,
  id,
  facts,
});
