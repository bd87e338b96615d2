// Run: alone, early, turns
import { after } from "node:test";
import { describeChanges } from "./changes.ts";
import { describeDisturbed } from "./disturbed.ts";
import { describeDomains } from "./domains.ts";
import { describeHistory } from "./history.ts";
import { describeNotices } from "./notices.ts";
import { endVisits } from "./visits.ts";

after(endVisits);

describeChanges();
describeDisturbed();
describeDomains();
describeHistory();
describeNotices();
