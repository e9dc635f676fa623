// Copies the model of the built-in types (a folder of group files, as described in shared/model) to scripts/types/facts, from which
// scripts/generate-types.mjs generates the data, types and handles of packages/kinds.
//   node scripts/import-model.mjs [FOLDER]
//   node scripts/import-model.mjs --check    # only report whether the files are up to date
import fs from 'node:fs'
import path from 'node:path'

const checks = process.argv.includes('--check')
const root = new URL('../', import.meta.url).pathname
const from = process.argv.slice(2).find((word) => !word.startsWith('--')) ?? path.join(root, '../shared/model')
const to = path.join(root, 'scripts/types/facts')
const stale = []
/** @see storage specification, 2.4 */
const earlierFields = [
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
for (const file of fs.readdirSync(from).filter((name) => name.endsWith('.json'))) {
  const facts = JSON.parse(fs.readFileSync(path.join(from, file), 'utf8'))
  addEarlierFields(path.basename(file, '.json'), facts)
  put(path.join(to, file), `${JSON.stringify(facts)}\n`)
}

if (checks) {
  console.log(stale.length === 0 ? 'the data is up to date' : `out of date (node scripts/import-model.mjs):\n${stale.join('\n')}`)
  process.exitCode = stale.length === 0 ? 0 : 1
}

function put(file, text) {
  if (!checks) {
    fs.mkdirSync(to, { recursive: true })
    fs.writeFileSync(file, text)
  } else if (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') !== text) stale.push(path.relative(root, file))
}

/**
 * Adds the fields of the specification that the release of the model no longer has, under their numbers of then, which are unused since.
 */
function addEarlierFields(name, { versions = {} }) {
  for (const { group, version, type, field } of earlierFields) {
    if (group !== name) continue
    const facts = versions[version].types[type]
    const { number } = field.proto
    if (!facts.protoGaps?.includes(number) || facts.fields.some(({ json }) => json === field.json)) {
      throw new Error(`${group} ${version} ${type} has ${field.json}, or uses its number`)
    }
    const protoGaps = facts.protoGaps.filter((gap) => gap !== number)
    facts.protoGaps = protoGaps.length === 0 ? undefined : protoGaps
    const next = facts.fields.findIndex(({ proto }) => proto.number > number)
    facts.fields.splice(next < 0 ? facts.fields.length : next, 0, field)
  }
}
