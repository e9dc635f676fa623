/** Just enough of DER to write certificates for tests. */

type Der = Uint8Array

function element(tag: number, ...contents: readonly Der[]): Der {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Uint8Array.of(tag, ...size), content])
}

export const der = {
  element,
  sequence: (...members: readonly Der[]) => element(0x30, ...members),
  set: (...members: readonly Der[]) => element(0x31, ...members),
  /** Tagged by its place in the structure. */
  explicit: (place: number, content: Der) => element(0xa0 | place, content),
  implicit: (place: number, content: Der) => element(0x80 | place, content),
  boolean: (value: boolean) => element(0x01, Uint8Array.of(value ? 0xff : 0)),
  octets: (content: Der) => element(0x04, content),
  bits: (content: Der, unused = 0) => element(0x03, Uint8Array.of(unused), content),
  text: (value: string) => element(0x0c, Buffer.from(value)),
  integer(value: Der | number): Der {
    const bytes = typeof value === 'number' ? Uint8Array.of(value) : value
    return element(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Uint8Array.of(0), bytes]) : bytes)
  },
  oid(dotted: string): Der {
    const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
    return element(0x06, Uint8Array.of(...[first * 40 + second, ...rest].flatMap(base128)))
  },
  /** In milliseconds since the epoch. */
  time: (ms: number) => element(0x18, Buffer.from(`${new Date(ms).toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`)),
}

function base128(arc: number): number[] {
  const digits = [arc % 128]
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift((rest % 128) | 0x80)
  return digits
}

export function pemOf(label: string, content: Der): string {
  const lines =
    Buffer.from(content)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`
}
