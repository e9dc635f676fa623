import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ApiError } from '@krmkit/meta'
import { DecodeError } from '@krmkit/schema'
import { yamlToJson } from '@krmkit/schema/yaml'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { builtWorker } from './testing/built-worker.ts'
import { type ClosableTranslator, createYamlTranslator, type YamlTranslatorOptions } from './yaml-translator.ts'

const utf8 = new TextEncoder()
const open: ClosableTranslator[] = []
let worker = ''

beforeAll(async () => {
  worker = await builtWorker()
})
afterEach(async () => {
  for (const translator of open.splice(0)) await translator.close()
})
afterAll(() => {
  rmSync(dirname(worker), { recursive: true })
})

function translator(options: YamlTranslatorOptions = {}): ClosableTranslator {
  const made = createYamlTranslator({ worker, ...options })
  open.push(made)
  return made
}

const limits = { maxBytes: 3_000_000, signal: new AbortController().signal }
const read = (made: ClosableTranslator, yaml: string) => made.toJson(utf8.encode(yaml), limits)

const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no error',
    (error: unknown) => {
      if (ApiError.is(error)) return [error.code, error.message]
      if (error instanceof DecodeError) return [error.code, error.message, { path: error.path, mark: error.mark }]
      throw error
    },
  )

/** Builds a worker script with different behavior. */
function otherWorker(name: string, code: string): string {
  const file = join(dirname(worker), name)
  writeFileSync(
    file,
    `const { parentPort } = require('node:worker_threads'); parentPort.on('message', ({ yaml }) => { ${code} })`,
  )
  return file
}

describe('createYamlTranslator', () => {
  it('returns JSON and problems without blocking the event loop', async () => {
    const made = translator()
    const yaml = `a: 1\na: 2\nlist:\n${'- {name: x, value: 1.5}\n'.repeat(20_000)}`
    let turns = 0
    let over = false
    const count = (): void => {
      turns++
      if (!over) setImmediate(count)
    }
    setImmediate(count)
    const answer = await read(made, yaml)
    over = true
    const expected = yamlToJson(utf8.encode(yaml), limits)
    expect(new TextDecoder().decode(answer.json)).toBe(new TextDecoder().decode(expected.json))
    expect(answer.problems).toEqual(expected.problems)
    expect(turns).toBeGreaterThan(10)
  })

  it('does not transfer the bytes of a Buffer', async () => {
    const yaml = Buffer.from(`a: 1\n${'# c\n'.repeat(5000)}`)
    await translator().toJson(yaml, limits)
    expect(yaml.byteLength).toBe(20_005)
  })

  it('reports an invalid document, and converts the next one', async () => {
    const made = translator()
    const answers = await Promise.all([refusal(read(made, 'a: [1')), read(made, 'b: 2'), refusal(read(made, 'a: *b'))])
    expect(answers[0]).toEqual(['Yaml', expect.stringContaining('did not find expected'), expect.anything()])
    expect(answers[1]?.json).toEqual(utf8.encode('{"b":2}'))
    expect(answers[2]).toEqual(['Yaml', expect.stringContaining("unknown anchor 'b'"), {}])
  })

  it('rejects a document above the memory limit, and continues', async () => {
    const made = translator({ heapMb: 16 })
    expect(await refusal(read(made, '- a\n'.repeat(700_000)))).toEqual([
      413,
      'Request entity too large: the YAML takes more than 16 MiB of memory to read',
    ])
    expect((await read(made, 'b: 2')).json).toEqual(utf8.encode('{"b":2}'))
  })

  it('rejects a document above the time limit, and continues', async () => {
    const slow = otherWorker('slow.cjs', `if (yaml.length > 3) for (;;); parentPort.postMessage({ json: yaml, problems: [] })`)
    const made = translator({ worker: slow, timeoutMs: 1000 })
    const answers = await Promise.all([refusal(read(made, 'slow')), read(made, 'b')])
    expect(answers[0]).toEqual([413, 'Request entity too large: the YAML takes more than 1000 ms to read'])
    expect(answers[1]?.json).toEqual(utf8.encode('b'))
  })

  it('replaces a thread that has ended', async () => {
    const frail = otherWorker(
      'frail.cjs',
      `if (yaml.length > 3) process.exit(1); parentPort.postMessage({ json: yaml, problems: [] })`,
    )
    const made = translator({ worker: frail })
    const answers = await Promise.all([refusal(read(made, 'frail')), read(made, 'b')])
    expect(answers[0]).toEqual([503, 'the thread that reads YAML ended early'])
    expect(answers[1]?.json).toEqual(utf8.encode('b'))
    const broken = translator({ worker: otherWorker('broken.cjs', `throw new Error('broken')`) })
    expect(await refusal(read(broken, 'a'))).toEqual([503, 'the thread that reads YAML failed'])
  })

  it('limits queued documents, and drops documents of aborted requests', async () => {
    const made = translator({ maxWaiting: 2 })
    const gone = new AbortController()
    const answers = [
      read(made, 'a: 1'),
      refusal(made.toJson(utf8.encode('b'), { ...limits, signal: gone.signal })),
      read(made, 'c: 3'),
    ]
    expect(await refusal(read(made, 'd: 4'))).toEqual([429, 'too many large YAML documents are waiting to be read'])
    gone.abort()
    expect(await answers[1]).toEqual([504, expect.stringContaining('the request ended')])
    expect(await answers[2]).toMatchObject({ json: utf8.encode('{"c":3}') })
  })

  it('rejects active tasks when it is closed', async () => {
    const made = translator()
    const answers = [refusal(read(made, 'a: 1')), refusal(read(made, 'b: 2'))]
    await made.close()
    expect(await Promise.all([...answers, refusal(read(made, 'c: 3'))])).toEqual(
      Array(3).fill([503, 'the server is shutting down']),
    )
  })
})
