import { createHash } from "node:crypto";
import { claims, events, sequences, storeFacts } from "../kernel-tables.ts";
import { appendBatches, commitCounters, commitParts, toldBatches } from "./ddl.ts";

/** The fact that changes whenever a projection gets another shape, or is new. */
export const projectionsName = "projections";
/** What is raised where projections are not those that the caller writes. */
export const overtakenState = "IDC03";

/**
 * Appends a batch of units in one round trip and one transaction.
 *
 * `batch` is the key under which the outcome is kept. `shapes` are the statements of the row changes. `work` is
 * `[[instance, [unit, ...], parts], ...]`, ordered by instance; `parts` are what they change, for other replicas; a unit is `{x: expectations, c: claims, e: events, t: time,
 * r: changes}`. `projections` is the version of the projections that the caller writes, or null: at another one nothing is
 * written. The answer is `[[commits before, [result, ...]], ...]`: a first sequence, or what stood in the way.
 *
 * The counter row of an instance is its lock: it is taken before anything of the instance is read, so units of an
 * instance follow one another over all replicas, and sequence order is commit order. Instances are locked in order.
 * Each unit is a subtransaction: one that fails leaves nothing and the others alone.
 */
const body = `
DECLARE
  part jsonb; unit jsonb; item jsonb; results jsonb; answer jsonb := '[]';
  instance text; counter bigint; head bigint; first bigint; moment bigint; units int; found_rows bigint; place bigint;
  failed_state text; failed_message text; failed_table text; is_current boolean := projections IS NULL;
BEGIN
  FOR part IN SELECT value FROM jsonb_array_elements(work) LOOP
    instance := part->>0;
    units := jsonb_array_length(part->1);
    INSERT INTO ${commitCounters} AS c VALUES (instance, units)
      ON CONFLICT (instance_id) DO UPDATE SET commits = c.commits + excluded.commits
      RETURNING commits INTO counter;
    -- From here on nobody swaps projections before this transaction ends.
    IF NOT is_current THEN
      SELECT encode(value, 'escape') INTO failed_message FROM ${storeFacts.name} WHERE name = '${projectionsName}';
      IF coalesce(failed_message, '') <> projections THEN
        RAISE EXCEPTION USING ERRCODE = '${overtakenState}', MESSAGE = 'projections have changed';
      END IF;
      is_current := true;
    END IF;
    SELECT last, changed_at INTO head, moment FROM ${sequences.name} WHERE instance_id = instance;
    head := coalesce(head, 0);
    first := head;
    results := '[]';
    FOR unit IN SELECT value FROM jsonb_array_elements(part->1) LOOP
      place := head;
      BEGIN
        FOR item IN SELECT value FROM jsonb_array_elements(unit->'x') LOOP
          IF item->>0 = 's' THEN
            -- Not max(): while a table has no statistics that is planned over the whole log of the instance.
            SELECT aggregate_version INTO found_rows FROM ${events.name}
              WHERE instance_id = instance AND aggregate_type = item->>1 AND aggregate_id = item->>2
              ORDER BY aggregate_version DESC LIMIT 1;
          ELSE
            EXECUTE shapes[(item->>1)::int] INTO found_rows USING NULL::jsonb, item->2;
          END IF;
          IF coalesce(found_rows, 0) <> (item->>3)::bigint THEN
            RAISE EXCEPTION USING ERRCODE = 'IDC01', MESSAGE = coalesce(item->>4, 'rows have changed');
          END IF;
        END LOOP;
        FOR item IN SELECT value FROM jsonb_array_elements(unit->'c') LOOP
          IF item->>0 <> 'add' THEN
            -- The kind is hidden from the planner: it would take the key, and read all claims of the kind.
            DELETE FROM ${claims.name} WHERE scope = item->>1 AND holder_type = item->>4 AND holder_id = item->>5
              AND kind || '' = item->>2 AND (item->>0 = 'hold' OR item->>3 IS NULL OR value = item->>3);
          END IF;
          IF item->>0 <> 'release' THEN
            INSERT INTO ${claims.name} (scope, kind, value, holder_type, holder_id)
              VALUES (item->>1, item->>2, item->>3, item->>4, item->>5) ON CONFLICT DO NOTHING;
            IF NOT FOUND THEN
              RAISE EXCEPTION USING ERRCODE = 'IDC02', MESSAGE = item->>2;
            END IF;
          END IF;
        END LOOP;
        INSERT INTO ${events.name} (instance_id, sequence, aggregate_type, aggregate_id, aggregate_version, type,
            revision, payload, owner_type, owner_id, editor_id, service, client_id, request_id, created_at,
            origin_id)
          SELECT instance, place + e.ordinality, v->>0, v->>1, (v->>2)::bigint, v->>3, (v->>4)::int,
            NULLIF(v->5, 'null'), v->>6, v->>7, v->>8, v->>9, v->>10, v->>11, (v->>12)::bigint,
            v->>13
          FROM jsonb_array_elements(unit->'e') WITH ORDINALITY AS e(v);
        GET DIAGNOSTICS found_rows = ROW_COUNT;
        FOR item IN SELECT value FROM jsonb_array_elements(unit->'r') LOOP
          EXECUTE shapes[(item->>0)::int] USING item->1, item->2, place + 1::bigint;
        END LOOP;
        results := results || to_jsonb(CASE WHEN found_rows = 0 THEN 0 ELSE place + 1 END);
        IF found_rows > 0 THEN
          head := place + found_rows;
          moment := greatest(moment, (unit->>'t')::bigint);
        END IF;
      EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS failed_state = RETURNED_SQLSTATE, failed_message = MESSAGE_TEXT,
          failed_table = TABLE_NAME;
        -- What is wrong with the server or the moment is wrong for all units: the batch fails whole.
        IF failed_state ~ '^(08|25|40|53|54|55|57|58|XX)' THEN
          RAISE;
        END IF;
        results := results || jsonb_build_array(jsonb_build_array(failed_state, failed_message, failed_table));
      END;
    END LOOP;
    IF head > first THEN
      INSERT INTO ${sequences.name} (instance_id, last, changed_at) VALUES (instance, head, moment)
        ON CONFLICT (instance_id) DO UPDATE SET last = excluded.last, changed_at = excluded.changed_at;
    END IF;
    INSERT INTO ${commitParts} AS p VALUES (instance, counter % ${toldBatches}, counter, units, NULLIF(part->2, 'null'))
      ON CONFLICT (instance_id, slot) DO UPDATE
        SET commits = excluded.commits, units = excluded.units, parts = excluded.parts;
    answer := answer || jsonb_build_array(jsonb_build_array(counter - units, results));
  END LOOP;
  -- Whoever has lost sight of this batch makes this row himself: then the batch can never commit.
  INSERT INTO ${appendBatches} (key, results) VALUES (batch, answer);
  RETURN answer;
END`;

