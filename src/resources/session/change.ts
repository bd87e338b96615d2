import type { Duration } from "@bufbuild/protobuf/wkt";
import type {
  PatchSession,
  Session as NewSession,
} from "#gen/idsvc/resources/session/v3alpha/session_pb.ts";
import type { Scope } from "../../authz/context.ts";
import { credentialWriter } from "../../authz/roles.ts";
import type { Loaded } from "../../eventstore/eventstore.ts";
import type { Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { toMs } from "../object/duration.ts";
import { requireVouching, type UserChecks } from "../user/index.ts";
import { challenge } from "./challenges.ts";
import type { Checked, SessionChecks } from "./checks.ts";
import { toMetadata, toUserAgentSet } from "./convert.ts";
import {
  nameUser,
  requireSession,
  type Session,
  session,
  setLifetime,
  setMetadata,
  setToken,
  setUserAgent,
} from "./session.ts";
import { newSessionToken } from "./token.ts";
import { recordVisit } from "./visits.ts";

type Parts = Pick<Deps, "secrets" | "events"> & {
  checks: SessionChecks;
  checksOfUsers: UserChecks;
};

/** What a session is made of and what changes it: all of it in one unit, with a new token. */
export const sessionChange =
  ({ secrets, events, checks, checksOfUsers }: Parts) =>
  async (
    tx: Transaction,
    scope: Scope,
    loaded: Loaded<Session | undefined>,
    {
      wanted,
      checked,
      userAgent,
    }: {
      wanted: Pick<NewSession | PatchSession, "metadata" | "challenges"> & {
        lifetime?: Duration | undefined;
      };
      checked: Checked;
      userAgent: NewSession["userAgent"];
    },
  ) => {
    const { instanceId } = scope;
    if (checked.user !== undefined) await checks.hold(tx, checked.user);
    if (checked.user !== undefined && checked.isNamed) {
      tx.record(session, loaded, nameUser(loaded.state, checked.user));
      await recordVisit({ events }, tx, { id: loaded.id, userId: checked.user.id });
    }
    // After the user: what tells of them is sealed with their key.
    if (userAgent !== undefined) {
      tx.record(session, loaded, setUserAgent(loaded.state, toUserAgentSet(userAgent)));
    }
    tx.record(session, loaded, checked.happened);
    const at = { instanceId, sessionId: loaded.id, session: requireSession(loaded.state) };
    const personId = at.session.user?.id;
    tx.recognise({ sessionId: loaded.id, ...(personId === undefined ? {} : { personId }) });
    const { happened, response } = await challenge(
      checksOfUsers,
      tx,
      at,
      wanted.challenges,
      (about) => requireVouching(scope, about, credentialWriter),
    );
    tx.record(session, loaded, happened);
    tx.record(session, loaded, setMetadata(loaded.state, toMetadata(wanted.metadata)));
    if (wanted.lifetime !== undefined) {
      tx.record(session, loaded, setLifetime(tx.now, toMs(wanted.lifetime)));
    }
    const ref = { instanceId, sessionId: loaded.id };
    const { token: sessionToken, change: secret } = await newSessionToken(secrets, ref, tx.now);
    tx.record(session, loaded, setToken());
    tx.write(secret);
    return {
      written: tx.written(loaded),
      sessionToken,
      ...(response === undefined ? {} : { challenges: response }),
    };
  };
