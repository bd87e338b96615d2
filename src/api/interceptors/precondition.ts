import type { DescMethod } from "@bufbuild/protobuf";
import { invalidField } from "../../errors.ts";
import type { Call, InterceptorFactory } from "../call.ts";
import { takesSequence } from "../expected-sequence.ts";
import { restBindings } from "../transcode/body.ts";

const header = "if-match";
const tag = /^"([0-9]{1,20})"$/;

/**
 * Notes which sequence the object must be at for the call to change it: the field `expected_sequence`, or the header `If-Match` with
 * the sequence as a strong entity tag. `*` expects nothing but the object, as every change does. A method that cannot obey the
 * header refuses it, unless it only reads.
 *
 * Source: RFC 9110 section 13.1.1.
 * @throws INVALID_ARGUMENT IF_MATCH_INVALID, IF_MATCH_UNSUPPORTED
 */
export const precondition = (): InterceptorFactory => (rule) => {
  if (!takesSequence(rule.method)) return onlyReads(rule.method) ? undefined : { check: refuse };
  return {
    check(call) {
      // Only called for messages whose descriptor has the field.
      const { expectedSequence } = call.request as { expectedSequence?: bigint };
      call.expectedSequence = expectedSequence;
      const sent = call.headers.get(header);
      if (sent === undefined || sent === "*") return;
      const [, sequence] = tag.exec(sent) ?? [];
      if (sequence === undefined) throw invalid('must be one sequence in quotes, as "42", or *');
      const expected = BigInt(sequence);
      if (expectedSequence !== undefined && expectedSequence !== expected) {
        throw invalid("names another sequence than the field expected_sequence");
      }
      call.expectedSequence = expected;
    },
  };
};

const onlyReads = (method: DescMethod): boolean =>
  restBindings(method).some(({ httpMethod }) => httpMethod === "GET");

function refuse({ headers }: Call): void {
  if (headers.get(header) === undefined) return;
  const problem = "this method changes no object at a sequence: leave the header out";
  throw invalidField(header, "IF_MATCH_UNSUPPORTED", problem);
}

const invalid = (problem: string) => invalidField(header, "IF_MATCH_INVALID", problem);
