import { createFeatures } from '@krmkit/meta'
import { expect, it } from 'vitest'
import type { CustomResourceDefinition } from '../../../types/apiextensions-v1.generated.ts'
import { schemaWarnings } from './schema-warnings.ts'

const definition = (...schemas: object[]) =>
  ({
    spec: { versions: schemas.map((openAPIV3Schema, at) => ({ name: `v${at}`, schema: { openAPIV3Schema } })) },
  }) as unknown as CustomResourceDefinition

const zip = { type: 'string', format: 'zip-code' }
const set = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'object' } }
const schema = { type: 'object', properties: { list: set, code: { type: 'array', items: zip }, other: { anyOf: [zip] } } }
const formats = ['unrecognized format "zip-code"']
const sets = [
  'x-kubernetes-list-type: set for items of type "object" is not supported by server-side apply or CEL validation rules',
]

it.each([
  ['1.33', []],
  ['1.34', formats],
  ['1.36', formats],
  ['1.37', [...formats, ...sets]],
])('a definition in %s has the warnings %j', (version, expected) => {
  const features = createFeatures(version)
  expect(schemaWarnings(definition(schema, schema), undefined, features)).toEqual(expected)
  expect(schemaWarnings(definition(schema), definition(schema), features)).toEqual([])
  expect(schemaWarnings(definition(schema), definition({ type: 'object' }), features)).toEqual(expected)
})
