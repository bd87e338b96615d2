import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const bytes = 1024 * 1024;

/** Some space of the disk that is kept back: given up, it lets the store close cleanly although the disk is full (F03). */
export type Reserve = {
  /** Takes the space. False where there is none. */
  hold(): boolean;
  giveUp(): void;
};

export function diskReserve(dataDir: string): Reserve {
  const file = join(dataDir, "reserve");
  return {
    hold() {
      try {
        writeFileSync(file, Buffer.alloc(bytes), { mode: 0o600 });
        return true;
      } catch {
        rmSync(file, { force: true });
        return false;
      }
    },
    giveUp: () => rmSync(file, { force: true }),
  };
}
