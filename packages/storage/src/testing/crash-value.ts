/** A value with its key, revision and size, so that a partial write is detectable. */
export function crashValue(key: string, revision: number, size: number): Uint8Array {
  const head = `${key} ${revision} ${size} `
  return Buffer.from(head + String.fromCharCode(97 + (revision % 26)).repeat(size))
}

/** Whether the value is complete and belongs to this key and revision. */
export function isCrashValue(value: Uint8Array, key: string, revision: number): boolean {
  const text = Buffer.from(value).toString()
  const size = Number(text.split(' ')[2])
  return Buffer.from(crashValue(key, revision, size)).equals(value)
}
