import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { writeSchemas } from './schemas.ts'

const quantity = 'io.k8s.apimachinery.pkg.api.resource.Quantity'
const kind = (group: string, version: string, name: string) => ({
  'x-kubernetes-group-version-kind': [{ group, version, kind: name }],
})

it('writes a complete schema of each kind, with the changes that validators by JSON schema need', () => {
  const folder = mkdtempSync(join(tmpdir(), 'krmkit-schemas-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const port = {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string' }, size: { $ref: `#/definitions/${quantity}` } },
  }
  const properties = {
    port: { type: 'string', format: 'int-or-string' },
    ports: { type: 'array', items: { $ref: '#/definitions/Port' } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
  }
  const definitions = {
    Web: { type: 'object', required: ['ports'], properties, ...kind('networking.k8s.io', 'v1', 'Web') },
    Port: port,
    [quantity]: { type: 'string' },
    Other: { type: 'object', ...kind('', 'v1', 'Other') },
    Shared: { type: 'object', 'x-kubernetes-group-version-kind': [] },
  }
  writeSchemas({ definitions }, folder)
  expect(readdirSync(folder).sort()).toEqual(['other-v1.json', 'web-networking-v1.json'])
  const { $ref, definitions: written } = JSON.parse(readFileSync(join(folder, 'web-networking-v1.json'), 'utf8'))
  expect($ref).toBe('#/definitions/Web')
  expect(Object.keys(written).sort()).toEqual(['Port', 'Web', quantity].sort())
  expect(written.Web).toMatchObject({
    additionalProperties: false,
    properties: {
      port: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
      ports: { type: 'array', items: { $ref: '#/definitions/Port' } },
      labels: { type: ['object', 'null'], additionalProperties: { type: 'string' } },
    },
  })
  expect(written.Port.properties).toEqual({
    name: { type: 'string' },
    size: { oneOf: [{ $ref: `#/definitions/${quantity}` }, { type: 'null' }] },
  })
  expect(written[quantity]).toEqual({ oneOf: [{ type: 'string' }, { type: 'number' }] })
})
