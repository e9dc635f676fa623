/**
 * Bounds of numbers, in the stock server's words.
 */

/** Between two bounds that both belong to the range. */
export function isInRange(value: number | bigint, min: number, max: number): string[] {
  return value >= min && value <= max ? [] : [`must be between ${min} and ${max}, inclusive`]
}

/** Number of a TCP, UDP or SCTP port. */
export function isValidPortNum(port: number | bigint): string[] {
  return isInRange(port, 1, 65535)
}

/** Number of a user. */
export function isValidUserId(id: number | bigint): string[] {
  return isInRange(id, 0, 2147483647)
}

/** Number of a group. */
export function isValidGroupId(id: number | bigint): string[] {
  return isInRange(id, 0, 2147483647)
}
