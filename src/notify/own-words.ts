import { isServiceEditor } from "../authz/context.ts";
import { coversUser } from "../authz/holds.ts";
import { permissionsFrom } from "../authz/permissions.ts";
import type { PowerReader } from "../authz/ports.ts";
import type { Deps } from "../projection/module.ts";
import { user } from "../resources/user/index.ts";
import { setTextsReader } from "../settings/policy/text.ts";
import type { Language } from "../texts/languages.ts";
import type { OwnTexts } from "../texts/texts.ts";

/**
 * The words that an organization and its instance have set for what a user is told: those alone whose setter covers the user
 * now, or nobody of less power would write to them in the name of the service, beside a code of theirs (J9). Where a
 * setter does not, the instance's words count, and else the shipped ones.
 */
export function ownWords({ db, events }: Pick<Deps, "db" | "events">, powers: PowerReader) {
  const setTexts = setTextsReader(db);

  /** As of a hold whose maker is gone: nobody is there who would cover anything. */
  async function covers(instanceId: string, setterId: string, userId: string): Promise<boolean> {
    const power = await powers.ofUser(instanceId, userId);
    if (power.memberships.length === 0 && power.grants.length === 0) return true;
    // An older store may have had a user who was called like the service.
    const isService =
      isServiceEditor(setterId) && (await events.load(user, instanceId, setterId)).version === 0n;
    if (isService || setterId === userId) return true;
    const { memberships } = await powers.ofUser(instanceId, setterId);
    return coversUser(permissionsFrom(memberships), power);
  }

  return async (
    at: { instanceId: string; organizationId: string },
    language: Language,
    userId: string | undefined,
  ): Promise<OwnTexts> => {
    const words = new Map<string, string>();
    const judged = new Map<string, boolean>();
    for (const { key, value, setterId } of await setTexts(at, language)) {
      if (words.has(key)) continue;
      const known =
        judged.get(setterId) ??
        (userId === undefined || (await covers(at.instanceId, setterId, userId)));
      judged.set(setterId, known);
      if (known) words.set(key, value);
    }
    return words;
  };
}
