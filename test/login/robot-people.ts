import type { JsonObject } from "@bufbuild/protobuf";
import { Authenticator } from "../support/authenticator.ts";
import { addPersonNamed, password } from "../support/login.ts";
import type { LoginPages } from "../support/login-pages.ts";
import type { OidcPeer } from "../support/oidc.ts";
import { bodyOf, uniqueName } from "../support/peer.ts";
import type { Shown } from "../support/user-agent.ts";
import { codesOf } from "./people.ts";
import type { Played } from "./robot-actions.ts";

export const freshAddress = () => `${uniqueName("robot").replaceAll(" ", "")}@example.test`;

/** Somebody whom the robot plays, as the service knows them. */
export type Known = Played & { id: string; loginName: string; address: string };

/** What somebody types, beside what everybody does. */
type Typed = {
  /** Where messages reach them. */
  addresses?: string[];
  /** The code that a page asks for, where it is none that was sent. */
  codeAt?: (page: Shown) => string;
  /** Their passkeys. */
  keys?: Authenticator[];
};

export type Play = (loginName: string, typed?: Typed) => Played;

/** Makes somebody whom the robot plays, who types what a field asks for. */
export function playing(peer: OidcPeer, codeSentTo: LoginPages["codeSentTo"]): Play {
  /** The code of the app that a page sets up. */
  function codeOfSetup({ html }: Shown): string {
    const secret = [...html.matchAll(/<span>([A-Z2-7]{1,4})<\/span>/g)].map(([, part]) => part);
    return secret.length === 0 ? "" : codesOf(peer, secret.join(""))();
  }

  return (loginName, { addresses = [], codeAt = () => "", keys = [] } = {}) => {
    const freshSent = () => {
      const address = freshAddress();
      addresses.push(address);
      return address;
    };
    const freshNumber = () => {
      const number = newNumber();
      addresses.push(number);
      return number;
    };
    return {
      values: {
        login_name: () => loginName,
        password: () => password,
        current_password: () => password,
        name: () => "A key",
        address: freshSent,
        number: freshNumber,
        // What was forgotten is remembered; what must be changed is another one.
        new_password: ({ url }) =>
          url.pathname === "/ui/login/password/change" ? "another horse battery staple" : password,
        given_name: () => "Ada",
        family_name: () => "King",
        email: freshSent,
        code: (page) => codeOfSetup(page) || codeAt(page) || codeSentTo(addresses),
      },
      credential(kind, options) {
        const manner = { page: { origin: new URL(peer.issuer).origin } };
        if (kind === "create") {
          const made = new Authenticator();
          keys.push(made);
          return made.create(options, manner);
        }
        return (keys.at(-1) ?? new Authenticator()).get(options, manner);
      },
    };
  };
}

export const factors = ["passkey", "totp", "email", "sms", "recovery"] as const;
export type Factor = (typeof factors)[number];

/** Somebody with a password and these factors, whose address is proven. */
export async function personWith(
  peer: OidcPeer,
  play: Play,
  held: readonly Factor[],
): Promise<Known> {
  const address = freshAddress();
  const contact = { email: { address, is_verified: true } };
  const { id, loginName } = await addPersonNamed(peer, { contact });
  const addresses = [address];
  const keys: Authenticator[] = [];
  const post = async (path: string, body?: JsonObject | string) =>
    bodyOf(await peer.post(`/users/${id}/${path}`, body));
  let next = () => "";
  let codes: string[] = [];
  for (const factor of held) {
    if (factor === "passkey") keys.push(await addPasskey(peer, id));
    if (factor === "totp") {
      const { secret, totp_id } = await post("totp");
      next = codesOf(peer, secret);
      await post(`totp/${totp_id}/_verify`, next());
    }
    if (factor === "email") await post("otp_email", { address, is_verified: true });
    if (factor === "sms") {
      const number = newNumber();
      await post("otp_sms", { number, is_verified: true });
      addresses.push(number);
    }
    if (factor === "recovery") codes = [...(await post("recovery_codes")).recovery_codes];
  }
  const codeAt = ({ url }: Shown) => {
    if (url.pathname === "/ui/login/mfa/recovery") return codes.shift() ?? "";
    return /\/(?:totp|authenticator)$/.test(url.pathname) ? next() : "";
  };
  return { ...play(loginName, { addresses, codeAt, keys }), id, loginName, address };
}

async function addPasskey(peer: OidcPeer, id: string): Promise<Authenticator> {
  const { hostname, origin } = new URL(peer.issuer);
  const begun = bodyOf(await peer.post(`/users/${id}/webauthn`, { domain: hostname }));
  const options: JsonObject = begun.public_key_credential_creation_options;
  const key = new Authenticator();
  const public_key_credential = key.create(options, { page: { origin } });
  const verify = { public_key_credential, web_auth_n_name: "A key" };
  bodyOf(await peer.post(`/users/${id}/webauthn/${begun.web_auth_n_id}/_verify`, verify));
  return key;
}

let numbers = 0;
const newNumber = () => {
  numbers += 1;
  return `+41791${String(numbers).padStart(6, "0")}`;
};
