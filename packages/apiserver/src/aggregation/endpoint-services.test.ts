import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { endpointServices } from './endpoint-services.ts'

const service = (spec: object) => ({ metadata: { name: 'm' }, spec }) as unknown as ApiObject
const endpoints = (subsets: object[]) => ({ metadata: { name: 'm' }, subsets }) as unknown as ApiObject

function find(objects: { readonly services?: ApiObject; readonly endpoints?: ApiObject }, draw = 0) {
  const get = ({ resource }: { readonly resource: string }) => objects[resource as 'services' | 'endpoints']
  const resolve = endpointServices({ get } as never, { bytes: () => new Uint8Array([0, 0, draw]) })
  return () => resolve({ namespace: 'a', name: 'm', port: 443 })
}

describe('endpoint resolution of services', () => {
  const ports = [
    { name: 'other', port: 80 },
    { name: 'https', port: 443 },
  ]
  const subsets = [
    { addresses: [{ ip: '10.0.0.1' }], ports: [{ name: 'other', port: 8080 }] },
    { addresses: [], ports: [{ name: 'https', port: 8443 }] },
    { addresses: [{ ip: '10.0.0.2' }, { ip: '10.0.0.3' }], ports: [{ name: 'https', port: 9443 }] },
  ]

  it('picks a random endpoint with the named port', () => {
    const objects = { services: service({ type: 'ClusterIP', ports }), endpoints: endpoints(subsets) }
    expect(find(objects, 0)()).toEqual({ host: '10.0.0.2', port: 9443 })
    expect(find(objects, 1)()).toEqual({ host: '10.0.0.3', port: 9443 })
  })

  it('connects to the canonical text of an address', () => {
    const octal = [{ addresses: [{ ip: '0177.0.0.1' }], ports: [{ name: 'https', port: 9443 }] }]
    const objects = { services: service({ type: 'ClusterIP', ports }), endpoints: endpoints(octal) }
    expect(find(objects)()).toEqual({ host: '177.0.0.1', port: 9443 })
  })

  it.each([
    [{}, 'service "m" not found'],
    [{ services: service({ type: 'ExternalName', ports }) }, 'unsupported service type "ExternalName"'],
    [{ services: service({ ports: [{ port: 80 }] }) }, 'no service port 443 found for service "m"'],
    [{ services: service({ ports }) }, 'endpoints "m" not found'],
    [{ services: service({ ports }), endpoints: endpoints([]) }, 'no endpoints available for service "m"'],
    [{ services: service({ ports }), endpoints: endpoints(subsets.slice(0, 2)) }, 'no endpoints available for service "m"'],
  ])('fails for %j', (objects, why) => {
    expect(find(objects)).toThrow(why)
  })
})
