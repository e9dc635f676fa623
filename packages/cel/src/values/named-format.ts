import { opaqueOf } from './types.ts'
import { OpaqueValue } from './values.ts'

/** Type of the values of `format.dns1123Label()` and the like. */
export const namedFormatType = opaqueOf('kubernetes.NamedFormat')

/** A format with a name, whose check returns the problems of a text. */
export class NamedFormat extends OpaqueValue {
  readonly type = namedFormatType
  readonly name: string
  readonly check: (text: string) => readonly string[]
  /** Size of the regular expression of the format; determines the cost. */
  readonly patternSize: number

  constructor(name: string, check: NamedFormat['check'], patternSize: number) {
    super()
    this.name = name
    this.check = check
    this.patternSize = patternSize
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof NamedFormat && other.name === this.name
  }
}
