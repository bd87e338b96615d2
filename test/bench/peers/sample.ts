import type { MessageInitShape } from "@bufbuild/protobuf";
import { OwnerType } from "#gen/idsvc/object/v3alpha/object_pb.ts";
import type { GetTargetSchema } from "#gen/idsvc/resources/action/v3alpha/target_pb.ts";
import type { DetailsSchema } from "#gen/idsvc/resources/object/v3alpha/object_pb.ts";

/** What every peer answers, of the shape and size that the service answers. */
export const sampleDetails = (id: string): MessageInitShape<typeof DetailsSchema> => ({
  id,
  sequence: 20n,
  changeDate: { seconds: 1_793_000_000n, nanos: 123_000_000 },
  resourceOwner: { type: OwnerType.INSTANCE, id: "128000000000000000" },
});

export const sampleTarget = (id: string): MessageInitShape<typeof GetTargetSchema> => ({
  details: sampleDetails(id),
  target: {
    name: "the target of the bench",
    timeout: { seconds: 10n, nanos: 0 },
    targetType: { case: "restWebhook", value: { url: "https://hooks.example.com/audit" } },
    executionType: { case: "interruptOnError", value: true },
  },
});
