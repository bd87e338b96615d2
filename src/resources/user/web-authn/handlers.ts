import { WebAuthNAuthenticatorType } from "#gen/idsvc/resources/user/v3alpha/authenticator_pb.ts";
import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import type { Handlers } from "../../../authz/service.ts";
import { loginSettingsReader } from "../../../settings/policy/login.ts";
import { requireHeld, requireRoom } from "../authenticator/authenticators.ts";
import { webAuthNEvents } from "../authenticator/events.ts";
import { changingUser } from "../change.ts";
import { passkeyRegistration } from "../code-kinds.ts";
import { codeInvalid } from "../codes.ts";
import { requireContact } from "../contact.ts";
import { toDelivery } from "../convert.ts";
import type { Credentials } from "../credentials.ts";
import { userEvents } from "../events.ts";
import { requirePerson } from "../person.ts";
import { displayNameOf } from "../user-data.ts";
import { requireVouching } from "../vouch.ts";
import { invitePasskey } from "./invitation.ts";
import { type AuthenticatorAttachment, creationOptions } from "./ceremony.ts";
import { requirePreparable } from "./prepared.ts";
import { addCredential } from "./new-credential.ts";
import { toCredential } from "./stored.ts";
import { userHandle } from "./web-authn.ts";

const attachments: Record<number, AuthenticatorAttachment> = {
  [WebAuthNAuthenticatorType.PLATFORM]: "platform",
  [WebAuthNAuthenticatorType.CROSS_PLATFORM]: "cross-platform",
};

export function webAuthNHandlers(credentials: Credentials) {
  const { deps, codes, authenticators } = credentials;
  const change = changingUser(deps);

  return {
    ...registrationHandlers(credentials),

    createWebAuthNRegistrationLink: ({ id, delivery }, scope) =>
      change(scope, id, async (one) => {
        requirePerson(one.state);
        const way = toDelivery("email", delivery?.delivery);
        if (way !== "returned") requireContact(one.state, "email");
        else requireVouching(scope, { ...one.state, userId: id });
        const made = await invitePasskey({ codes, newId: deps.newId }, one, way);
        return { code: made && { id: made.codeId, code: made.code } };
      }),

    renameWebAuthNAuthenticator: ({ id, webAuthNId, webAuthNName: name }, scope) =>
      change(scope, id, async ({ ref, state, record }) => {
        const { isPasskey } = requireHeld(state.authenticators, "web_authn", webAuthNId);
        const rows = await authenticators.ofKind(ref, "web_authn");
        if (rows.some((row) => row.id === webAuthNId && row.label === name)) return;
        record([userEvents[`${webAuthNEvents(isPasskey)}.renamed`]({ webAuthNId, name })]);
      }),
  } satisfies Partial<Handlers<typeof UserService>>;
}

/** The two steps in which a browser registers an authenticator. */
function registrationHandlers(credentials: Credentials) {
  const { deps, codes, authenticators, challenges, requireDomain } = credentials;
  const loginOf = loginSettingsReader(deps.db);
  const change = changingUser(deps);

  return {
    async startWebAuthNRegistration({ id, registration }, scope) {
      if (registration === undefined) throw new Error("validation requires the registration");
      const { authenticatorType, code: given, conditional: isConditional } = registration;
      const field = "registration.domain";
      const domain = await requireDomain(scope.instanceId, registration.domain, field);
      const { options, ...begun } = await change(scope, id, async ({ tx, ref, state }) => {
        requirePerson(state);
        requireRoom(state.authenticators, "web_authn");
        if (isConditional) {
          const policy = await loginOf(ref.instanceId, state.organizationId);
          requirePreparable(policy, state.authenticators);
        }
        if (given !== undefined) {
          const tried = { code: given.code, subject: given.id };
          if (!(await codes.spend(tx, ref, passkeyRegistration, tried))) return {};
        }
        const webAuthNId = deps.newId();
        const challenge = await challenges.open(tx, ref, {
          id: webAuthNId,
          domain,
          userVerification: "preferred",
          purpose: isConditional ? "preparation" : "registration",
        });
        const rows = await authenticators.ofKind(ref, "web_authn");
        const creation = await creationOptions(
          { challenge, domain },
          {
            userHandle: userHandle(ref),
            name: state.username,
            displayName: displayNameOf(state.data) || state.username,
            attachment: attachments[authenticatorType],
            // One that a browser made by itself may be replaced by one that its owner asks for.
            exclude: rows
              .filter(({ isVerified }) => isVerified)
              .map(toCredential)
              .filter((one) => one.domain === domain),
            isConditional,
          },
        );
        return { webAuthNId, options: creation };
      });
      if (options === undefined) throw codeInvalid("registration.code.code");
      return { ...begun, publicKeyCredentialCreationOptions: options };
    },

    async verifyWebAuthNRegistration({ id, webAuthNId, verify }, scope) {
      const { publicKeyCredential, webAuthNName: name } = verify ?? {};
      if (publicKeyCredential === undefined || name === undefined) {
        throw new Error("validation requires the credential");
      }
      const made = { webAuthNId, name, credential: publicKeyCredential };
      return change(scope, id, (one) => addCredential(credentials, one, made));
    },
  } satisfies Partial<Handlers<typeof UserService>>;
}
