import { ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "#gen/google/rpc/error_details_pb.ts";

/**
 * Why a call was refused: the stable word of the refusal, such as `TARGET_NOT_FOUND`.
 *
 * Undefined when the error did not come from the service: a lost connection, or a proxy on the way.
 */
export function errorReason(error: unknown): string | undefined {
  if (!(error instanceof ConnectError)) return undefined;
  return error.findDetails(ErrorInfoSchema)[0]?.reason;
}
