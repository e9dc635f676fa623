/** The server without sockets: the cost of requests before a byte is sent. */
import { createApiServer } from '@krmkit/apiserver'
import { memoryStorage } from '@krmkit/storage'
import { bytesOf, configMap, deployment } from '../objects.ts'
import { type Caller, callerOf } from './caller.ts'

export interface Workload {
  readonly name: string
  readonly operations: number
  readonly run: (call: Caller, index: number) => Promise<unknown>
}

export interface Measured {
  readonly name: string
  readonly operations: number
  readonly perSecond: number
  readonly microseconds: number
}

const configMaps = '/api/v1/namespaces/bench/configmaps'
const deployments = '/apis/apps/v1/namespaces/bench/deployments'

/** In execution order: later workloads use objects of earlier ones. */
export function workloads(objects: number): Workload[] {
  const name = (index: number) => `cm-${String(index).padStart(6, '0')}`
  const one = (index: number) => `${deployments}/d-${String(index).padStart(5, '0')}`
  const apply = (call: Caller, index: number, replicas: number) =>
    call({
      method: 'PATCH',
      path: one(index),
      query: 'fieldManager=bench',
      contentType: 'application/apply-patch+yaml',
      body: bytesOf(deployment(one(index).split('/').at(-1)!, replicas)),
    })
  return [
    {
      name: 'create',
      operations: objects,
      run: (call, index) =>
        call({ method: 'POST', path: configMaps, contentType: 'application/json', body: bytesOf(configMap(name(index), index)) }),
    },
    {
      name: 'get',
      operations: objects * 2,
      run: (call, index) => call({ method: 'GET', path: `${configMaps}/${name(index % objects)}` }),
    },
    { name: 'list', operations: 20, run: (call) => call({ method: 'GET', path: configMaps }) },
    { name: 'list, limit 500', operations: 100, run: (call) => call({ method: 'GET', path: configMaps, query: 'limit=500' }) },
    {
      name: 'list by label',
      operations: 20,
      run: (call) => call({ method: 'GET', path: configMaps, query: 'labelSelector=shard%3Ds3' }),
    },
    {
      name: 'update',
      operations: objects,
      run: (call, index) =>
        call({
          method: 'PUT',
          path: `${configMaps}/${name(index)}`,
          contentType: 'application/json',
          body: bytesOf(configMap(name(index), index + 1)),
        }),
    },
    {
      name: 'merge patch',
      operations: objects,
      run: (call, index) =>
        call({
          method: 'PATCH',
          path: `${configMaps}/${name(index)}`,
          contentType: 'application/merge-patch+json',
          body: bytesOf({ data: { v: `p${index}` } }),
        }),
    },
    { name: 'apply, create', operations: objects >> 2, run: (call, index) => apply(call, index, 1) },
    { name: 'apply, change', operations: objects >> 2, run: (call, index) => apply(call, index, 2) },
    { name: 'apply, same', operations: objects >> 2, run: (call, index) => apply(call, index, 2) },
    {
      name: 'delete',
      operations: objects,
      run: (call, index) => call({ method: 'DELETE', path: `${configMaps}/${name(index)}` }),
    },
  ]
}

/** Runs every workload in `rounds` rounds, each on a new server; the results are those of the last round. */
export async function inProcess({ objects, rounds }: { objects: number; rounds: number }): Promise<Measured[]> {
  let measured: Measured[] = []
  for (let round = 0; round < rounds; round++) measured = await oneRound(objects)
  return measured
}

async function oneRound(objects: number): Promise<Measured[]> {
  const server = await createApiServer({ storage: memoryStorage() })
  const call = callerOf(server.handle)
  await call({
    method: 'POST',
    path: '/api/v1/namespaces',
    contentType: 'application/json',
    body: bytesOf({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } }),
  })
  const measured: Measured[] = []
  for (const { name, operations, run } of workloads(objects)) {
    const from = performance.now()
    for (let index = 0; index < operations; index++) await run(call, index)
    const milliseconds = performance.now() - from
    measured.push({
      name,
      operations,
      perSecond: (operations / milliseconds) * 1000,
      microseconds: (milliseconds / operations) * 1000,
    })
  }
  await server.close()
  return measured
}
