import { formatIP } from '@krmkit/base/ip'
import { declare, type FunctionDeclaration, method, overload } from '../values/declarations.ts'
import type { Meter } from '../values/meter.ts'
import { boolType, intType, opaqueOf, stringType } from '../values/types.ts'
import { ErrorValue, OpaqueValue, type Value } from '../values/values.ts'
import { type Address, type AddressRange, addressProperties, masked, parseAddress, parseRange, sameAddress } from './addresses.ts'
import type { Library } from './library.ts'

/** The IP and CIDR libraries: `ip('10.0.0.1')` and `cidr('10.0.0.0/8')`. */

const ipType = opaqueOf('net.IP')
const cidrType = opaqueOf('net.CIDR')

class Ip extends OpaqueValue {
  readonly type = ipType
  readonly address: Address
  override readonly size: number

  constructor(address: Address) {
    super()
    this.address = address
    this.size = address.bytes.length
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof Ip && sameAddress(this.address, other.address)
  }
}

class Cidr extends OpaqueValue {
  readonly type = cidrType
  readonly range: AddressRange
  override readonly size: number

  constructor(range: AddressRange) {
    super()
    this.range = range
    this.size = Math.ceil(range.bits / 8)
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof Cidr && other.range.bits === this.range.bits && sameAddress(this.range.address, other.range.address)
  }
}

function toIp(_: Meter, text: string): Ip | ErrorValue {
  const address = parseAddress(text)
  return 'problem' in address ? new ErrorValue(address.problem) : new Ip(address)
}

function toCidr(_: Meter, text: string): Cidr | ErrorValue {
  const range = parseRange(text)
  return 'problem' in range
    ? new ErrorValue(`network address parse error during conversion from string: ${range.problem}`)
    : new Cidr(range)
}

function holdsAddress({ address, bits }: AddressRange, other: Address): boolean {
  return address.bytes.length === other.bytes.length && sameAddress(masked(address, bits), masked(other, bits))
}

/** Declares a containment test for values and for their text. */
function containment<T extends Ip | Cidr>(
  name: string,
  ids: readonly [text: string, value: string],
  options: {
    readonly type: typeof ipType
    readonly read: (meter: Meter, text: string) => T | ErrorValue
    /** Makes the error for a string that cannot be parsed. */
    readonly wrong: (error: ErrorValue) => ErrorValue
    readonly holds: (range: AddressRange, other: T) => boolean
  },
): FunctionDeclaration {
  const { type, read, wrong, holds } = options
  return declare(
    name,
    method(ids[0], [cidrType, stringType], boolType, (meter: Meter, { range }: Cidr, text: string): Value => {
      const other = read(meter, text)
      return other instanceof ErrorValue ? wrong(other) : holds(range, other)
    }),
    method(ids[1], [cidrType, type], boolType, (_: Meter, { range }: Cidr, other: T) => holds(range, other)),
  )
}

const ipFunctions: readonly FunctionDeclaration[] = [
  declare('ip', overload('string_to_ip', [stringType], ipType, toIp)),
  declare(
    'isIP',
    overload('is_ip', [stringType], boolType, (meter: Meter, text: string) => !(toIp(meter, text) instanceof ErrorValue)),
  ),
  declare(
    'ip.isCanonical',
    overload('ip_is_canonical', [stringType], boolType, (meter: Meter, text: string): Value => {
      const ip = toIp(meter, text)
      return ip instanceof ErrorValue ? ip : formatIP(ip.address.bytes) === text
    }),
  ),
  declare(
    'family',
    method('family', [ipType], intType, (_: Meter, { address }: Ip) => (address.bytes.length === 4 ? 4 : 6)),
  ),
  ...Object.entries(addressProperties).map(([name, holds]) =>
    declare(
      name,
      method(`ip_${name}`, [ipType], boolType, (_: Meter, { address }: Ip) => holds(address)),
    ),
  ),
  declare(
    'string',
    overload('ip_to_string', [ipType], stringType, (_: Meter, { address }: Ip) => formatIP(address.bytes)),
  ),
]

const cidrFunctions: readonly FunctionDeclaration[] = [
  declare('cidr', overload('string_to_cidr', [stringType], cidrType, toCidr)),
  declare(
    'isCIDR',
    overload('is_cidr', [stringType], boolType, (meter: Meter, text: string) => !(toCidr(meter, text) instanceof ErrorValue)),
  ),
  containment<Ip>('containsIP', ['cidr_contains_ip_string', 'cidr_contains_ip_ip'], {
    type: ipType,
    read: toIp,
    wrong: () => new ErrorValue('no such overload'),
    holds: (range, { address }) => holdsAddress(range, address),
  }),
  containment<Cidr>('containsCIDR', ['cidr_contains_cidr_string', 'cidr_contains_cidr'], {
    type: cidrType,
    read: toCidr,
    wrong: (error) => error,
    holds: (range, { range: other }) => range.bits <= other.bits && holdsAddress(range, other.address),
  }),
  declare(
    'ip',
    method('cidr_ip', [cidrType], ipType, (_: Meter, { range }: Cidr) => new Ip(range.address)),
  ),
  declare(
    'masked',
    method(
      'cidr_masked',
      [cidrType],
      cidrType,
      (_: Meter, { range }: Cidr) => new Cidr({ address: masked(range.address, range.bits), bits: range.bits }),
    ),
  ),
  declare(
    'prefixLength',
    method('prefix_length', [cidrType], intType, (_: Meter, { range }: Cidr) => range.bits),
  ),
  declare(
    'string',
    overload(
      'cidr_to_string',
      [cidrType],
      stringType,
      (_: Meter, { range }: Cidr) => `${formatIP(range.address.bytes)}/${range.bits}`,
    ),
  ),
]

export const networks: Library = {
  name: 'networks',
  functions: [...ipFunctions, ...cidrFunctions],
  types: [
    ['net.IP', ipType],
    ['net.CIDR', cidrType],
  ],
}
