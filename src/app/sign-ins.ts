import { SignInService } from "#gen/idsvc/resources/signin/v3alpha/sign_in_service_pb.ts";
import type { SignIns } from "../account/index.ts";

/** Where people are signed in, as the service of sign-ins answers them. */
export const signIns: SignIns = {
  async search({ call, user }, { limit, offset }) {
    const { result } = await call(SignInService.method.searchSignIns, {
      query: { limit, offset: BigInt(offset) },
      filters: [{ filter: { case: "userId", value: user.id } }],
    });
    return result.map(({ details, ...signIn }) => ({ ...signIn, id: details?.id ?? "" }));
  },
  end: ({ call }, id) => call(SignInService.method.deleteSignIn, { id }),
};
