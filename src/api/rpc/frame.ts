import { bodyTooLarge } from "../refusals.ts";
import { invalidArgument, unimplemented } from "../../errors.ts";

const headLength = 5;
const compressedFlag = 1;

/** The bytes a framed message may be longer than the message: its head. */
export const frameOverhead = headLength;

/** Puts a message, or with `flag` 0x80 the trailers of gRPC-Web, into a frame. */
export function frame(message: Uint8Array, flag = 0): Uint8Array {
  const framed = Buffer.allocUnsafe(headLength + message.length);
  framed[0] = flag;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, headLength);
  return framed;
}

/**
 * The one message of a unary request.
 *
 * @throws FRAME_MALFORMED when the body is not exactly one whole frame
 */
export function unframe(
  body: Uint8Array,
  limit: number,
): { message: Uint8Array; compressed: boolean } {
  if (body.length < headLength) {
    throw body.length === 0
      ? unimplemented("FRAME_MISSING", "a unary call needs one request message")
      : invalidArgument("FRAME_MALFORMED", "the request ends within the head of its frame");
  }
  const view = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const flag = view[0] ?? 0;
  const length = view.readUInt32BE(1);
  if (flag > compressedFlag) {
    throw invalidArgument("FRAME_MALFORMED", `a message frame has flag 0 or 1, this one ${flag}`);
  }
  if (length > limit) {
    throw bodyTooLarge("request message", limit);
  }
  const end = headLength + length;
  if (end > body.length) {
    throw invalidArgument("FRAME_MALFORMED", "the request ends within its message");
  }
  if (end < body.length) {
    throw unimplemented("FRAME_EXTRA", "a unary call takes one request message, more were sent");
  }
  return { message: body.subarray(headLength, end), compressed: flag === compressedFlag };
}
