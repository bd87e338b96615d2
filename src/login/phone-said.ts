import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SetPhoneSchema } from "#gen/idsvc/resources/user/v3alpha/contact_pb.ts";
import type { ExternalIdentity } from "../federation/index.ts";
import { storedPhoneNumber } from "../resources/user/index.ts";

/**
 * The number that a provider says, as far as it is news. What the provider does not prove stays unproven: nothing is sent to
 * it, as whoever has an account there could have messages sent at our cost; and it takes no proven number away.
 *
 * @param known the number that the user has
 */
export function phoneSaid(
  { phone, isPhoneVerified = false }: Pick<ExternalIdentity, "phone" | "isPhoneVerified">,
  known: { number: string; isVerified: boolean } | undefined,
): MessageInitShape<typeof SetPhoneSchema> | undefined {
  const number = phone === undefined ? undefined : storedPhoneNumber(phone);
  if (number === undefined) return undefined;
  if (isPhoneVerified) {
    const isKnown = known?.number === number && known.isVerified;
    return isKnown ? undefined : { number, verification: { case: "isVerified", value: true } };
  }
  if (known?.isVerified === true || known?.number === number) return undefined;
  // The code is told to nobody: a new one is asked for by whoever wants to prove the number.
  return { number, verification: { case: "returnCode", value: {} } };
}
