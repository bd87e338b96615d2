import { type DescMethod, ScalarType } from "@bufbuild/protobuf";

/** Whether requests of a method can say which sequence they expect the object to be at. */
export const takesSequence = ({ input }: DescMethod): boolean =>
  input.field["expectedSequence"]?.scalar === ScalarType.UINT64;
