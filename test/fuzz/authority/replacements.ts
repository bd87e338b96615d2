/** A change of a source file as it is loaded: what stands there once becomes something else. */
export type Edit = { file: string; from: string; to: string };

/** What only makes the service wait: cheap hashes, and answers that come at once. No decision is among it. */
export const faster: readonly Edit[] = [
  { file: "src/crypto/password-policy.ts", from: "memoryCost: 19_456", to: "memoryCost: 8" },
  { file: "src/crypto/password-policy.ts", from: "timeCost: 2", to: "timeCost: 1" },
  {
    file: "src/constant-time.ts",
    from: "return clock.wait(step - (took % step));",
    to: "return clock.wait(took - took + step - step);",
  },
];

/**
 * Each ruling replaced by what lets pass, so that the search can prove that it would find what the ruling keeps from
 * happening. The shipped program has no such switch: its sources are changed while they are loaded.
 */
export const rulings: Readonly<Record<string, readonly Edit[]>> = {
  J1: [
    {
      file: "src/authz/holds.ts",
      from: 'if (coversUser(permissions, kind === "shutOut" ? atHome(power) : power)) return;',
      to: 'if (coversUser(permissions, kind === "shutOut" ? atHome(power) : power) || true) return;',
    },
  ],
  J1a: [
    {
      file: "src/resources/membership/link-holders.ts",
      from: "if (await isCovered(tx, at, userId, permissions)) continue;",
      to: "if ((await isCovered(tx, at, userId, permissions)) || true) continue;",
    },
  ],
  J2: [
    {
      file: "src/resources/membership/membership.ts",
      from: "roles.find((role) => !permissions.covers(asMembership({ context, roles: [role] })));",
      to: "roles.find((role) => !permissions.covers(asMembership({ context, roles: [role] })) && false);",
    },
  ],
  J4: [
    {
      file: "src/oidc/store/verifier.ts",
      from: "if (access === undefined) return nothingButReading;",
      to: 'if (access === undefined || access.kind === "own") return undefined;',
    },
  ],
  J4a: [
    {
      file: "src/authz/limited.ts",
      from: "if (!isNamed(limit.holds, permission)) return false;",
      to: "if (!isNamed(limit.holds, permission)) return true;",
    },
  ],
  J5: [
    {
      file: "src/resources/consent/consents.ts",
      from: "if (app.organizationId === user.organizationId) return true;",
      to: 'if (app.organizationId !== "") return true;',
    },
  ],
  J6: [
    {
      file: "src/oidc/core/token/grants/token-exchange.ts",
      from: "if (scope.every(isWithin)) return;",
      to: "if (scope.every(isWithin) || true) return;",
    },
  ],
  J7: [
    {
      file: "src/authz/chosen-id.ts",
      from: "if (refusal !== undefined) throw refusal;",
      to: "if (refusal !== undefined && false) throw refusal;",
    },
    {
      file: "src/resources/user/free-id.ts",
      from: "if ((await tx.usedIds(namedTypes, [id])).has(id)) throw taken();",
      to: "",
    },
    {
      file: "src/resources/user/free-id.ts",
      from: "if (isClientId ?? (await clientIdsAmong(tx, instanceId, [id])).has(id)) throw taken();",
      to: "",
    },
  ],
  J8: [
    {
      file: "src/oidc/core/audience.ts",
      from: 'const mayAddress = kind === "api" || users.mayAddress(at, user, id);',
      to: 'const mayAddress = kind === "api" || users !== undefined;',
    },
    {
      file: "src/oidc/core/audience.ts",
      from: "if (isAudience && !(await users.mayAddress(at, user, id))) lost.add(id);",
      to: "if (isAudience && users === undefined) lost.add(id);",
    },
  ],
  J9: [
    {
      file: "src/resources/user/vouch.ts",
      from: "if (about.userId === callerId(scope)) throw proofForOneself();",
      to: "if (about.userId === callerId(scope)) return {};",
    },
  ],
  J10: [
    {
      file: "src/app/domain-proof.ts",
      from: 'return texts.some((text) => text.trim() === token) ? "proven" : "absent";',
      to: 'return texts.some((text) => text.trim() === token) ? "proven" : "proven";',
    },
  ],
  J11: [
    {
      file: "src/api/interceptors/session-policy.ts",
      from: 'if (caller?.kind !== "user" || caller.unfinished === undefined) return;',
      to: "if (caller !== undefined || request !== undefined) return;",
    },
  ],
  J16: [
    {
      file: "src/settings/object/floors.ts",
      from: "demanded === undefined || comparisons[floorOf](value, demanded);",
      to: "demanded === undefined || comparisons[floorOf](value, demanded) || true;",
    },
  ],
  J19: [
    {
      file: "src/resources/app/api-access.ts",
      from: "if (access === undefined || coversAccess(by, access)) return;",
      to: "if (access === undefined || coversAccess(by, access) || true) return;",
    },
  ],
  J20: [
    {
      file: "src/resources/user/clean-hands.ts",
      from: "if (loaded.state === undefined) return [];",
      to: 'if (loaded.state === undefined || loaded.id !== "") return [];',
    },
  ],
  L2: [
    {
      file: "src/resources/session/step-up.ts",
      from: "if (age <= maxAgeMs && age >= -skewMs) return;",
      to: "if (age <= maxAgeMs || age >= -skewMs) return;",
    },
  ],
};
