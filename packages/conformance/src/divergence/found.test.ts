import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningServer, serve } from '../../../cli/src/serve.ts'
import { serveOptions } from '../../../cli/src/testing/run-command.ts'
import { type FoundScenario, replayFound } from './found.ts'
import { tokenFile } from './scenario.ts'
import { krmkitFlags } from './servers.ts'
import { startWebhooks, type Webhooks } from './webhooks.ts'

const foundFolder = fileURLToPath(new URL('found/', import.meta.url))
const files = (await readdir(foundFolder)).filter((name) => name.endsWith('.json')).sort()

let folder: string
let server: RunningServer
let webhooks: Webhooks
const errors: string[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'krmkit-found-'))
  await writeFile(join(folder, 'tokens.csv'), tokenFile, { mode: 0o600 })
  const log = { info: () => undefined, error: (text: string) => void errors.push(text) }
  webhooks = await startWebhooks()
  server = await serve(await serveOptions(`${folder}/data`, krmkitFlags(folder)), log)
})
afterAll(async () => {
  await server.close()
  await webhooks.stop()
  await rm(folder, { recursive: true })
})

describe('scenarios in which krmkit once differed from the stock server', () => {
  it.each(files)('%s', async (name) => {
    const found = JSON.parse(await readFile(join(foundFolder, name), 'utf8')) as FoundScenario
    const id = `f${files.indexOf(name).toString(36)}x${Date.now().toString(36)}`
    expect(await replayFound(server.url, found, id, webhooks), found.title).toEqual([])
    expect(errors).toEqual([])
  })
})
