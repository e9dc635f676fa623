import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createSocketFolder } from './socket-folder.ts'

it('the folder of the sockets of a writer goes when it was killed and another one starts, and stays while it runs', async () => {
  const [killed, running, starting] = [await createSocketFolder(), await createSocketFolder(), await createSocketFolder()]
  const program = `require('node:net').createServer().listen(${JSON.stringify(join(killed, 'requests.sock'))}, () => console.log('ready'))`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  const server = createServer().listen(join(running, 'requests.sock'))
  await once(server, 'listening')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(existsSync(join(killed, 'requests.sock'))).toBe(true)
  const next = await createSocketFolder()
  expect([killed, running, starting, next].map((folder) => existsSync(folder))).toEqual([false, true, true, true])
  server.close()
  for (const folder of [running, starting, next]) await rm(folder, { recursive: true })
})
