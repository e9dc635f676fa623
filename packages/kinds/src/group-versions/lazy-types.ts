import { createTypeSource, type TypeSource } from '@krmkit/schema'

/**
 * The line of one struct, enumeration or alias in the compact text of its group, and references to the types it uses. Literals only, so
 * that bundlers can drop unused ones.
 */
export interface TypePart {
  readonly at: {
    readonly folder: string
    readonly group: string
    /** The line of the version. */
    readonly version: string
  }
  readonly line: string
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

/** Reassembles the text of each group from the parts. */
function filesOf(first: TypePart): Record<string, string> {
  const groups = new Map<string, { readonly group: string; readonly versions: Map<string, string[]> }>()
  const found = new Set([first])
  for (const part of found) {
    const { folder, group, version } = part.at
    const entry = groups.get(folder) ?? { group, versions: new Map<string, string[]>() }
    groups.set(folder, entry)
    entry.versions.set(version, [...(entry.versions.get(version) ?? []), part.line])
    for (const used of part.uses?.() ?? []) found.add(used)
  }
  return Object.fromEntries(
    [...groups].map(([folder, { group, versions }]) => [
      folder,
      [group, ...[...versions].flatMap(([version, lines]) => [version, ...lines])].join('\n'),
    ]),
  )
}
