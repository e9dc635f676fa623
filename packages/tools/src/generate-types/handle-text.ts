/** Handles: a value per kind, exported with the type of the same name. */
import { type Facts, fileOf, type GroupAt, header, type StoredVersion, type StrategyName, translated } from './facts.ts'
import { partFile, partName } from './part-text.ts'

export interface Handle {
  readonly kind: string
  readonly namespaced: boolean
  /** Plural; empty for bodies of sub-resources. */
  readonly resource: string
  readonly strategy: StrategyName | undefined
  readonly stored: StoredVersion
}

export interface HandleSources extends Pick<Facts, 'groups'> {
  readonly strategies: ReadonlyMap<string, StrategyName>
}

/** The kinds with object metadata. */
export function handlesOf(at: GroupAt, { groups, strategies }: HandleSources): Handle[] {
  return Object.entries(at.facts.kinds)
    .filter(([, kind]) => kind.metadata === 'object' && (kind.registeredAs ?? '') === '')
    .map(([kind, { namespaced }]) => {
      const resource = Object.entries(at.facts.resources).find(
        ([name, each]) => !name.includes('/') && each.kind === kind && each.from !== 'client',
      )
      const stored = storedVersion(at, kind, groups)
      const strategy = strategies.get(`${at.group}/${kind}`) ?? strategies.get(`${stored.group}/${kind}`)
      return { kind, namespaced: namespaced === true, resource: resource?.[0] ?? '', strategy, stored }
    })
}

/** Kinds whose storage version is not the most stable one; as in packages/kinds/src/catalog/storage.ts. */
const storedOtherwise: Readonly<Record<string, string>> = {
  'coordination/LeaseCandidate': 'v1alpha2',
  'resource/DeviceClass': 'v1beta1',
  'resource/ResourceClaim': 'v1beta1',
  'resource/ResourceClaimTemplate': 'v1beta1',
  'resource/ResourceSlice': 'v1beta1',
}

/** The storage version of a kind: the most stable one, unless listed above. */
function storedVersion(at: GroupAt, kind: string, groups: Facts['groups']): StoredVersion {
  const said = translated[`${at.folder}/${at.version}/${kind}`]
  if (said) return said
  const other = storedOtherwise[`${at.folder}/${kind}`]
  if (other) return { group: at.group, version: other }
  const rank = (version: string) => (/alpha/.test(version) ? 0 : /beta/.test(version) ? 1 : 2)
  const having = Object.entries(groups.get(at.folder)!.versions)
    .filter(([, { kinds, served }]) => served && kinds[kind])
    .map(([version]) => version)
    .sort((a, b) => rank(b) - rank(a) || (a < b ? 1 : -1))
  return { group: at.group, version: having[0] ?? at.version }
}

const isStored = (at: GroupAt, { stored }: Handle) => stored.group === at.group && stored.version === at.version

function handleImports(at: GroupAt, handles: readonly Handle[]): string[] {
  const lines: string[] = []
  if (handles.some((handle) => handle.strategy && !isStored(at, handle)))
    lines.push("import { conversionBetween } from '../conversions/index.ts'\n")
  lines.push("import { type KindHandle, kindHandle } from './kind-handle.ts'\n")
  lines.push("import { lazyTypes } from './lazy-types.ts'\n")
  const byFile = new Map<string, Set<string>>()
  for (const { strategy } of handles)
    if (strategy) byFile.set(strategy.file, (byFile.get(strategy.file) ?? new Set()).add(strategy.name))
  for (const [file, names] of [...byFile].sort()) lines.push(`import { ${[...names].sort().join(', ')} } from '${file}'\n`)
  lines.push(
    `import { ${handles
      .map(({ kind }) => partName(kind))
      .sort()
      .join(', ')} } from './${partFile(at)}'\n`,
  )
  return lines
}

/** The module of a group version: everything its types module exports, and the handles. */
export function handlesText(at: GroupAt, handles: readonly Handle[]): string {
  const types = `../types/${fileOf(at)}`
  const head = [
    header,
    ...handleImports(at, handles),
    `import type * as types from '${types}'\n`,
    `export type * from '${types}'\n\n`,
  ]
  const body = handles.map((handle) => {
    const { kind, namespaced, resource, strategy, stored } = handle
    const own = `{ group: '${at.group}', version: '${at.version}', kind: '${kind}' }`
    const target = `{ group: '${stored.group}', version: '${stored.version}', kind: '${kind}' }`
    const parts = [
      `group: '${at.group}'`,
      `version: '${at.version}'`,
      `kind: '${kind}'`,
      `resource: '${resource}'`,
      `namespaced: ${namespaced}`,
      `typeName: '${at.folder}/${at.version}.${kind}'`,
      `types: /* @__PURE__ */ lazyTypes(${partName(kind)})`,
      ...(strategy ? [`strategy: ${strategy.name}`] : []),
      ...(strategy && !isStored(at, handle) ? [`toStorage: /* @__PURE__ */ conversionBetween(${own}, ${target})`] : []),
    ]
    const about = resource === '' ? 'the body of a sub-resource' : `\`${resource}\``
    return `export type ${kind} = types.${kind}\n/** Handle of ${kind}: ${about}. */\nexport const ${kind}: KindHandle<types.${kind}> = /* @__PURE__ */ kindHandle({\n${parts
      .map((part) => `  ${part},\n`)
      .join('')}})\n`
  })
  return `${head.join('')}${body.join('\n')}`
}
