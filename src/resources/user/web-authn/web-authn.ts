import type { UserDeps } from "../ports.ts";
import { hash } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { invalidField } from "../../../errors.ts";
import type { Transaction, WriteContext } from "../../../eventstore/transaction.ts";
import { current } from "../../../storage/read-cache.ts";
import { instanceReader } from "../../instance/index.ts";
import type { Credentials } from "../credentials.ts";
import { requestOptions } from "./ceremony.ts";
import type { UserVerification } from "./challenges.ts";
import { originOf, readBrowserAnswer } from "./client-data.ts";
import { answerJudge } from "./judge.ts";
import type { UserRef } from "../user-ref.ts";
import { toCredential } from "./stored.ts";

/** `isUserVerified`: the authenticator knew who used it, so that it stands for a password as well. */
export type WebAuthNOutcome =
  | { isRight: false }
  | {
      isRight: true;
      webAuthNId: string;
      isUserVerified: boolean;
      /** It was its first use, from which on it counts: the user has an event more. */
      isConfirmed: boolean;
    };

export type WebAuthNChecks = ReturnType<typeof createWebAuthNChecks>;

/** @throws INVALID_ARGUMENT WEB_AUTH_N_DOMAIN_INVALID for a domain that is not one of the instance */
export type RequireDomain = (instanceId: string, domain: string, field: string) => Promise<string>;

export function domainsOfInstances({ db }: Pick<UserDeps, "db">): RequireDomain {
  const byDomain = current(db, instanceReader(db).byDomain);
  return async (instanceId, wanted, field) => {
    const domain = wanted.toLowerCase();
    if ((await byDomain(domain))?.id === instanceId) return domain;
    const description = "is no domain of the instance: name the one whose pages log in";
    throw invalidField(field, "WEB_AUTH_N_DOMAIN_INVALID", description);
  };
}

/** What authenticators know a user by: it is found in them in clear, so it tells nothing of them. */
export const userHandle = ({ instanceId, userId }: UserRef): Uint8Array =>
  hash("sha256", `${instanceId}/${userId}`, "buffer");

export function createWebAuthNChecks(credentials: Credentials) {
  const { deps, attempts, authenticators, challenges, requireDomain, relatedOrigins } = credentials;
  const judgeAnswer = answerJudge(credentials);

  const outcomeOf = (
    { instanceId }: WriteContext,
    userId: string | undefined,
    judgement: Awaited<ReturnType<ReturnType<typeof answerJudge>>>,
  ): WebAuthNOutcome => {
    if (judgement?.isRight !== true) return { isRight: false };
    const { webAuthNId, isUserVerified, isConfirmed } = judgement;
    deps.noteUse({ instanceId, ownerId: userId ?? "", kind: "web_authn", id: webAuthNId });
    return { isRight: true, webAuthNId, isUserVerified, isConfirmed };
  };

  return {
    /**
     * Makes a challenge for the passkeys and security keys that the user has for a domain of the instance; it counts once,
     * for ten minutes. Passkeys that browsers made by themselves are among them where the user is to be verified.
     *
     * @param wanted.field where the caller's request names the domain, for the refusal
     * @returns what `navigator.credentials.get` is to be called with, as `publicKey` in the JSON form of WebAuthn, and the
     * id to check the answer with; undefined where the user has none for the domain
     * @throws INVALID_ARGUMENT WEB_AUTH_N_DOMAIN_INVALID
     */
    async challenge(
      tx: Transaction,
      owner: UserRef,
      wanted: { domain: string; field: string; userVerification: UserVerification },
    ): Promise<{ challengeId: string; options: JsonObject } | undefined> {
      const { userVerification } = wanted;
      const domain = await requireDomain(owner.instanceId, wanted.domain, wanted.field);
      const rows = await authenticators.ofKind(owner, "web_authn");
      const allow = rows
        .filter(({ isVerified }) => isVerified || userVerification === "required")
        .map(toCredential)
        .filter((one) => one.domain === domain);
      if (allow.length === 0) return undefined;
      const id = deps.newId();
      const purpose = "login";
      const challenge = await challenges.open(tx, owner, { id, purpose, domain, userVerification });
      const options = await requestOptions({ challenge, domain }, { allow, userVerification });
      return { challengeId: id, options };
    },

    /**
     * Checks what the browser made of a challenge, and spends the challenge whatever it was. Wrong answers are not counted:
     * nobody can guess one.
     */
    async check(
      at: WriteContext,
      userId: string | undefined,
      { challengeId, credential: json }: { challengeId: string; credential: JsonObject },
    ): Promise<WebAuthNOutcome> {
      const judgement = await attempts.judge(at, userId, undefined, async (tx, _, row) => {
        const asked = await challenges.take(tx, row, { id: challengeId, purpose: "login" });
        if (asked === undefined) return undefined;
        const userVerification = asked.userVerification as UserVerification;
        return judgeAnswer(tx, row, json, { ...asked, userVerification });
      });
      return outcomeOf(at, userId, judgement);
    },

    /**
     * Checks a passkey that was used without saying first whose it is. The challenge is the caller's own: they keep it, and
     * spend it before they ask. Only a passkey that knew its user is right.
     */
    async checkDiscovered(
      at: WriteContext,
      userId: string | undefined,
      tried: { challenge: string; domain: string; credential: JsonObject },
    ): Promise<WebAuthNOutcome> {
      const { credential, ...challenged } = tried;
      const asked = { ...challenged, userVerification: "required" as const };
      const judgement = await attempts.judge(at, userId, undefined, (tx, _, row) =>
        judgeAnswer(tx, row, credential, asked),
      );
      return outcomeOf(at, userId, judgement);
    },

    /** Whether a browser answered on a page of this origin, or of one that the instance lists as related (J18). */
    async isFrom(instanceId: string, origin: string, credential: JsonObject): Promise<boolean> {
      const answered = answeredAt(credential);
      if (answered === undefined) return false;
      return answered === origin || (await relatedOrigins(instanceId)).includes(answered);
    },
  };
}

/** The origin that a browser's answer names; undefined where none can be read. */
function answeredAt(credential: JsonObject): string | undefined {
  const answer = readBrowserAnswer(credential);
  try {
    return answer && originOf(answer.clientDataJSON);
  } catch {
    return undefined;
  }
}
