import { createTypeSource, type TypeSource } from '@krmkit/schema'

/**
 * Facts of one struct or enumeration, and references to the types it uses. Literals only, so that bundlers can drop unused
 * ones.
 */
export interface TypePart {
  readonly at: {
    readonly folder: string
    readonly group: string
    readonly version: string
    /** Members of the version, as JSON text. */
    readonly facts: string
  }
  /** The name, under the member that tells the sort of type: a struct, an alias, an enumeration. */
  readonly type?: string
  readonly named?: string
  readonly enum?: string
  /** An enumeration whose values the generated OpenAPI omits. */
  readonly hiddenEnum?: string
  /** JSON text. */
  readonly facts: string
  readonly uses?: () => readonly TypePart[]
}

/** A type with all types it uses, parsed on first use and cached. */
export function lazyTypes(part: TypePart): () => TypeSource {
  let source: TypeSource | undefined
  return () => {
    source ??= createTypeSource(filesOf(part))
    return source
  }
}

/** Reassembles the text of each group's file from the parts. */
function filesOf(first: TypePart): Record<string, string> {
  const groups = new Map<string, { readonly group: string; readonly versions: Map<string, TypePart[]> }>()
  const found = new Set([first])
  for (const part of found) {
    const { folder, group, version } = part.at
    const entry = groups.get(folder) ?? { group, versions: new Map<string, TypePart[]>() }
    groups.set(folder, entry)
    entry.versions.set(version, [...(entry.versions.get(version) ?? []), part])
    for (const used of part.uses?.() ?? []) found.add(used)
  }
  const files: Record<string, string> = {}
  for (const [folder, { group, versions }] of groups) {
    const texts = [...versions].map(([version, parts]) => `${JSON.stringify(version)}:${versionText(parts)}`)
    files[folder] = `{"group":${JSON.stringify(group)},"versions":{${texts.join(',')}}}`
  }
  return files
}

function versionText(parts: readonly TypePart[]): string {
  const members = (name: (part: TypePart) => string | undefined) =>
    parts.flatMap((part) => {
      const key = name(part)
      return key === undefined ? [] : [`${JSON.stringify(key)}:${part.facts}`]
    })
  const hidden = parts.flatMap(({ hiddenEnum }) => (hiddenEnum === undefined ? [] : [hiddenEnum]))
  return `{${parts[0]!.at.facts},"kinds":{},"resources":{},"types":{${members(({ type }) => type).join(',')}},"named":{${members(
    ({ named }) => named,
  ).join(
    ',',
  )}},"enums":{${members((part) => part.enum ?? part.hiddenEnum).join(',')}},"enumsNotInOpenAPI":${JSON.stringify(hidden)}}`
}
