/** Addresses of networks as Go's `net/netip` reads and prints them: strictly. */

export interface Address {
  /** 4 or 16. */
  readonly bytes: Uint8Array
}

export interface AddressRange {
  readonly address: Address
  readonly bits: number
}

type Problem = { readonly problem: string }

export function parseAddress(text: string): Address | Problem {
  if (text.includes('%')) return { problem: `IP address ${JSON.stringify(text)} with zone value is not allowed` }
  const bytes = text.includes(':') ? readV6(text) : readV4(text)
  if (bytes === undefined) {
    return {
      problem: `IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${JSON.stringify(text)}): unable to parse IP`,
    }
  }
  if (isMapped(bytes)) return { problem: `IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed` }
  return { bytes }
}

export function parseRange(text: string): AddressRange | Problem {
  const slash = text.lastIndexOf('/')
  const failed = (why: string): Problem => ({
    problem: `network address parse error during conversion from string: netip.ParsePrefix(${JSON.stringify(text)}): ${why}`,
  })
  if (slash < 0) return failed("no '/'")
  const address = parseAddress(text.slice(0, slash))
  if ('problem' in address)
    return text.includes('%') || !address.problem.startsWith('IPv4') ? failed('unable to parse IP') : address
  const bits = text.slice(slash + 1)
  if (!/^(?:0|[1-9]\d{0,2})$/.test(bits)) return failed(`bad bits after slash: ${JSON.stringify(bits)}`)
  return Number(bits) > address.bytes.length * 8 ? failed('prefix length out of range') : { address, bits: Number(bits) }
}

/** No leading zeros, four parts. */
function readV4(text: string): Uint8Array | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) return undefined
  return Uint8Array.from(parts.map(Number))
}

function readV6(text: string): Uint8Array | undefined {
  if (text.length > 45) return undefined
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map((half) => readGroups(half))
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined
  const bytes = new Uint8Array(16)
  const rest = tail ?? []
  if (halves.length === 1 ? head.length !== 16 : head.length + rest.length > 14) return undefined
  bytes.set(head)
  bytes.set(rest, 16 - rest.length)
  return bytes
}

/** Groups of up to four digits; the last may be an address of four parts. */
function readGroups(text: string): number[] | undefined {
  if (text === '') return []
  const bytes: number[] = []
  const groups = text.split(':')
  for (const [index, group] of groups.entries()) {
    if (group.includes('.')) {
      const v4 = index === groups.length - 1 ? readV4(group) : undefined
      if (v4 === undefined) return undefined
      bytes.push(...v4)
    } else {
      if (!/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined
      const value = Number.parseInt(group, 16)
      bytes.push(value >> 8, value & 255)
    }
  }
  return bytes.length > 16 ? undefined : bytes
}

function isMapped(bytes: Uint8Array): boolean {
  return bytes.length === 16 && bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255
}

/** The one way of writing an address. */
export function addressText({ bytes }: Address): string {
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[i * 2] as number) << 8) | (bytes[i * 2 + 1] as number))
  let start = -1
  let length = 1
  for (let i = 0; i < 8; i++) {
    let end = i
    while (end < 8 && groups[end] === 0) end++
    if (end - i > length) {
      start = i
      length = end - i
    }
    if (end > i) i = end
  }
  const text = (list: readonly number[]) => list.map((group) => group.toString(16)).join(':')
  return start < 0 ? text(groups) : `${text(groups.slice(0, start))}::${text(groups.slice(start + length))}`
}

/** The address with all but its first bits zero. */
export function masked({ bytes }: Address, bits: number): Address {
  return {
    bytes: bytes.map((byte, index) => {
      const kept = Math.min(8, Math.max(0, bits - index * 8))
      return byte & (0xff << (8 - kept)) & 0xff
    }),
  }
}

export function sameAddress(a: Address, b: Address): boolean {
  return a.bytes.length === b.bytes.length && a.bytes.every((byte, index) => byte === b.bytes[index])
}

/** What kind of address it is. */
export const kinds = {
  isUnspecified: ({ bytes }: Address) => bytes.every((byte) => byte === 0),
  isLoopback: ({ bytes }: Address) =>
    bytes.length === 4 ? bytes[0] === 127 : bytes[15] === 1 && bytes.subarray(0, 15).every((byte) => byte === 0),
  isLinkLocalMulticast: ({ bytes }: Address) =>
    bytes.length === 4
      ? bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0
      : bytes[0] === 0xff && ((bytes[1] as number) & 0x0f) === 2,
  isLinkLocalUnicast: ({ bytes }: Address) =>
    bytes.length === 4 ? bytes[0] === 169 && bytes[1] === 254 : bytes[0] === 0xfe && ((bytes[1] as number) & 0xc0) === 0x80,
  isGlobalUnicast: (address: Address): boolean => {
    const { bytes } = address
    if (bytes.length === 4 && bytes.every((byte) => byte === 255)) return false
    const multicast = bytes.length === 4 ? ((bytes[0] as number) & 0xf0) === 0xe0 : bytes[0] === 0xff
    return !multicast && !kinds.isUnspecified(address) && !kinds.isLoopback(address) && !kinds.isLinkLocalUnicast(address)
  },
} as const satisfies Readonly<Record<string, (address: Address) => boolean>>
