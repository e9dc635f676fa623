import { describe, expect, it } from 'vitest'
import { sharedFiles, sharedTypes } from '../testdata/types.ts'
import { decode } from './decode/decode.direct.ts'
import { strictMessage } from './decode/decode.ts'
import type { StructType } from './interfaces.ts'
import { parseJson } from './json/parse-json.direct.ts'
import type { FactsSource } from './model/type-source.ts'
import { DecodeError } from './schema-error.ts'
import { parseYaml } from './yaml/parse-yaml.ts'

/** Recorded error messages for undecodable bodies, and warnings for decodable ones. */

interface Step {
  readonly id?: string
  readonly method?: string
  readonly path?: string
  readonly query?: Record<string, string>
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly bodyEncoding?: string
}

interface Answer {
  readonly status?: number
  readonly warning?: readonly string[]
  readonly body?: { readonly message?: string }
}

const source = sharedTypes()
const folders = ['admission', 'apply', 'auth', 'crd', 'protocol', 'storage']
const scenarios = folders.flatMap((folder) =>
  sharedFiles(`wire/scenarios/${folder}/`).map(({ name, bytes }) => ({
    name: `${folder}/${name}`,
    ...(JSON.parse(new TextDecoder().decode(bytes)) as { steps: Step[]; expected: Record<string, Answer> }),
  })),
)

const decodeFailure =
  /^(\w+) in version "[^"]*" cannot be handled as a \w+: ((?:json: cannot|illegal base64|quantities must|parsing time|strict decoding).*)$/s
const fieldWarning = /^299 - "((?:unknown field|duplicate field|line \d+:).*)"$/s

/** Returns the type that the body of a POST or PUT decodes into. */
function typeOf(step: Step, kind: string, types: FactsSource): StructType | undefined {
  const [, core, group, version] = /^\/(?:api\/(v1)|apis\/([^/]+)\/([^/]+))\//.exec(step.path ?? '') ?? []
  for (const folder of types.folders) {
    const facts = types.group(folder)
    if (facts.group !== (core === undefined ? group : '')) continue
    const name = `${folder}/${core ?? version}.${kind}`
    return types.has(name) ? types.struct(name) : undefined
  }
  return undefined
}

function kindIn(body: unknown): string {
  const kind = (body as { kind?: unknown } | null)?.kind
  return typeof kind === 'string' ? kind : ''
}

/** The error message, or `fine`. */
function run(step: Step, type: StructType): { message: string; problems: readonly string[] } {
  const raw = typeof step.body === 'string' ? step.body : JSON.stringify(step.body)
  const bytes = step.bodyEncoding === 'base64' ? new Uint8Array(Buffer.from(raw, 'base64')) : new TextEncoder().encode(raw)
  const yaml = step.headers?.['content-type']?.includes('yaml') ?? false
  try {
    const parsed = yaml ? parseYaml(bytes) : parseJson(bytes, { literals: true })
    const duplicates = 'duplicates' in parsed ? parsed.duplicates : undefined
    const { problems } = decode(type, parsed.value, {
      duplicates,
      ...('problems' in parsed ? { problems: parsed.problems } : {}),
    })
    return { message: (step.query?.fieldValidation === 'Strict' ? strictMessage(problems) : undefined) ?? 'fine', problems }
  } catch (error) {
    if (error instanceof DecodeError) return { message: error.message, problems: [] }
    throw error
  }
}

describe.skipIf(source === undefined || scenarios.length === 0)(
  'recorded responses (needs the shared folder with wire/ and model/)',
  () => {
    const types = source as FactsSource
    const writes = scenarios.flatMap(({ name, steps, expected }) =>
      steps
        .filter((step) => (step.method === 'POST' || step.method === 'PUT') && step.body !== undefined && step.body !== null)
        .map((step) => ({ name: `${name}/${step.id}`, step, answer: expected[step.id ?? ''] })),
    )

    it('rejects bodies with the recorded message [P200 P206 P208 P210]', () => {
      let seen = 0
      for (const { name, step, answer } of writes) {
        const match = decodeFailure.exec(answer?.body?.message ?? '')
        const type = match === null ? undefined : typeOf(step, match[1] as string, types)
        if (match === null || type === undefined) continue
        seen++
        expect(run(step, type).message, name).toBe(match[2])
      }
      expect(seen).toBeGreaterThan(30)
    })

    it('accepts bodies with the recorded field warnings [P202 P203 P205]', () => {
      let seen = 0
      for (const { name, step, answer } of writes) {
        const status = answer?.status ?? 0
        const type = status >= 200 && status < 300 ? typeOf(step, kindIn(step.body), types) : undefined
        if (type === undefined) continue
        seen++
        const { message, problems } = run(step, type)
        expect(message, name).toBe('fine')
        const warned = (answer?.warning ?? [])
          .map((text) => fieldWarning.exec(text)?.[1]?.replace(/\\(["\\])/g, '$1'))
          .filter((text) => text !== undefined)
        if (step.query?.fieldValidation !== 'Ignore') expect(problems, name).toEqual(warned)
      }
      expect(seen).toBeGreaterThan(500)
    })
  },
)
