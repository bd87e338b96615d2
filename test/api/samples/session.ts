import { SessionService } from "#gen/idsvc/resources/session/v3alpha/session_service_pb.ts";
import { newUser } from "./user.ts";
import { ofService, onId, type Sample, tooLong, type World } from "./sample.ts";

const unknown = "SESSION_NOT_FOUND";
const absent = { code: 5, reason: unknown };
const metadata = { colour: "cmVk" };
const checks = (userId: string) => ({ user: { user_id: userId } });
const newSession = ({ make, userId }: World) =>
  make("/sessions", { checks: checks(userId), user_agent: { fingerprint_id: "f" }, metadata });
const named = (writes = true): Sample => ({
  ...onId(unknown, newSession, writes),
  stranger: absent,
});

export const sessionSamples: Record<string, Sample> = ofService(SessionService.typeName, {
  CreateSession: {
    valid: ({ userId }) => ({
      session: {
        checks: checks(userId),
        metadata,
        user_agent: { fingerprint_id: "f", header: { accept: { values: ["*"] } } },
        lifetime: "600s",
      },
    }),
    invalid: { request: { session: { lifetime: "0s" } }, field: "session.lifetime" },
    unknown: undefined,
    writes: true,
  },
  PatchSession: {
    valid: async (world) => ({ id: await newSession(world), session: { lifetime: "60s" } }),
    invalid: {
      request: { id: "1", session: { checks: { totp: { code: "" } } } },
      field: "session.checks.totp.code",
    },
    unknown: { request: { id: "404", session: {} }, reason: unknown },
    writes: true,
  },
  GetSession: named(false),
  DeleteSession: named(),
  EndOtherSessions: {
    valid: async (world) => {
      const user_id = await newUser(world);
      await world.make("/sessions", { checks: checks(user_id) });
      return { user_id };
    },
    invalid: { request: { user_id: tooLong }, field: "user_id" },
    unknown: { request: { user_id: "404" }, reason: "USER_NOT_FOUND" },
    writes: true,
    stranger: { code: 5, reason: "USER_NOT_FOUND" },
  },
  GetLogInCounts: {
    valid: () => ({ days: 2 }),
    invalid: { request: { days: 32 }, field: "days" },
    unknown: { request: { ctx: { org_id: "404" } }, reason: "ORGANIZATION_NOT_FOUND" },
    writes: false,
  },
  SearchSessions: {
    valid: () => ({
      sorting_column: "SESSION_FIELD_NAME_CHANGE_DATE",
      filters: [{ fingerprint_id: "no such fingerprint" }],
    }),
    invalid: {
      request: { filters: [{ user_id: tooLong }] },
      field: "filters[0].user_id",
    },
    unknown: undefined,
    writes: false,
    stranger: "answered",
  },
});
