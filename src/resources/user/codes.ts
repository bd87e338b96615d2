import { randomInt } from "node:crypto";
import type { Budgets } from "../../authz/budgets.ts";
import { invalidField } from "../../errors.ts";
import type { SecretStore } from "../../eventstore/secret-store.ts";
import type { Deps } from "../../projection/module.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import { enqueue } from "../../jobs/job.ts";
import { rowWhere } from "../../projection/rows.ts";
import type { Database } from "../../storage/database.ts";
import { deleteRows, putRow, type RowChange, updateRows } from "../../storage/row-change.ts";
import { instant, int, optionalText, table, text } from "../../storage/table.ts";
import type { CodeKind } from "./code-kinds.ts";
import type { Reach } from "./events.ts";
import { linkHosts } from "./link-hosts.ts";
import { createMessageBudget } from "./message-budget.ts";
import { type Notice, noticeJob } from "./notice.ts";
import type { UserRef } from "./user-ref.ts";

/**
 * Codes that are sent to people and count once (C6, C7): only their keyed digest is kept, and with it how
 * often a wrong one was tried. `subject` is what the code is about, for example the address it proves.
 */
export const oneTimeCodes = table(
  "one_time_codes",
  {
    instanceId: text(),
    userId: text(),
    kind: text(),
    subject: text(),
    /** How far the word of whoever was told the code reaches, where that is not the instance. */
    reach: optionalText(),
    digest: text(),
    attempts: int(),
    createdAt: instant(),
    expiresAt: instant(),
  },
  {
    key: ["instanceId", "userId", "kind"],
    indexes: [{ columns: ["expiresAt"] }],
  },
);

const mostAttempts = 10;
const mostWaitingMs = 48 * 3_600_000;

/** How a code gets to its user: by the caller, who is told it; or sent, with a link made from a template. */
export type Delivery =
  | "returned"
  | Pick<Notice, "channel" | "urlTemplate" | "sessionId" | "newcomer">;

export type Codes = {
  /**
   * Makes a code in the place of the one before, and returns it to a caller who asked for it. One that is to be sent is
   * made when it is sent (`renew`), so that none lies about in clear and none arrives dead; until then nothing counts.
   * One that is returned proves no more than the word of who is told it: `reach` says how far that goes (J9).
   *
   * @throws INVALID_ARGUMENT URL_TEMPLATE_DENIED for a link that leads elsewhere than to the instance or an allowed host
   * @throws RESOURCE_EXHAUSTED BUDGET_SPENT as `createMessageBudget`
   */
  issue(
    tx: Transaction,
    user: UserRef,
    kind: CodeKind,
    asked: { subject: string; delivery: Delivery } & Reach,
  ): Promise<string | undefined>;
  /** The code to be sent now, with its whole life before it; nothing where it was spent, or another one was asked for. */
  renew(
    tx: Transaction,
    user: UserRef,
    kind: CodeKind,
    asked: { subject: string; askedAt: Date },
  ): Promise<string | undefined>;
  /**
   * Spends a code: it counts once, for the subject it was made for, until it expires or was missed ten times. A wrong
   * one is counted by the same unit, so the caller must let the unit commit before they refuse. It is counted against the
   * source of the request too, unless that was done (`isCounted`, here or of the
   * context).
   *
   * @returns how far what the code proves reaches; nothing for a wrong one
   * @throws RESOURCE_EXHAUSTED BUDGET_SPENT when too many wrong ones came from the source
   */
  spend(
    tx: Transaction,
    user: UserRef,
    kind: CodeKind,
    tried: { code: string; subject: string; isCounted?: true },
  ): Promise<Reach | undefined>;
  /** What the code of a kind that the user was last given is about; nothing where there is none. */
  subjectOf(user: UserRef, kind: CodeKind): Promise<string | undefined>;
  /** Lets a code count no more. */
  drop(user: UserRef, kind: CodeKind): RowChange;
  /** Everything a user has: it goes with them. */
  removeAll(user: UserRef): RowChange;
};

type CodesParts = Pick<Deps, "db" | "secrets" | "policies" | "newId"> & {
  /** Absent where no request is served. */
  budgets?: Budgets | undefined;
};

