import { WebAuthNAuthenticatorType } from "#gen/idsvc/resources/user/v3alpha/authenticator_pb.ts";
import type { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { writeContext } from "../../../authz/context.ts";
import type { Handlers } from "../../../authz/service.ts";
import { loginSettingsReader } from "../../../settings/login/index.ts";
import { toDetails } from "../../object/details.ts";
import { requireHeld, requireRoom } from "../authenticator/authenticators.ts";
import { passkeyRegistration } from "../code-kinds.ts";
import { codeInvalid } from "../codes.ts";
import { requireContact } from "../contact.ts";
import type { Credentials } from "../credentials.ts";
import { userEvents } from "../events.ts";
import { requirePerson } from "../person.ts";
import { displayNameOf } from "../user-data.ts";
import { user, userNotFound } from "../user.ts";
import { requireVouching } from "../vouch.ts";
import { invitePasskey } from "./invitation.ts";
import { type AuthenticatorAttachment, creationOptions } from "./ceremony.ts";
import { requirePreparable } from "./prepared.ts";
import { addCredential } from "./new-credential.ts";
import { toCredential } from "./stored.ts";
import { userHandle } from "./web-authn.ts";

export type WebAuthNMethods =
  | "startWebAuthNRegistration"
  | "verifyWebAuthNRegistration"
  | "createWebAuthNRegistrationLink"
  | "renameWebAuthNAuthenticator"
  | "removeWebAuthNAuthenticator";

const attachments: Record<number, AuthenticatorAttachment> = {
  [WebAuthNAuthenticatorType.PLATFORM]: "platform",
  [WebAuthNAuthenticatorType.CROSS_PLATFORM]: "cross-platform",
};

export function webAuthNHandlers(
  credentials: Credentials,
): Pick<Handlers<typeof UserService>, WebAuthNMethods> {
  const { deps, codes, authenticators } = credentials;
  const { events, newId } = deps;

  return {
    ...registrationHandlers(credentials),

    async createWebAuthNRegistrationLink({ id, delivery }, scope) {
      const [written, code] = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        requirePerson(loaded.state);
        const isReturned = delivery?.delivery.case === "returnCode";
        const urlTemplate =
          delivery?.delivery.case === "sendLink" ? delivery.delivery.value.urlTemplate : undefined;
        if (!isReturned) requireContact(loaded.state, "email");
        else requireVouching(scope, { ...loaded.state, userId: id });
        const made = await invitePasskey({ codes, newId }, tx, loaded, {
          instanceId: scope.instanceId,
          delivery: isReturned ? "returned" : { channel: "email", urlTemplate },
        });
        return [tx.written(loaded), made && { id: made.codeId, code: made.code }];
      });
      return { details: toDetails(written()), ...(code === undefined ? {} : { code }) };
    },

    async renameWebAuthNAuthenticator({ id, webAuthNId, webAuthNName: name }, scope) {
      const written = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        if (loaded.state === undefined) throw userNotFound();
        const { isPasskey } = requireHeld(loaded.state.authenticators, "web_authn", webAuthNId);
        const of = { instanceId: scope.instanceId, userId: id };
        const rows = await authenticators.ofKind(of, "web_authn");
        const isSame = rows.some((row) => row.id === webAuthNId && row.label === name);
        const renamed = isPasskey
          ? userEvents["human.passwordless.token.renamed"]({ webAuthNId, name })
          : userEvents["human.mfa.u2f.token.renamed"]({ webAuthNId, name });
        tx.record(user, loaded, isSame ? [] : [renamed]);
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },

    async removeWebAuthNAuthenticator({ id, webAuthNId }, scope) {
      const written = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        if (loaded.state === undefined) throw userNotFound();
        const { authenticators: all } = loaded.state;
        const { address: credentialId, isPasskey } = requireHeld(all, "web_authn", webAuthNId);
        const lost = { webAuthNId, credentialId };
        tx.record(user, loaded, [
          isPasskey
            ? userEvents["human.passwordless.token.removed"](lost)
            : userEvents["human.mfa.u2f.token.removed"](lost),
        ]);
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },
  };
}

/** The two steps in which a browser registers an authenticator. */
function registrationHandlers(
  credentials: Credentials,
): Pick<Handlers<typeof UserService>, "startWebAuthNRegistration" | "verifyWebAuthNRegistration"> {
  const { deps, codes, authenticators, challenges, requireDomain } = credentials;
  const { events, newId } = deps;
  const loginOf = loginSettingsReader(deps.db);

  return {
    async startWebAuthNRegistration({ id, registration }, scope) {
      if (registration === undefined) throw new Error("validation requires the registration");
      const { authenticatorType, code: given, conditional: isConditional } = registration;
      const at = { instanceId: scope.instanceId, userId: id };
      const domain = await requireDomain(at.instanceId, registration.domain, "registration.domain");
      const begun = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        const { state } = loaded;
        requirePerson(state);
        requireRoom(state.authenticators, "web_authn");
        if (isConditional) {
          const policy = await loginOf(at.instanceId, state.organizationId);
          requirePreparable(policy, state.authenticators);
        }
        if (given !== undefined) {
          const tried = { code: given.code, subject: given.id };
          if (!(await codes.spend(tx, at, passkeyRegistration, tried))) return undefined;
        }
        const webAuthNId = newId();
        const challenge = await challenges.open(tx, at, {
          id: webAuthNId,
          domain,
          userVerification: "preferred",
          purpose: isConditional ? "preparation" : "registration",
        });
        const rows = await authenticators.ofKind(at, "web_authn");
        const options = await creationOptions(
          { challenge, domain },
          {
            userHandle: userHandle(at),
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
        return { written: tx.written(loaded), webAuthNId, options };
      });
      if (begun === undefined) throw codeInvalid("registration.code.code");
      const { written, webAuthNId, options: publicKeyCredentialCreationOptions } = begun;
      return { details: toDetails(written()), webAuthNId, publicKeyCredentialCreationOptions };
    },

    async verifyWebAuthNRegistration({ id, webAuthNId, verify }, scope) {
      const { publicKeyCredential, webAuthNName: name } = verify ?? {};
      if (publicKeyCredential === undefined || name === undefined) {
        throw new Error("validation requires the credential");
      }
      const made = { webAuthNId, name, credential: publicKeyCredential };
      const written = await events.transact(writeContext(scope), async (tx) => {
        const loaded = await tx.load(user, id);
        await addCredential(credentials, tx, loaded, made);
        return tx.written(loaded);
      });
      return { details: toDetails(written()) };
    },
  };
}
