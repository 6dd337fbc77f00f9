/** ms of the machine's monotonic clock: the same in every process of it, so times may go from one to another. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
