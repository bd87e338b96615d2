import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Page, Request } from "playwright-core";
import { EventService } from "#gen/idsvc/resources/event/v3alpha/event_service_pb.ts";
import { bodyOf } from "../support/peer.ts";
import { dialogOf } from "./tasks.ts";
import { enter, enterAgain, expectQuiet, faultsOf, logIn, peer, shoot } from "./visits.ts";

export function describeLists(): void {
  describe("a list in the console (K6)", () => {
    it("goes on where the reader comes to its end, and is as it was when they come back", async () => {
      const organizationId = await peer.addOrganization({ name: "Lists" });
      for (let n = 0; n < 160; n++) {
        const username = `walrus-${String(n).padStart(3, "0")}`;
        await peer.addPerson({ username }, organizationId);
      }
      await using visit = await enter(`/ui/console/people?org=${organizationId}`);
      const { page } = visit;
      const status = page.getByRole("status");
      await status.getByText("Shown so far: 50").waitFor();
      await page.getByRole("link", { name: "walrus-049" }).scrollIntoViewIfNeeded();
      await status.getByText("Shown so far: 100").waitFor();
      // By keyboard alone: what the button brings comes as soon as it is reached, and each time that it is pressed.
      await page.getByRole("button", { name: "Show more" }).focus();
      await status.getByText("Shown so far: 150").waitFor();
      await page.keyboard.press("Enter");
      await status.getByText("Shown, all: 160").waitFor();
      assert.equal(await page.getByRole("button", { name: "Show more" }).count(), 0);
      await shoot(page, "list-all");
      assert.deepEqual(await faultsOf(page), []);
      const one = page.getByRole("link", { name: "walrus-120" });
      await one.scrollIntoViewIfNeeded();
      const before = await page.evaluate(() => scrollY);
      assert.ok(before > 1_000);
      await one.click();
      await page.getByRole("link", { name: "History" }).waitFor();
      await page.goBack();
      await one.waitFor();
      await status.getByText("Shown, all: 160").waitFor();
      await page.waitForFunction((y) => Math.abs(scrollY - y) < 5, before);
      expectQuiet(visit);
    });

    it("says whether nothing is there yet or a filter hides it, which is taken back there or by a link to the list", async () => {
      const organizationId = await peer.addOrganization({ name: "Filtered" });
      await peer.addPerson({ username: "okapi-1" }, organizationId);
      await using visit = await enterAgain(
        `/people?org=${organizationId}&q=nobody&state=USER_STATE_ACTIVE`,
      );
      const { page, go } = visit;
      const box = page.getByLabel("Begins with");
      const found = page.getByRole("link", { name: "okapi-1" });
      await page.getByText("Nothing matches this filter.").waitFor();
      assert.deepEqual(await faultsOf(page), []);
      await shoot(page, "list-filtered");
      await page.getByRole("link", { name: "Remove the filter" }).click();
      await found.waitFor();
      assert.equal(await box.inputValue(), "");
      assert.equal(new URL(page.url()).search, `?org=${organizationId}`);
      await box.fill("nobody");
      await page.waitForURL(/q=nobody/);
      await page
        .getByRole("navigation", { name: "Areas" })
        .getByRole("link", { name: "People" })
        .click();
      await found.waitFor();
      // What was typed would be in the address by now if it still were in the box.
      await delay(500);
      assert.equal(await box.inputValue(), "");
      assert.equal(new URL(page.url()).searchParams.get("q"), null);
      // Letter by letter nothing is lost on the way to the address.
      await box.pressSequentially("okapi-1 and others", { delay: 60 });
      await page.waitForURL(({ searchParams }) => searchParams.get("q") === "okapi-1 and others");
      assert.equal(await box.inputValue(), "okapi-1 and others");
      await go(`/failed-log-ins?org=${organizationId}`);
      await page.getByText("There is nothing here yet").waitFor();
      await page.getByText(/^Sign-ins with providers that fail are listed here/).waitFor();
      assert.deepEqual(await faultsOf(page), []);
      expectQuiet(visit);
    });

    it("of events that no index finds looks at a part of the log, and leads to the part before", async () => {
      await using visit = await enterAgain("/people");
      const { page, go } = visit;
      const asked = await withLongLog(page);
      await page.reload();
      await go("/failed-log-ins");
      await page.getByText("Events looked at: 150,001 – 250,000").waitFor();
      await page.getByRole("link", { name: "Further back" }).click();
      await page.getByText("Events looked at: 50,001 – 150,000").waitFor();
      assert.deepEqual(await faultsOf(page), []);
      await page.getByRole("link", { name: "Further back" }).click();
      await page.getByText("Events looked at: 1 – 50,000").waitFor();
      assert.equal(await page.getByRole("link", { name: "Further back" }).count(), 0);
      assert.equal(new URL(page.url()).searchParams.get("near"), "50000");
      assert.deepEqual(asked, [
        [150_001n, undefined],
        [50_001n, 150_000n],
        [1n, 50_000n],
      ]);
      expectQuiet(visit);
    });

    it("of what a person did looks at a part of the log, and at all of it in a span of time", async () => {
      const id = await peer.addPerson({ username: "tapir-still" });
      await using visit = await enterAgain("/people");
      const { page, go } = visit;
      const asked = await withLongLog(page);
      await page.reload();
      await go(`/people/${id}?tab=activity`);
      await page.getByText("Events looked at: 150,001 – 250,000").waitFor();
      await page.getByText(/^The events named below were looked at/).waitFor();
      assert.deepEqual(await faultsOf(page), []);
      await page.getByRole("link", { name: "Further back" }).click();
      await page.getByText("Events looked at: 50,001 – 150,000").waitFor();
      assert.equal(new URL(page.url()).searchParams.get("tab"), "activity");
      assert.deepEqual(asked, [
        [150_001n, undefined],
        [50_001n, 150_000n],
      ]);
      // What is kept is all that they did, whichever part is shown.
      const kept = page.waitForRequest(/SearchEvents$/);
      await page.getByRole("button", { name: "Save as CSV" }).click();
      await kept;
      const from = page.getByLabel("From");
      await from.fill("2026-01-01");
      await page.getByText("Nothing matches this filter.").waitFor();
      assert.equal(await page.getByText("Events looked at").count(), 0);
      assert.ok(await from.evaluate((field) => field === document.activeElement));
      assert.equal(asked.length, 2);
      expectQuiet(visit);
    });

    it("of what a person did speaks of what is further back only where something is", async () => {
      const id = await peer.addPerson({ username: "tapir-short" });
      await using visit = await enterAgain(`/people/${id}?tab=activity`);
      const { page } = visit;
      await page.unrouteAll();
      await page.reload();
      await page.getByText(/^Events looked at: 1 – /).waitFor();
      await page.getByText("There is nothing here yet").waitFor();
      assert.equal(await page.getByText("further back", { exact: false }).count(), 0);
      expectQuiet(visit);
    });

    it("of texts finds a part of what they say or of their keys, whatever the letter case", async () => {
      await using visit = await enterAgain("/texts?language=de&q=WORT%20EINGEB");
      const { page } = visit;
      const title = page.getByRole("rowheader", { name: "password.title", exact: true });
      await title.waitFor();
      const values = await page.locator('td[data-title="Value"]').allInnerTexts();
      assert.ok(values.length > 0 && values.length < 20, `${values.length} texts`);
      assert.ok(values.every((text) => text.toLowerCase().includes("wort eingeb")));
      await page.getByLabel("Contains").fill("WORD.TITLE");
      await page.getByRole("rowheader", { name: "password.title", exact: true }).waitFor();
      await page.getByLabel("Contains").fill("no text says this");
      await page.getByText("Nothing matches this filter.").waitFor();
      assert.deepEqual(await faultsOf(page), []);
      expectQuiet(visit);
    });

    it("of people whom a policy concerns has no machines", async () => {
      const organizationId = await peer.addOrganization({ name: "Concerned" });
      await peer.addPerson({ username: "okapi-person" }, organizationId);
      const machine = { schema_id: "machine", username: "okapi-machine", data: { name: "Okapi" } };
      const within = { headers: { "x-idsvc-orgid": organizationId } };
      bodyOf(await peer.post("/users", machine, within), 201);
      await using visit = await enterAgain(`/settings/password?org=${organizationId}`);
      const { page } = visit;
      await page.getByRole("link", { name: "okapi-person" }).waitFor();
      assert.equal(await page.getByText("okapi-machine").count(), 0);
      expectQuiet(visit);
    });

    it("shows by itself what others do, and takes nothing from whoever fills in a form", async () => {
      const organizationId = await peer.addOrganization({ name: "Watched" });
      await peer.addPerson({ username: "tapir-1" }, organizationId);
      await using visit = await enterAgain(`/people?org=${organizationId}`);
      const { page } = visit;
      const watching = page.waitForResponse(/WatchEvents/);
      await page.reload();
      await watching;
      await page.getByRole("link", { name: "tapir-1" }).waitFor();
      await page.getByRole("button", { name: "Create a person" }).click();
      const field = dialogOf(page).getByLabel("Username");
      await field.fill("half a name");
      const id = await peer.addPerson({ username: "tapir-2" }, organizationId);
      await page.locator(`tbody a[href*="${id}"]`).waitFor();
      assert.equal(await field.inputValue(), "half a name");
      // A page that nobody sees ends its stream, and catches up when somebody does.
      const see = (visibilityState: string) =>
        page.evaluate((value) => {
          Object.defineProperty(document, "visibilityState", { value, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }, visibilityState);
      const ended = page.waitForEvent("requestfailed", (each) => /WatchEvents/.test(each.url()));
      await see("hidden");
      await ended;
      bodyOf(await peer.remove(`/users/${id}`));
      const again = page.waitForRequest(/WatchEvents/);
      await see("visible");
      await again;
      await page.locator(`tbody a[href*="${id}"]`).waitFor({ state: "detached" });
      assert.equal(await field.inputValue(), "half a name");
      expectQuiet(visit);
    });

    it("holds one stream in a browser however many of its windows show one, and all of them follow", async () => {
      const organizationId = await peer.addOrganization({ name: "Windows" });
      await peer.addPerson({ username: "okapi-1" }, organizationId);
      const address = `/ui/console/people?org=${organizationId}`;
      await using visit = await enter(address);
      const context = visit.page.context();
      const streams = new Set<Request>();
      const isStream = (each: Request) => /WatchEvents/.test(each.url());
      context.on("request", (each) => isStream(each) && streams.add(each));
      context.on("requestfailed", (each) => streams.delete(each));
      context.on("requestfinished", (each) => streams.delete(each));
      // A browser has six connections for a host.
      for (let n = 0; n < 6; n++) {
        const page = await context.newPage();
        await page.goto(`${peer.issuer}${address}`);
        await page.getByRole("link", { name: "okapi-1" }).waitFor();
      }
      await visit.page.close();
      const id = await peer.addPerson({ username: "okapi-2" }, organizationId);
      for (const page of context.pages()) await page.locator(`tbody a[href*="${id}"]`).waitFor();
      // Of the end of what a closed window held a busy browser tells late, or not at all.
      const openStreams = () => [...streams].filter((each) => !each.frame().page().isClosed());
      for (let n = 0; openStreams().length > 1 && n < 100; n++) await delay(100);
      assert.equal(openStreams().length, 1);
    });

    it("asks no more by itself after a part of it was refused", async () => {
      const organizationId = await peer.addOrganization({ name: "Refused" });
      for (let n = 0; n < 60; n++) {
        await peer.addPerson({ username: `yak-${String(n).padStart(2, "0")}` }, organizationId);
      }
      await using visit = await enterAgain(`/people?org=${organizationId}`);
      const { page } = visit;
      await page.getByRole("status").getByText("Shown so far: 50").waitFor();
      let asked = 0;
      await page.route(/SearchUsers/, (route) => {
        asked += 1;
        return route.abort();
      });
      await page.keyboard.press("End");
      // A call that did not arrive is made once more.
      await page.waitForTimeout(3_000);
      assert.ok(asked >= 1 && asked <= 2, String(asked));
      await page.unroute(/SearchUsers/);
      await page.getByRole("button", { name: "Show more" }).click();
      await page.getByRole("status").getByText("Shown, all: 60").waitFor();
    });

    it("loses nothing of what is done to many rows when the session ends meanwhile", async () => {
      const organizationId = await peer.addOrganization({ name: "Many" });
      const ids: string[] = [];
      for (const username of ["zebu-1", "zebu-2", "zebu-3"]) {
        ids.push(await peer.addPerson({ username }, organizationId));
      }
      await using visit = await enter(`/ui/console/people?org=${organizationId}`);
      const { page, id, loginName } = visit;
      const dialog = dialogOf(page);
      const firstAt = await page.getByLabel("Mark: zebu-1").boundingBox();
      for (const nth of [1, 2, 3]) await page.getByLabel(`Mark: zebu-${nth}`).check();
      await page.getByText("Marked: 3").waitFor();
      // Whoever marks one after the other must not mark another one than they see.
      assert.deepEqual(await page.getByLabel("Mark: zebu-1").boundingBox(), firstAt);
      let calls = 0;
      await page.route(/DeleteUser/, async (route) => {
        calls += 1;
        if (calls === 2) {
          const { result } = bodyOf(await peer.post("/sign_ins/_search", [{ user_id: id }]));
          for (const { details } of result) bodyOf(await peer.remove(`/sign_ins/${details.id}`));
        }
        await route.continue();
      });
      await page.getByRole("button", { name: "Delete (3)" }).click();
      await dialog.getByRole("button", { name: "Delete", exact: true }).click();
      await dialog.getByText("You are signed out").waitFor();
      await dialog.getByText("1 / 3").waitFor();
      await shoot(page, "many-ended");
      assert.deepEqual(await faultsOf(page), []);
      const popup = page.waitForEvent("popup");
      await dialog.getByRole("button", { name: "Sign in in another window" }).click();
      await logIn(await popup, loginName);
      await dialog.getByText("Done: 3 / 3").waitFor();
      assert.equal(calls, 4);
      for (const each of ids) assert.equal((await peer.get(`/users/${each}`)).status, 404);
      await dialog.getByRole("button", { name: "Close" }).click();
      await page.getByText("There is nothing here yet").waitFor();
      assert.equal(await page.getByText("Marked:").count(), 0);
    });
  });
}

/** Answers searches for events as a service whose log is long and has none of them; which positions they name. */
async function withLongLog(page: Page) {
  const asked: (readonly [from: bigint | undefined, to: bigint | undefined])[] = [];
  const { input, output } = EventService.method.searchEvents;
  await page.route(/SearchEvents$/, (route) => {
    const { filters } = fromBinary(input, route.request().postDataBuffer() ?? new Uint8Array());
    const spans = filters.flatMap(({ filter }) => (filter.case === "sequence" ? filter.value : []));
    asked.push(...spans.map(({ from, to }) => [from, to] as const));
    // The log of a test is short.
    const body = toBinary(output, create(output, { details: { processedSequence: 250_000n } }));
    return route.fulfill({ contentType: "application/proto", body: Buffer.from(body) });
  });
  return asked;
}
