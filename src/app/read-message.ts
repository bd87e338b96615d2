import type { DescMessage } from "@bufbuild/protobuf";
import { readMessage } from "../api/transcode/json.ts";
import { parseStrictJson } from "../api/transcode/strict-json.ts";
import { type Judge, requireValid } from "../api/validation.ts";
import type { ImportPorts } from "../management/index.ts";

/** Lets slices read what does not come as a request of its own, by the same reader and the same rules. */
export function messageReader(judge: Judge): ImportPorts {
  const checks = new Map<DescMessage, ReturnType<typeof requireValid>>();
  return {
    async readMessage(type, json) {
      const message = readMessage(type, parseStrictJson(json), { ignoreUnknownFields: true });
      let check = checks.get(type);
      if (check === undefined) checks.set(type, (check = requireValid(judge, type)));
      await check(message);
      return message;
    },
    // Where it fails, so does what asks for it next.
    loadJudge: () => void Promise.resolve(judge()).catch(() => undefined),
  };
}