export function createCodes({ db, secrets, policies, newId, budgets }: CodesParts): Codes {
  const isLinkHost = linkHosts({ db, policies });
  const messages = budgets && createMessageBudget({ db, secrets }, budgets);

  return {
    async issue(tx, user, kind, { subject, delivery, reach }) {
      const template = delivery === "returned" ? undefined : delivery.urlTemplate;
      if (template !== undefined && !(await isLinkHost(user.instanceId, template))) {
        throw urlTemplateDenied();
      }
      const isAllowed =
        delivery === "returned" || ((await messages?.take(tx, user.userId, subject)) ?? true);
      // The code before stays.
      if (!isAllowed) return undefined;
      const code = newCode(kind);
      const { now } = tx;
      // One that waits for its mail must outlive the tries to send it.
      const lifeMs = delivery === "returned" ? kind.lifeMs : mostWaitingMs;
      tx.write(
        putRow(oneTimeCodes, {
          ...codeRef(user, kind),
          subject,
          reach: reach ?? null,
          digest: await digestOf(secrets, user, kind, code),
          attempts: 0,
          createdAt: now,
          expiresAt: new Date(now.getTime() + lifeMs),
        }),
      );
      if (delivery === "returned") return code;
      const { instanceId, userId } = user;
      const id = newId();
      const job = { instanceId, id, now, key: `${instanceId}/${id}`, position: 0n };
      const about = { code: kind.name, subject, askedAt: now.toISOString() };
      tx.write(enqueue(noticeJob, job, { userId, ...delivery, about }));
      return undefined;
    },

    async renew(tx, user, kind, { subject, askedAt }) {
      const row = await find(db, user, kind);
      if (row?.subject !== subject || row.createdAt.getTime() !== askedAt.getTime()) {
        return undefined;
      }
      const where = codeRef(user, kind);
      tx.expectRows(oneTimeCodes, { ...where, digest: row.digest }, 1);
      const code = newCode(kind);
      tx.write(
        updateRows(oneTimeCodes, where, {
          digest: await digestOf(secrets, user, kind, code),
          attempts: 0,
          expiresAt: new Date(tx.now.getTime() + kind.lifeMs),
        }),
      );
      return code;
    },

    async spend(tx, user, kind, { code, subject, isCounted }) {
      const guesses = isCounted || tx.at.isCounted ? undefined : budgets;
      guesses?.spend("guesses", tx.at.source);
      const where = codeRef(user, kind);
      const row = await find(db, user, kind);
      if (row === undefined || row.expiresAt <= tx.now || row.attempts >= mostAttempts)
        return undefined;
      // Who tries at the same time is decided anew after this unit: no try goes uncounted, no code counts twice.
      const { attempts, digest } = row;
      tx.expectRows(oneTimeCodes, { ...where, attempts, digest }, 1);
      const given = await digestOf(secrets, user, kind, code.trim().toUpperCase());
      const isRight = row.subject === subject && digest === given;
      if (isRight) guesses?.giveBack("guesses", tx.at.source);
      tx.write(
        isRight
          ? deleteRows(oneTimeCodes, where)
          : updateRows(oneTimeCodes, where, { attempts: attempts + 1 }),
      );
      if (!isRight) return undefined;
      return row.reach === null ? {} : { reach: "organization" };
    },

    subjectOf: async (user, kind) => (await find(db, user, kind))?.subject,

    drop: (user, kind) => deleteRows(oneTimeCodes, codeRef(user, kind)),

    removeAll: ({ instanceId, userId }) => deleteRows(oneTimeCodes, { instanceId, userId }),
  };
}

const codeRef = ({ instanceId, userId }: UserRef, { name }: CodeKind) => ({
  instanceId,
  userId,
  kind: name,
});

const digestOf = (secrets: SecretStore, user: UserRef, { name }: CodeKind, code: string) =>
  secrets.digest(user.instanceId, `${name}:${code}`);

const find = (db: Database, user: UserRef, kind: CodeKind) =>
  rowWhere(db, oneTimeCodes, codeRef(user, kind));

const urlTemplateDenied = () =>
  invalidField(
    "url_template",
    "URL_TEMPLATE_DENIED",
    "must lead to a domain of the instance, or to one of allowed_link_hosts of its security settings",
  );

function newCode({ length, alphabet }: CodeKind): string {
  return Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join("");
}

/** The one answer to a code that does not hold, whatever the cause. */
export const codeInvalid = (field: string) =>
  invalidField(
    field,
    "CODE_INVALID",
    "the code is wrong, expired or spent: ask for another one and try again",
  );

/** A code that was to be returned. */
export function returned(code: string | undefined): string {
  if (code === undefined) throw new Error("a code that is returned is known");
  return code;
}
