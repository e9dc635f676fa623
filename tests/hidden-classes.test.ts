import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { bundle, bundleFile } from '../packages/tools/src/bundle.ts'

/**
 * On Node 20, a literal that begins with a spread and adds a member, such as `{ ...object, added: 1 }`, gives every object another
 * hidden class. It takes as long as fifty plain literals, every later access to the object misses the inline caches, and the class
 * stays until the next full collection. Literals that run for each request put the added members first.
 */

const maps = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string, value: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { value } })
const apply = 'application/apply-patch+yaml'
const merge = 'application/merge-patch+json'

/** Resolves to the address that the server prints. The output is read to its end, so that the server can print more. */
function addressOf(output: Readable): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) => {
    output.on('data', (piece: Buffer) => {
      text += String(piece)
      const found = /https:\/\/[^\s;]+(?=\s|;)/.exec(text)
      if (found !== null) resolve(found[0])
    })
    output.once('end', () => reject(new Error(`the server did not start: ${text}`)))
  })
}

/** Sends each kind of write `count` times. @returns the number of hidden classes that the whole process has made */
async function hiddenClasses(count: number): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'krmkit-classes-'))
  const [log, tokens] = [join(dir, 'v8.log'), join(dir, 'tokens.csv')]
  writeFileSync(tokens, 'test,test,1,"system:masters"\n')
  const v8Flags = ['--log-maps', `--logfile=${log}`, '--no-logfile-per-isolate']
  const flags = ['--secure-port', '0', '--storage', 'memory', '--data-dir', dir, '--token-auth-file', tokens]
  const child = spawn(process.execPath, [...v8Flags, bundleFile as string, 'serve', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false })
  try {
    const url = await addressOf(child.stdout)
    const send = (method: string, path: string, type: string, body: object) =>
      new Promise<void>((resolve, reject) => {
        const headers = { authorization: 'Bearer test', 'content-type': type }
        const sent = request(`${url}${path}`, { method, headers, agent }, (response) => {
          response.resume().once('end', () => {
            if ((response.statusCode ?? 500) < 300) resolve()
            else reject(new Error(`${method} ${path}: ${response.statusCode}`))
          })
        })
        sent.once('error', reject).end(JSON.stringify(body))
      })
    for (let i = 0; i < count; i++) {
      await send('POST', maps, 'application/json', configMap(`c${i}`, '1'))
      await send('PUT', `${maps}/c${i}`, 'application/json', configMap(`c${i}`, '2'))
      await send('PATCH', `${maps}/c${i}`, merge, { data: { value: '3' } })
      await send('PATCH', `${maps}/a${i}?fieldManager=m`, apply, configMap(`a${i}`, '1'))
      await send('PATCH', `${maps}/a${i}?fieldManager=m`, apply, configMap(`a${i}`, '2'))
    }
    child.kill('SIGTERM')
    await exited
    return readFileSync(log, 'utf8').split('\nmap-create,').length - 1
  } finally {
    agent.destroy()
    child.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  }
}

it('writes make no hidden classes once they are warm', { timeout: 600_000 }, async () => {
  ;(bundle as () => void)()
  const few = await hiddenClasses(100)
  const many = await hiddenClasses(200)
  // Each of the 500 further writes once made five to twenty.
  expect(many - few).toBeLessThan(250)
})
