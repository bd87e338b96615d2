import assert from "node:assert/strict";
import type { Bootstrap } from "../../src/app/bootstrap-file.ts";
import type { Issue, OidcSession } from "../../src/oidc/core/ports.ts";
import { consent, consentEvents } from "../../src/resources/consent/index.ts";
import { app, appEvents } from "../../src/resources/app/index.ts";
import { logout, logoutEvents } from "../../src/oidc/store/logouts.ts";
import { clientPorts } from "../../src/oidc/store/index.ts";
import type { ServiceDeps } from "../../src/app/deps.ts";

const hour = 3_600_000;

/** Makes the events of tokens: issued, renewed, exchanged, revoked; and of devices. */
export async function rareTokens(deps: ServiceDeps, made: Bootstrap): Promise<void> {
  const { tokens, devices, users, newId, newSecret, now } = clientPorts({
    ...deps,
    features: { isOn: () => true },
  });
  const at = { instanceId: made.instance_id, issuer: made.issuer, requestId: "frozen" };
  const user = await users.byId(at, made.admin.user_id);
  const other = made.machine.user_id;
  assert.ok(user !== undefined);
  const clientId = "123@sample";
  const scope = ["openid", "offline_access"];
  const after = (ms: number) => new Date(now().getTime() + ms);
  const actor = { iss: at.issuer, sub: other };
  const session = (id: string, more: Partial<OidcSession> = {}): OidcSession => ({
    id,
    clientId,
    userId: user.id,
    organizationId: user.organizationId,
    sessionId: "",
    scope,
    nonce: undefined,
    authTime: now(),
    amr: ["pwd"],
    acr: undefined,
    audience: [{ kind: "client", id: clientId }],
    access: undefined,
    claims: undefined,
    actor: undefined,
    parents: [],
    ...more,
  });
  const issue = async (
    of: { open: OidcSession } | OidcSession | undefined,
    spend: Issue["spend"],
    impersonation?: Issue["impersonation"],
  ) => {
    const [value, refresh] = [newSecret("access_token"), newSecret("refresh_token")];
    const from = of !== undefined && "open" in of ? of.open : session(of?.id ?? "");
    const { userId, audience, authTime, amr, acr, claims, sessionId, parents } = from;
    const token = {
      id: newId(),
      clientId,
      userId,
      oidcSessionId: from.id,
      scope,
      audience,
      isJwt: false,
      authTime,
      amr,
      acr,
      actor: from.actor,
      claims,
      sessionId,
      parents,
      access: undefined,
      issuedAt: now(),
      expiresAt: after(hour),
    };
    const issued = await tokens.issue(at, {
      user,
      clientId,
      spend,
      impersonation,
      session: of !== undefined && "open" in of ? { ...of, expiresAt: after(3 * hour) } : of,
      accessToken: { value, token },
      refreshToken: of && {
        value: refresh,
        idleExpiresAt: after(hour),
        expiresAt: after(2 * hour),
      },
      idToken: undefined,
    });
    assert.equal(issued.outcome, "issued");
    return { value, refresh };
  };

  const first = newId();
  const claims = { userinfo: { email: null } };
  const given = await issue({ open: session(first, { claims }) }, []);
  const found = await tokens.refreshToken(at, given.refresh);
  assert.ok(found !== undefined);
  const spend = { kind: "refresh_token" as const, digest: found.digest };
  const renewed = await issue(session(first), [spend]);
  const parents = [{ id: first, userId: user.id }];
  await issue({ open: session(newId(), { actor, parents }) }, [], { actor });
  const alone = await issue(undefined, []);
  await tokens.revoke(at, alone.value);
  await tokens.revoke(at, renewed.refresh);

  const wanted = { clientId, scope, expiresAt: after(hour), intervalMs: 5_000 };
  for (const userCode of ["BCDFGHJK", "LMNPQRST"]) {
    const deviceCode = newSecret("device_code");
    assert.ok(await devices.begin(at, { ...wanted, userCode, deviceCode }));
    const request = await devices.byUserCode(at, userCode);
    assert.ok(request !== undefined);
    if (userCode.startsWith("L")) {
      await devices.deny(at, request.id);
      continue;
    }
    const { id, ...grant } = session(newId());
    await devices.approve(at, request.id, grant);
    const polled = await devices.poll(at, deviceCode);
    assert.ok(polled !== undefined);
    const { digest } = polled;
    await issue({ open: { id, ...grant } }, [
      { kind: "device_code", digest, requestId: request.id },
    ]);
  }

  const by = { ...at, editorId: user.id, service: "oidc", clientId };
  await deps.events.transact(by, async (tx) => {
    const owner = { type: "org" as const, id: user.organizationId };
    const announced = logoutEvents.announced({ sessionId: "1", clientId });
    tx.record(logout, tx.begin(logout, newId()), [announced], owner);
    const granted = consentEvents["consent.granted"]({ userId: user.id, clientId, scope });
    tx.record(consent, tx.begin(consent, newId()), [granted], owner);
    const access = { permissions: ["*"], instance: true, organizationIds: [], trusted: false };
    const ofApp = [
      appEvents.added({ projectId: "1", name: "frozen" }),
      appEvents["config.api.added"]({ clientId: "2", authMethodType: "basic" }),
      appEvents["maker.changed"]({ isOwner: true }),
      appEvents["api_access.changed"]({ clientId: "2", access }),
      appEvents["consents.ended"]({ clientId: "2" }),
    ];
    tx.record(app, tx.begin(app, newId()), ofApp, owner);
  });
}
