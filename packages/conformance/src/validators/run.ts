import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { RandomChoices } from '@krmkit/base/random-choices'
import type { ResourceDefinition } from '@krmkit/kinds'
import { formatApiVersion, isJsonObject, type JsonObject } from '@krmkit/meta'
import { collectionPath, createdResources, sampleObject } from '../divergence/generators/bodies.ts'
import { mutate } from '../divergence/generators/values.ts'
import { startStock } from '../divergence/servers.ts'
import { writeSchemas } from './schemas.ts'

/**
 * `npm run bench:validators`: how many of the manifests that a kube-apiserver refuses do validators find, and which of those that it accepts do
 * they refuse? `packages/tools/src/suite.ts` finds the programs.
 */

const { values: flags } = parseArgs({
  options: {
    manifests: { type: 'string', default: '3000' },
    seed: { type: 'string', default: '1' },
    peer: { type: 'string', default: '' },
    krmkit: { type: 'string', default: '' },
    kubeconform: { type: 'string' },
    report: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'krmkit-validators-'))

interface Manifest {
  readonly file: string
  readonly isAccepted: boolean
  /** Of the server. */
  readonly message: string
}

interface Row {
  readonly tool: string
  /** Files with errors, and one of these. */
  readonly refused: ReadonlyMap<string, string>
  /** User and system, in seconds. */
  readonly processorSeconds: number
}

const stock = await startStock(flags.peer)
try {
  const manifests = await judged(stock.url)
  const document = (await send(stock.url, 'GET', '/openapi/v2')).body as unknown as Parameters<typeof writeSchemas>[0]
  writeSchemas(document, join(folder, 'schemas'))
  const rows = [krmkit(), ...(flags.kubeconform === undefined ? [] : [kubeconform(flags.kubeconform)])]
  if (flags.list) for (const line of rows.flatMap((row) => disagreements(manifests, row))) console.log(line)
  const text = report(manifests, rows)
  if (flags.report === undefined) console.log(text)
  else writeFileSync(flags.report, text)
} finally {
  await stock.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** Creates manifests, and asks the server for its verdict on each. Those that it refuses for another reason than their content are left out. */
async function judged(url: string): Promise<Manifest[]> {
  await send(url, 'POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  const random = new RandomChoices(Number(flags.seed))
  const manifests: Manifest[] = []
  mkdirSync(join(folder, 'manifests'))
  for (let i = 0; i < Number(flags.manifests); i++) {
    const definition = random.pick(createdResources)
    const body = sampleObject(definition, `m-${i}`, random)
    for (let changes = random.pick([0, 1, 1, 1, 2]); changes > 0; changes--) mutate(body, definition.kind.type(), random)
    if (!isManifest(body, definition)) continue
    const path = collectionPath(definition).replace('{ns}', 'default')
    const { status, body: answer } = await send(url, 'POST', `${path}?dryRun=All&fieldValidation=Strict`, body)
    if (status !== 201 && status !== 400 && status !== 422) continue
    const file = `${definition.kind.kind}-${i}.json`
    writeFileSync(join(folder, 'manifests', file), JSON.stringify(body, null, 2))
    manifests.push({ file, isAccepted: status === 201, message: String(answer.message ?? '') })
  }
  return manifests
}

/** Whether an object says what it is, as a file must: a request has these in its path. */
function isManifest({ apiVersion, kind, metadata }: JsonObject, { kind: own }: ResourceDefinition): boolean {
  const namespace = isJsonObject(metadata) ? metadata.namespace : undefined
  return apiVersion === formatApiVersion(own) && kind === own.kind && namespace === undefined
}

function send(
  url: string,
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly body: JsonObject }> {
  const headers = { authorization: 'Bearer admin-token', 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { method, headers, rejectUnauthorized: false }, async (response) => {
      let text = ''
      for await (const part of response.setEncoding('utf8')) text += part
      resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as JsonObject })
    })
    sent.once('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

function krmkit(): Row {
  const command = [process.execPath, flags.krmkit, 'validate', join(folder, 'manifests'), '-o', 'json']
  const { output, processorSeconds } = timed(command)
  const { findings } = JSON.parse(output) as { readonly findings: readonly Finding[] }
  const refused = findings
    .filter(({ severity }) => severity === 'error')
    .map(({ file, path, message }) => [file.slice(file.lastIndexOf('/') + 1), `${path}: ${message}`] as const)
  return { tool: 'krmkit validate', refused: new Map(refused), processorSeconds }
}

interface Finding {
  readonly file: string
  readonly severity: string
  readonly path: string
  readonly message: string
}

/** @see https://github.com/yannh/kubeconform */
function kubeconform(program: string): Row {
  const schemas = `${join(folder, 'schemas')}/{{ .ResourceKind }}{{ .KindSuffix }}.json`
  const command = [program, '-strict', '-output', 'json', '-schema-location', schemas, join(folder, 'manifests')]
  const { output, processorSeconds } = timed(command)
  const { resources } = JSON.parse(output) as {
    readonly resources: readonly { readonly filename: string; readonly msg: string }[]
  }
  const refused = resources.map(({ filename, msg }) => [filename.slice(filename.lastIndexOf('/') + 1), msg] as const)
  return { tool: 'kubeconform -strict', refused: new Map(refused), processorSeconds }
}

/** Runs a command; `times` of the shell has what its children took. */
function timed(command: readonly string[]): { readonly output: string; readonly processorSeconds: number } {
  const script = '"$@" >"$OUT"; times >&2'
  const out = join(folder, 'out')
  const { stderr } = spawnSync('bash', ['-c', script, 'bash', ...command], {
    encoding: 'utf8',
    env: { ...process.env, OUT: out },
  })
  const [, user = '', system = ''] = /(\S+) (\S+)\s*$/.exec(stderr) ?? []
  const seconds = (text: string) => {
    const [, minutes = '0', rest = '0'] = /^(\d+)m([\d.]+)s$/.exec(text) ?? []
    return Number(minutes) * 60 + Number(rest)
  }
  const { stdout } = spawnSync('cat', [out], { encoding: 'utf8', maxBuffer: 512 * 1024 * 1024 })
  return { output: stdout, processorSeconds: seconds(user) + seconds(system) }
}

/** Where a validator and the server disagree, with what each says. */
function disagreements(manifests: readonly Manifest[], { tool, refused }: Row): string[] {
  return manifests
    .filter(({ file, isAccepted }) => isAccepted === refused.has(file))
    .map(({ file, message }) => `${file}: server: ${message || 'accepted'}; ${tool}: ${refused.get(file) ?? 'accepted'}`)
}

function report(manifests: readonly Manifest[], rows: readonly Row[]): string {
  const refused = manifests.filter(({ isAccepted }) => !isAccepted)
  const accepted = manifests.filter(({ isAccepted }) => isAccepted)
  const kinds = new Set(readdirSync(join(folder, 'manifests')).map((file) => file.split('-')[0])).size
  const lines = rows.map((row) => {
    const found = refused.filter(({ file }) => row.refused.has(file)).length
    const wrong = accepted.filter(({ file }) => row.refused.has(file)).length
    const share = ((100 * found) / refused.length).toFixed(1)
    return `| ${row.tool} | ${found} (${share} %) | ${wrong} | ${row.processorSeconds.toFixed(1)} |`
  })
  return `# Validators

Generated by \`npm run bench:validators -- --manifests ${flags.manifests} --seed ${flags.seed}\`. ${manifests.length} manifests of ${kinds} kinds, valid ones and ones with one or two random changes
(members left out, renamed, of other types or with other values), were created on a kube-apiserver 1.33 with \`dryRun=All\` and
\`fieldValidation=Strict\`: it accepted ${accepted.length} and refused ${refused.length} because of their content. Then validators saw the same files.

| validator | finds of the ${refused.length} refused | refuses of the ${accepted.length} accepted | processor time, s |
|---|---:|---:|---:|
${lines.join('\n')}

The JSON schemas are made from the OpenAPI document of the same server, with the usual changes (\`packages/conformance/src/validators/schemas.ts\`). A schema knows
members, types and some enumerations; what the server checks in code (names, ranges, members that exclude one another) is not in it. What krmkit refuses
and the server accepts are [known divergences](divergence.md#known-divergences). kubeconform is version 0.7.0.
`
}
