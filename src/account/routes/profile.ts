import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { UserService } from "#gen/idsvc/resources/user/v3alpha/user_service_pb.ts";
import { valueOf, type Route } from "../../login/route.ts";
import { allLanguages, isLanguage, languages } from "../../texts/languages.ts";
import { type AccountParts, type Own, ownRoute } from "../own.ts";
import { languageField, profileFields, profilePage } from "../pages/profile.ts";
import { accountPaths } from "../paths.ts";
import { tried } from "../problems.ts";

const names: readonly string[] = [...profileFields.map(({ name }) => name), languageField];
const builtIn = "human";

/** Names and language; of a schema of one's own what it has in common with the one that is built in, as far as it is filled in. */
export function profileRoute(parts: AccountParts): Route {
  async function known(own: Own) {
    const { user } = await own.call(UserService.method.getUser, { id: own.user.id });
    const data: JsonObject = user?.user?.data ?? {};
    const isBuiltIn = user?.user?.schema?.id === builtIn;
    const fields = names.filter((name) => isBuiltIn || typeof data[name] === "string");
    return { data, fields };
  }

  return ownRoute(parts, {
    path: accountPaths.profile,
    async get(own) {
      const { data, fields } = await known(own);
      const typed = (name: string) => own.context.form.get(name) ?? textOf(data[name]);
      const values = Object.fromEntries(fields.map((name) => [name, typed(name)]));
      const { instanceId } = own.context.at;
      const { organizationId } = own.user;
      const { allowed } = await parts.languagesOf({ instanceId, organizationId });
      const current = values[languageField] ?? "";
      const offered = (allowed.length === 0 ? allLanguages : allowed).filter(isLanguage);
      const options = offered.map((tag) => ({ value: tag, label: languages[tag], lang: tag }));
      const others = options.some(({ value }) => value === current)
        ? []
        : [{ value: current, label: current === "" ? "–" : current, lang: current || "en" }];
      const view = { fields, values, languages: [...others, ...options] };
      return own.show((page) => profilePage(page, view));
    },
    async post(own) {
      const { data: before, fields } = await known(own);
      const sent = fields.filter((name) => own.context.form.has(name));
      const changed = sent.filter((name) => valueOf(own.context, name) !== textOf(before[name]));
      const data = Object.fromEntries(
        changed.map((name) => [name, valueOf(own.context, name) || null]),
      );
      const problems = await tried(
        () => own.call(UserService.method.patchUser, { id: own.user.id, user: { data } }),
        names,
      );
      if (problems.length > 0) return own.context.again({ problems });
      const language = data[languageField];
      // The pages are in the language that was chosen from now on.
      const wished = typeof language === "string" ? { ui_locales: language } : {};
      return own.context.go(accountPaths.profile, { notice: "SAVED", ...wished });
    },
  });
}

const textOf = (value: JsonValue | undefined): string => (typeof value === "string" ? value : "");
