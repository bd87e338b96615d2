import { type UserView, UserState } from "#gen/idsvc/resources/user/v3alpha/user_pb.ts";
import { t } from "../told.ts";

/** What the data of a user call them, as far as the reader may see it. */
export function nameOf(user: UserView | undefined): string {
  const text = (key: string) => {
    const value = user?.data?.[key];
    return typeof value === "string" ? value.trim() : "";
  };
  const full = `${text("given_name")} ${text("family_name")}`.trim();
  return text("display_name") || full || text("name") || text("nickname");
}

export function kindOf(user: UserView | undefined): string {
  const type = user?.schema?.type ?? "";
  return type === "human" ? t("person") : type === "machine" ? t("machine") : type;
}

const words: Readonly<Partial<Record<UserState, string>>> = {
  [UserState.ACTIVE]: "active",
  [UserState.INACTIVE]: "inactive",
  [UserState.LOCKED]: "locked",
  [UserState.INITIAL]: "initial",
};

export function stateOf(state: UserState): string {
  const word = words[state];
  return word === undefined ? "" : t(word);
}
