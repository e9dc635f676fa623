/**
 * Copies the model of the built-in types (a folder of group files, as described in shared/model) to packages/tools/facts, from which
 * `generate-types.ts` generates the data, types and handles of packages/kinds.
 *
 *     node scripts/run.mjs import-model [FOLDER]
 *     node scripts/run.mjs import-model --check    # only report whether the files are up to date
 */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { FieldFacts, StructFacts } from './generate-types/model.ts'
import { isCurrent, writeGenerated } from './lib/generated-file.ts'
import { readJson, root } from './lib/workspace.ts'

const facts = 'packages/tools/facts'

interface EarlierField {
  readonly group: string
  readonly version: string
  readonly type: string
  readonly field: FieldFacts & { readonly proto: { readonly number: number } }
}

/** @see storage specification, 2.4 */
const earlierFields: readonly EarlierField[] = [
  {
    group: 'core',
    version: 'v1',
    type: 'PersistentVolumeClaimStatus',
    field: {
      json: 'resizeStatus',
      go: 'ResizeStatus',
      type: { scalar: 'string' },
      pointer: true,
      optional: true,
      omitempty: true,
      proto: { number: 6, type: 'bytes', rep: 'opt' },
    },
  },
]
/** What changes of a group file; another file of the model may have no versions. */
interface ModelFile {
  readonly versions?: Readonly<Record<string, { readonly types: Record<string, StructFacts> }>>
}

export function main(args: readonly string[]): void {
  const folder = args.find((word) => !word.startsWith('--')) ?? join(root, '../shared/model')
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const model = readJson<ModelFile>(join(folder, name))
      addEarlierFields(basename(name, '.json'), model)
      return [`${facts}/${name}`, `${JSON.stringify(model)}\n`] as const
    })
  if (!args.includes('--check')) {
    for (const [path, text] of files) writeGenerated(path, text)
    return
  }
  const stale = files.filter(([path, text]) => !isCurrent(path, text)).map(([path]) => path)
  console.log(
    stale.length === 0 ? 'the data is up to date' : `out of date (node scripts/run.mjs import-model):\n${stale.join('\n')}`,
  )
  process.exitCode = stale.length === 0 ? 0 : 1
}

/**
 * Adds the fields of the specification that the release of the model no longer has, under their numbers of then, which are unused since.
 */
function addEarlierFields(name: string, { versions = {} }: ModelFile): void {
  for (const { group, version, type, field } of earlierFields.filter((each) => each.group === name)) {
    const types = versions[version]?.types ?? {}
    const { fields = [], protoGaps = [], ...others } = types[type] ?? {}
    const { number } = field.proto
    if (!protoGaps.includes(number) || fields.some(({ json }) => json === field.json)) {
      throw new Error(`${group} ${version} ${type} has ${field.json}, or uses its number`)
    }
    const gaps = protoGaps.filter((gap) => gap !== number)
    const next = fields.findIndex(({ proto }) => proto !== undefined && proto.number > number)
    types[type] = {
      ...others,
      ...(gaps.length === 0 ? {} : { protoGaps: gaps }),
      fields: fields.toSpliced(next < 0 ? fields.length : next, 0, field),
    }
  }
}
