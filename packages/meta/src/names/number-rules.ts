/** Ranges of numbers, with the messages of the stock server. */

/** A number in an inclusive range. */
export function isInRange(value: number | bigint, min: number, max: number): string[] {
  return value >= min && value <= max ? [] : [`must be between ${min} and ${max}, inclusive`]
}

/** A TCP, UDP or SCTP port number. */
export function isValidPortNum(port: number | bigint): string[] {
  return isInRange(port, 1, 65535)
}

/** A user id. */
export function isValidUserId(id: number | bigint): string[] {
  return isInRange(id, 0, 2147483647)
}

/** A group id. */
export function isValidGroupId(id: number | bigint): string[] {
  return isInRange(id, 0, 2147483647)
}
