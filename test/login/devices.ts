import { it } from "node:test";
import { turns } from "../support/turns.ts";
import { desktop, phone } from "./journey.ts";

const devices = [
  { name: "phone, without scripts", viewport: phone, javaScriptEnabled: false },
  { name: "desktop, with scripts", viewport: desktop, javaScriptEnabled: true },
] as const;

export type Device = Omit<(typeof devices)[number], "name">;

/** Declares tests of what can be done on each device, and does one on the one and the next on the other (`turns`). */
export function onDevices(): (title: string, work: (device: Device) => Promise<void>) => void {
  const inTurn = turns();
  return (title, work) => {
    const { name, ...device } = inTurn<(typeof devices)[number]>(devices);
    it(`${title}: ${name}`, () => work(device));
  };
}
