/** The text of a file as kubectl reads it: UTF-16 with a byte order mark, which stays, or UTF-8. Invalid bytes become U+FFFD. */
export function decodeManifest(bytes: Uint8Array): string {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8'
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes)
}
