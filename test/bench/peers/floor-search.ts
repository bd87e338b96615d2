// The same page read and the same JSON behind a bare node:http handler: `floor-search.ts <file> <instance>`.
import http from "node:http";
import { create, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import Sqlite from "better-sqlite3";
import { OwnerType } from "#gen/idsvc/object/v3alpha/object_pb.ts";
import { SearchTargetsResponseSchema } from "#gen/idsvc/resources/action/v3alpha/action_service_pb.ts";
import type { GetTargetSchema } from "#gen/idsvc/resources/action/v3alpha/target_pb.ts";
import { host, port } from "./place.ts";

type TargetRow = [
  id: string,
  sequence: number,
  changed: number,
  name: string,
  url: string,
  timeoutMs: number,
  interrupt: number,
];

const [file = "", instance = ""] = process.argv.slice(2);
const db = new Sqlite(file, { readonly: true });
db.pragma("cache_size = -65536");
const columns = "id, sequence, change_date, name, url, timeout_ms, interrupt_on_error";
const order = "ORDER BY creation_date DESC, id DESC LIMIT ? OFFSET ?";
const named = "AND substr(name, 1, ?) = ?";
const page = db.prepare(`SELECT ${columns} FROM targets WHERE instance_id = ? ${order}`).raw();
const pageNamed = db
  .prepare(`SELECT ${columns} FROM targets WHERE instance_id = ? ${named} ${order}`)
  .raw();
const total = db
  .prepare("SELECT rows FROM row_counts WHERE table_name = 'targets' AND counted = ?")
  .pluck();
const totalNamed = db
  .prepare(`SELECT count(*) FROM targets WHERE instance_id = ? ${named}`)
  .pluck();
const head = db.prepare("SELECT last FROM sequences WHERE instance_id = ?").pluck();

const time = (ms: number) => ({
  seconds: BigInt(Math.floor(ms / 1000)),
  nanos: (ms % 1000) * 1e6,
});

function toTarget(row: TargetRow): MessageInitShape<typeof GetTargetSchema> {
  const [id, sequence, changed, name, url, timeoutMs, interrupt] = row;
  return {
    details: {
      id,
      sequence: BigInt(sequence),
      changeDate: time(changed),
      resourceOwner: { type: OwnerType.INSTANCE, id: instance },
    },
    target: {
      name,
      timeout: time(timeoutMs),
      targetType: { case: "restWebhook", value: { url } },
      executionType:
        interrupt === 1 ? { case: "interruptOnError", value: true } : { case: undefined },
    },
  };
}

function find(limit: number, offset: number, name: string) {
  const by = name === "" ? [instance] : [instance, name.length, name];
  const rows = (name === "" ? page : pageNamed).all(...by, limit, offset) as TargetRow[];
  const found = Number((name === "" ? total : totalNamed).get(...by));
  return create(SearchTargetsResponseSchema, {
    details: {
      appliedLimit: limit,
      endOfList: offset + rows.length >= found,
      totalResult: BigInt(found),
      processedSequence: BigInt(Number(head.get(instance))),
    },
    result: rows.map(toTarget),
  });
}

http
  .createServer((request, response) => {
    const query = new URL(request.url ?? "", "http://localhost").searchParams;
    const limit = Number(query.get("query.limit"));
    const found = find(limit, Number(query.get("query.offset")), query.get("name") ?? "");
    const json = toJsonString(SearchTargetsResponseSchema, found, {
      useProtoFieldName: true,
      alwaysEmitImplicit: true,
    });
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(json),
    });
    response.end(json);
  })
  .listen(port, host);