/** Applies row changes of a replay, whose sequences are numbers. */
const replayBody = `
DECLARE item jsonb;
BEGIN
  FOR item IN SELECT value FROM jsonb_array_elements(work) LOOP
    EXECUTE shapes[(item->>0)::int] USING item->1, item->2, 0::bigint;
  END LOOP;
END`;

// Each build calls its own: replicas of two builds append side by side while one replaces the other.
const named = (name: string, text: string): string =>
  `idsvc_${name}_${createHash("sha256").update(text).digest("hex").slice(0, 12)}`;

export const appendFunction = named("append", body);
export const replayFunction = named("replay", replayBody);

// Plans are kept, and the first are made while tables are empty and a scan looks cheapest.
const planning = "SET enable_seqscan = off";

/** The functions by name, with the statements that make them. */
export const functions: readonly [name: string, create: string][] = [
  [
    appendFunction,
    `CREATE OR REPLACE FUNCTION ${appendFunction}(batch uuid, shapes text[], work jsonb, projections text)
       RETURNS jsonb LANGUAGE plpgsql ${planning} AS $function$${body}$function$`,
  ],
  [
    replayFunction,
    `CREATE OR REPLACE FUNCTION ${replayFunction}(shapes text[], work jsonb)
       RETURNS void LANGUAGE plpgsql ${planning} AS $function$${replayBody}$function$`,
  ],
];

/** Of a result that is a refusal, the first member. */
export const conflictStates = ["IDC01", "23505"];
export const claimTakenState = "IDC02";
