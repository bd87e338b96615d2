import type { Page } from "../../src/login/page.ts";
import { accountsPage } from "../../src/login/pages/accounts.ts";
import { consentPage } from "../../src/login/pages/consent.ts";
import { loginNamePage, mostProviders } from "../../src/login/pages/login-name.ts";
import { logoutPage } from "../../src/login/pages/logout.ts";
import { providersOfPage, providersPage } from "../../src/login/pages/providers.ts";
import { requestOptions } from "./sample-values.ts";

const many = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** The pages of the login that hold a list, as long as it can become. */
export function listSamples(
  page: (own?: Partial<Page>) => Page,
  say: (text: string) => string,
): [string, string][] {
  const app = say("Northwind Orders");
  const account = { loginName: say("anna@acme.example"), displayName: say("Anna Lindqvist") };
  const provider = () => ({
    id: say("2"),
    name: say("Contoso Entra ID"),
    type: "directory_a" as const,
  });
  return [
    [
      "login-name-many",
      loginNamePage(page(), {
        allowsLoginName: true,
        allowsRegister: true,
        app,
        passkeyOptions: requestOptions,
        organization: say("Acme Rotterdam"),
        loginName: account.loginName,
        providers: many(mostProviders, provider),
        hasMoreProviders: true,
      }),
    ],
    [
      "providers",
      providersPage(page(), {
        providers: many(providersOfPage, provider),
        name: say("Contoso"),
        parts: { before: 0, after: 24 },
      }),
    ],
    [
      "providers-none",
      providersPage(page(), {
        providers: [],
        name: say("Nobody"),
        parts: { before: undefined, after: undefined },
      }),
    ],
    [
      "accounts-many",
      accountsPage(page(), {
        app,
        accounts: many(20, (at) => ({ ...account, id: say(`s${at}`), isSignedIn: at > 0 })),
      }),
    ],
    [
      "consent-many",
      consentPage(page(), {
        app,
        organization: say("Acme"),
        host: say("app.northwind.example"),
        access: {
          choices: ["own", "organization", "given", "everything"],
          organization: say("Acme"),
          within: many(100, () => say("Acme")),
        },
        account,
        scopes: many(100, (at) => `${at}${say(":orders:read")}`),
        policyUri: say("https://northwind.example/privacy"),
        termsUri: say("https://northwind.example/terms"),
      }),
    ],
    ["logout-many", logoutPage(page(), { accounts: many(20, () => account) })],
  ];
}
