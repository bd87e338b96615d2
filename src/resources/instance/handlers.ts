import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type GetInstanceSchema,
  InstanceState,
  type SetInstanceLimits,
  type SetLimits,
  type UsageSchema,
} from "#gen/idsvc/resources/instance/v3alpha/instance_pb.ts";
import type { InstanceService } from "#gen/idsvc/resources/instance/v3alpha/instance_service_pb.ts";
import { type Scope, writeContext } from "../../authz/context.ts";
import type { Handlers } from "../../authz/service.ts";
import { invalidField } from "../../errors.ts";
import { decideOn, execute, type Transaction } from "../../eventstore/transaction.ts";
import type { Deps } from "../../projection/module.ts";
import { toDetails } from "../object/details.ts";
import { answering } from "../object/plain.ts";
import { toDuration, toMs } from "../object/duration.ts";
import { listing } from "../object/queries.ts";
import { removeContentsLater } from "./contents.ts";
import { instance, limits, patchInstance, removeInstance, setLimits } from "./instance.ts";
import { fromQuotas, toQuotas, toUsage } from "./quota/convert.ts";
import { type InstanceUsage, usageReader } from "./quota/usage.ts";
import { instanceQueries, type WholeInstance } from "./queries.ts";

const systemLog = "system";
const systemOwner = { type: "system", id: "" } as const;

/** What instances ask of the service, beside what every slice may use. */
export type InstancePorts = {
  /** Of the running service. */
  version: string;
  /** How many objects an instance has that quotas limit. */
  countObjects: (instanceId: string) => Promise<Pick<InstanceUsage, "users" | "organizations">>;
};

export function instanceHandlers(
  deps: Deps & InstancePorts,
): Omit<Handlers<typeof InstanceService>, "createInstance"> {
  const { events, secrets, newId, version } = deps;
  const queries = instanceQueries(deps);
  const usage = usageReader(deps);

  return {
    async patchInstance({ id, instance: patch }, scope) {
      const at = writeContext(scope, id);
      const written = await execute(events.transact, at, instance, { id }, (state) =>
        patchInstance(state, patch?.name),
      );
      return { details: toDetails(written) };
    },

    async deleteInstance({ id }, scope) {
      return answering(deps)(writeContext(scope, id), async (tx) => {
        const loaded = await decideOn(tx, instance, id, removeInstance);
        // Its keys go with it: what it sealed, personal fields of all its users included, is never read again.
        tx.write(secrets.removeInstance(id));
        removeContentsLater(tx, newId());
        return { written: tx.written(loaded) };
      });
    },

    getInstance: async ({ id }) => ({ instance: await told(id) }),
    getOwnInstance: async (_, { instanceId }) => ({ instance: await told(instanceId) }),

    searchInstances: listing(queries.search, (found) => toGetInstance(found, version)),

    async limitInstance({ id, limits: wanted }, scope) {
      if (wanted === undefined) throw new Error("validation requires the limits");
      const [details] = await limitAll(scope, [{ id, wanted }]);
      return details === undefined ? {} : { details };
    },

    async bulkLimitInstances({ limits: wanted }, scope) {
      const seen = new Set<string>();
      for (const [at, { id }] of wanted.entries()) {
        if (seen.has(id)) {
          throw invalidField(
            `limits[${at}].id`,
            "INSTANCE_REPEATED",
            "the instance is named twice: give each of its limits once",
          );
        }
        seen.add(id);
      }
      const all = wanted.map((each) => ({ id: each.id, wanted: each }));
      return { details: await limitAll(scope, all) };
    },
  };

  async function told(id: string) {
    return toGetInstance(await queries.get(id), version, toUsage(await usage(id)));
  }

  // One unit in the log of the system: all of them or none.
  async function limitAll(
    scope: Scope,
    all: { id: string; wanted: SetLimits | SetInstanceLimits }[],
  ) {
    const written = await events.transact(writeContext(scope, systemLog), async (tx) => {
      const done = [];
      for (const { id, wanted } of all) done.push(await limit(tx, id, wanted));
      return done;
    });
    return written.map((each) => toDetails(each()));
  }

  async function limit(tx: Transaction, id: string, wanted: SetLimits | SetInstanceLimits) {
    await queries.get(id);
    const loaded = await tx.load(limits, id);
    const { block, auditLogRetention, resetAuditLogRetention = false, quotas } = wanted;
    const changes = setLimits(loaded.state, {
      block,
      auditLogRetentionMs: resetAuditLogRetention
        ? null
        : auditLogRetention && toMs(auditLogRetention),
      quotas: quotas && fromQuotas(quotas),
    });
    tx.record(limits, loaded, changes, systemOwner);
    // Setting what was never otherwise succeeds, and there is no event to tell of.
    return loaded.last === undefined && changes.length === 0
      ? () => ({ id, sequence: 0n, changeDate: tx.now, owner: systemOwner })
      : tx.written(loaded);
  }
}

function toGetInstance(
  { row, domains, limits: limited }: WholeInstance,
  version: string,
  usage?: MessageInitShape<typeof UsageSchema>,
): MessageInitShape<typeof GetInstanceSchema> {
  const retention = limited?.auditLogRetentionMs;
  const quotas = limited?.quotas ?? undefined;
  const block = limited?.block ?? false;
  return {
    details: toDetails({ ...row, owner: systemOwner }),
    state: block ? InstanceState.STOPPED : InstanceState.RUNNING,
    instance: {
      name: row.name,
      domains,
      defaultOrganizationId: row.defaultOrganizationId,
      limits: {
        block,
        ...(retention === undefined || retention === null
          ? {}
          : { auditLogRetention: toDuration(Number(retention)) }),
        ...(quotas && { quotas: toQuotas(quotas) }),
      },
      version,
      ...(usage && { usage }),
    },
  };
}
