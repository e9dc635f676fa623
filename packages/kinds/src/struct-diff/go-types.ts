/** The Go types of the values of which kube-apiserver prints differences, read from `structs.generated.ts`. */

import { structTypes } from './structs.generated.ts'

/** A type as reflection shows it. */
export interface GoType {
  /** As Go prints it: `core.PodSpec`, `[]core.Container`, `*int64`. */
  readonly name: string
  readonly isNamed: boolean
  /** `quantity` and `instant` are the structs that have a method `Equal`. */
  readonly kind: 'bool' | 'int' | 'string' | 'struct' | 'slice' | 'map' | 'pointer' | 'quantity' | 'instant'
  /** Whether it has a method `String`, whose result is printed. */
  readonly isStringer: boolean
  /** Fields of a struct. */
  readonly fields: readonly GoField[]
  /** Of a slice, a map or a pointer. */
  readonly element: GoType
  /** Keys of a map, which are strings. */
  readonly key: GoType
  /** The text of the kind, such as `int64` for `intstr.Type`. */
  readonly underlying: string
}

export interface GoField {
  readonly name: string
  readonly type: GoType
  readonly isEmbedded: boolean
  /** Member of the object of the API. */
  readonly member: string
  /** Member of the JSON form of the struct itself. */
  readonly json: string
  readonly omitsEmpty: boolean
}

/** Types without a line in the generated text. */
const builtIn = `resource.Quantity{i resource.int64Amount,d resource.infDecAmount,s string,Format resource.Format}
resource.int64Amount{value int64,scale resource.Scale}
resource.infDecAmount!=string
resource.Scale=int32
resource.Format=string
v1.Time!{^time.Time}
time.Time!{}
intstr.IntOrString{Type intstr.Type,IntVal int32,StrVal string}
intstr.Type=int64`

/** Kinds of the types with a method `Equal`. */
const comparable: Readonly<Record<string, GoType['kind']>> = { 'resource.Quantity': 'quantity', 'time.Time': 'instant' }

/** The types of one release. */
export class GoTypes {
  readonly #lines: ReadonlyMap<string, string>
  readonly #types = new Map<string, GoType>()

  constructor(lines: ReadonlyMap<string, string>) {
    this.#lines = lines
  }

  /** @param name as Go prints it */
  type(name: string): GoType {
    const known = this.#types.get(name)
    if (known !== undefined) return known
    const line = this.#lines.get(name)
    const type: Writable<GoType> = {
      name,
      isNamed: line !== undefined || /^\w+$/.test(name),
      kind:
        comparable[name] ?? kindOf(line === undefined || line.includes('{') ? (line ?? name) : line.slice(line.indexOf('=') + 1)),
      isStringer: line !== undefined && /^[\w.]+!/.test(line),
      fields: [],
      element: undefined as unknown as GoType,
      key: undefined as unknown as GoType,
      underlying: line?.slice(line.indexOf('=') + 1) ?? name,
    }
    // A type may contain itself.
    this.#types.set(name, type)
    if (line?.includes('{') === true) type.fields = this.#fields(line.slice(line.indexOf('{') + 1, -1))
    else this.#addParts(type)
    return type
  }

  #addParts(type: Writable<GoType>): void {
    const text = type.underlying
    if (type.kind === 'pointer') type.element = this.type(text.slice(1))
    else if (type.kind === 'slice') type.element = this.type(text.slice(2))
    else if (type.kind === 'map') {
      const end = text.indexOf(']')
      type.key = this.type(text.slice(4, end))
      type.element = this.type(text.slice(end + 1))
    }
  }

  #fields(text: string): GoField[] {
    return text === '' ? [] : text.split(',').map((field) => this.#field(field))
  }

  #field(text: string): GoField {
    if (text.startsWith('^')) {
      const name = text.slice(text.indexOf('.') + 1)
      return { name, type: this.type(text.slice(1)), isEmbedded: true, member: '', json: '', omitsEmpty: false }
    }
    const [, name = '', sign, label = '', omits, type = ''] = /^(\w+)(?:([@=])([\w-]*)(\?)?)? (.+)$/.exec(text) ?? []
    const member = sign === undefined ? name.charAt(0).toLowerCase() + name.slice(1) : label
    const json = sign === '=' ? label : name
    return { name, type: this.type(type), isEmbedded: false, member, json, omitsEmpty: omits !== undefined }
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** @param text the type, or the line of a struct */
function kindOf(text: string): GoType['kind'] {
  if (text.includes('{')) return 'struct'
  if (text.startsWith('*')) return 'pointer'
  if (text.startsWith('[]')) return 'slice'
  if (text.startsWith('map[')) return 'map'
  return text === 'bool' || text === 'string' ? text : 'int'
}

const typesByRelease = new Map<string, GoTypes>()

/** The types of a release; of an older or newer one than those of the generated text, the types of the nearest. */
export function goTypesOf(isAtLeast: (release: string) => boolean): GoTypes {
  const parts = structTypes.split(/^\/(?=\d)/m).slice(1)
  const releases = parts.map((part) => part.slice(0, part.indexOf('\n')))
  const last = Math.max(0, releases.findLastIndex(isAtLeast))
  const release = releases[last] as string
  let types = typesByRelease.get(release)
  if (types === undefined) {
    const lines = [builtIn, ...parts.slice(0, last + 1)].join('\n').split('\n')
    // A later release repeats the types that it changes.
    types = new GoTypes(
      new Map(lines.filter((line) => line.includes('.')).map((line) => [/^[\w.]+/.exec(line)?.[0] ?? '', line])),
    )
    typesByRelease.set(release, types)
  }
  return types
}
