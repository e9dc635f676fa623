/** A value that tells whether it is whole: who wrote it, when, and as many bytes as it says. */
export function crashValue(key: string, revision: number, size: number): Uint8Array {
  const head = `${key} ${revision} ${size} `
  return Buffer.from(head + String.fromCharCode(97 + (revision % 26)).repeat(size))
}

/** Whether the value is whole and belongs to this key and revision. */
export function isCrashValue(value: Uint8Array, key: string, revision: number): boolean {
  const text = Buffer.from(value).toString()
  const size = Number(text.split(' ')[2])
  return Buffer.from(crashValue(key, revision, size)).equals(value)
}
