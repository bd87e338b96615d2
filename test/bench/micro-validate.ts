// Row 19, a process of its own: validation of one request as the service does it, beside protovalidate and checks by hand.
import assert from "node:assert/strict";
import { create, createRegistry, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { file_idsvc_options_v1_options } from "#gen/idsvc/options/v1/options_pb.ts";
import {
  type CreateTargetRequest,
  CreateTargetRequestSchema,
  GetTargetRequestSchema,
} from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import { requireValid } from "../../src/api/validation.ts";
import { cpuMs, microRounds, microTiming, printRates } from "./micro.ts";

const batch = 1_000;
const validator = createValidator({ registry: createRegistry(file_idsvc_options_v1_options) });

const getRequest = create(GetTargetRequestSchema, { id: "128000000000000001" });
const createRequest = create(CreateTargetRequestSchema, {
  target: {
    name: "the target of the bench",
    targetType: { case: "restWebhook", value: { url: "https://hooks.example.com/audit" } },
    timeout: { seconds: 10n, nanos: 0 },
    executionType: { case: "interruptOnError", value: true },
  },
});

const isText = (text: string, longest: number) => text.length > 0 && text.length <= longest;

function createByHand({ target }: CreateTargetRequest): boolean {
  if (target === undefined || !isText(target.name, 200) || target.name.trim() !== target.name) {
    return false;
  }
  const { targetType, timeout } = target;
  if (targetType.case === undefined || !isText(targetType.value.url, 1000)) return false;
  if (!/^https?:\/\//i.test(targetType.value.url) || !URL.canParse(targetType.value.url)) {
    return false;
  }
  if (timeout === undefined) return true;
  const nanos = timeout.seconds * 1_000_000_000n + BigInt(timeout.nanos);
  return nanos > 0n && nanos <= 270_000_000_000n;
}

function worksOf<D extends DescMessage>(
  id: string,
  type: D,
  valid: MessageShape<D>,
  byHand: (message: MessageShape<D>) => boolean,
) {
  const check = requireValid(() => validator, type);
  const times = (run: (message: MessageShape<D>) => unknown) => ({
    count: batch,
    run: () => {
      for (let at = 0; at < batch; at++) run(valid);
    },
  });
  void check(valid);
  assert.throws(() => check(create(type)), "an empty request is not valid");
  assert.ok(byHand(valid));
  return {
    [id]: times(check),
    [`protovalidate ${id}`]: times((message) => validator.validate(type, message)),
    [`by hand ${id}`]: times(() => byHand(valid)),
  };
}

printRates(
  await microRounds(
    {
      ...worksOf("validate-get", GetTargetRequestSchema, getRequest, ({ id }) => isText(id, 200)),
      ...worksOf("validate-create", CreateTargetRequestSchema, createRequest, createByHand),
    },
    microTiming(),
    cpuMs,
  ),
);
