export function begin(spec: string): void;
