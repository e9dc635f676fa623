import { defineResource } from 'krmkit'
import { z } from 'zod'

export const Widget = defineResource({
  group: 'shop.example.com',
  kind: 'Widget',
  shortNames: ['wd'],
  versions: {
    v1: {
      schema: z.object({
        spec: z
          .object({
            size: z.number().int().min(1).max(100).describe('How many fit on a shelf.'),
            color: z.enum(['red', 'green', 'blue']).default('red'),
            from: z.number().default(0),
            to: z.number().default(10),
          })
          .refine(({ from, to }) => from <= to, { path: ['to'], message: 'must not come before from' }),
        status: z.object({ phase: z.string().optional() }).optional(),
      }),
      columns: [
        { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
        { name: 'Color', type: 'string', jsonPath: '.spec.color', priority: 1 },
      ],
    },
  },
})
