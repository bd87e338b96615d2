// Run: shared
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { getOption, hasOption } from "@bufbuild/protobuf";
import { Holds, method as methodOptions } from "#gen/idsvc/options/v1/options_pb.ts";
import { startPeer } from "../support/peer.ts";

const peer = await startPeer();
const { app } = peer;
after(() => peer[Symbol.asyncDispose]());

describe("the option holds (J1b)", () => {
  /** Methods that change something and give no hold on anybody; why. */
  const without: readonly [RegExp, string][] = [
    [/^(Get|Search|List|Resolve|Watch|Preview|Match|Report)/, "reads"],
    [/\.UserService\/CreateUser$/, "the user is new: nobody holds power yet"],
    [/\.UserService\/(Set|Delete)UserMetadata$/, "metadata log nobody in and prove nothing"],
    [/\.MembershipService\//, "judged by the roles that are given or taken (J2)"],
    [/\.SessionService\/StartIdentityProviderIntent$/, "the provider proves whoever comes back"],
    [/\.ActionService\/Delete(Target|Execution)$/, "ends what could act, and gives nothing"],
    [/\.DeliveryService\/TestTarget$/, "sends made-up values"],
    [/\.(SMTP|SMS)ProviderService\/Test/, "sends to an address that the caller names, no code"],
    [/\.(Role|ProjectGrant|UserGrant)Service\//, "roles of projects are no power here"],
    [/\.ProjectService\//, "a project holds nobody"],
    [/\.AppService\//, "judged by what the app may reach (J19)"],
    [/\.DomainService\//, "judged by proof (J10)"],
    [/\.UserSchemaService\//, "says what data are, not who somebody is"],
    [/\.InstanceService\//, "of the system, above all instances"],
    [/\.OrganizationService\/(Create|Patch|Activate|SetAsInstanceDefault)/, "keeps nobody out"],
    [/\.IdentityProviderService\//, "judged by the users who are linked (J1a)"],
    [/\.ManagementService\/(SetUpOrg|ImportHumanUser)$/, "the users are new"],
    [/\.ManagementService\/(PauseImport|CancelImport)$/, "stops what was let in"],
    [/^idsvc\.settings\./, "judged by floors (J16) and by what texts may hold (J9)"],
  ];

  it("stands at every method, or there is a reason why not", () => {
    const open: string[] = [];
    const used = new Set<RegExp>();
    for (const { rule } of app.app.endpoints) {
      const { method } = rule;
      const options = hasOption(method, methodOptions)
        ? getOption(method, methodOptions)
        : undefined;
      const name = `${method.parent.typeName}/${method.name}`;
      const reason = without.find(([which]) => which.test(name) || which.test(method.name));
      if (reason !== undefined) used.add(reason[0]);
      const isHold = options !== undefined && options.holds !== Holds.UNSPECIFIED;
      if (!isHold && reason === undefined) open.push(name);
    }
    assert.deepEqual(open, [], "give the method the option holds, or say here why it needs none");
    const idle = without.filter(([which]) => !used.has(which)).map(([which]) => String(which));
    assert.deepEqual(idle, [], "no method has this reason");
  });
});
