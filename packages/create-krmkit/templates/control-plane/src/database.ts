import { defineResource, field } from 'krmkit'
import { z } from 'zod'

/** The kind of this control plane: its schema, its columns in kubectl, and the rules that a schema cannot express. */
export const Database = defineResource({
  group: 'platform.example.com',
  kind: 'Database',
  shortNames: ['db'],
  versions: {
    v1: {
      schema: z
        .object({
          spec: z.object({
            engine: z.enum(['mysql', 'postgres']).describe('Database system. It cannot be changed.'),
            sizeGi: z.int().min(1).max(1024).default(10).describe('Size of the volume in GiB. It can only grow.'),
          }),
          status: z.object({ address: z.string().describe('Host and port for clients.'), sizeGi: z.int() }).optional(),
        })
        .describe('A database of the platform.'),
      columns: [
        { name: 'Engine', type: 'string', jsonPath: '.spec.engine' },
        { name: 'Size', type: 'integer', jsonPath: '.spec.sizeGi' },
        { name: 'Address', type: 'string', jsonPath: '.status.address' },
      ],
    },
  },
  strategy: {
    validate: ({ spec }, old) => [
      ...(old !== undefined && spec.engine !== old.spec.engine
        ? [field.invalid('spec.engine', spec.engine, 'field is immutable')]
        : []),
      ...(old !== undefined && spec.sizeGi < old.spec.sizeGi
        ? [field.invalid('spec.sizeGi', spec.sizeGi, `must not shrink below ${old.spec.sizeGi}`)]
        : []),
    ],
  },
})
