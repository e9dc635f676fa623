import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import type { LineRequest, LineResponse } from './line-protocol.ts'
import { startProcessSubject } from './process-subject.ts'
import { serveSubject } from './serve-subject.ts'

it('a subject serves its informer and its client over the line protocol', async () => {
  const input = new PassThrough()
  const output = new PassThrough()
  const informer = { hasSynced: () => true, objects: () => [], stop: () => undefined }
  const refused = Object.assign(new Error('no such map'), { statusCode: 404 })
  const client = { get: () => Promise.reject(refused) }
  const subject = { name: 'x', informer: { start: () => informer }, client: { connect: () => client } }
  const serving = serveSubject(subject, { methods: ['get'], input, output })
  const ask = async (request: LineRequest) => {
    input.write(`${JSON.stringify(request)}\n`)
    return JSON.parse(String((await once(output, 'data'))[0])) as LineResponse
  }
  const described = { informer: { features: {} }, client: ['get'] }
  expect(await ask({ id: 1, method: 'describe' })).toEqual({ id: 1, result: described })
  expect(await ask({ id: 2, method: 'start', params: {} })).toEqual({ id: 2, result: 1 })
  expect(await ask({ id: 3, method: 'state', params: { informer: 1 } })).toEqual({
    id: 3,
    result: { hasSynced: true, objects: [] },
  })
  expect(await ask({ id: 4, method: 'stop', params: { informer: 1 } })).toEqual({ id: 4, result: null })
  expect(await ask({ id: 5, method: 'connect', params: {} })).toEqual({ id: 5, result: 2 })
  const call = { client: 2, name: 'get', arguments: ['a'] }
  expect(await ask({ id: 6, method: 'call', params: call })).toEqual({ id: 6, error: { message: 'no such map', code: 404 } })
  input.end()
  await serving
})

it('a program that exits is an error with its last lines', async () => {
  const args = ['-e', 'console.error("no config"); process.exit(3)']
  const starting = startProcessSubject({ name: 'x', command: process.execPath, args })
  await expect(starting).rejects.toThrow('the program ended with 3: no config')
  await expect(startProcessSubject({ name: 'x', command: '/nonexistent/program' })).rejects.toThrow('ENOENT')
})
