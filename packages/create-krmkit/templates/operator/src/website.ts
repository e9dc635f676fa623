import { defineResource } from '@krmkit/kinds'
import { z } from 'zod'

const spec = z.object({
  html: z.string().min(1).describe('The page.'),
  replicas: z.int().min(0).max(10).default(1).describe('Number of web servers.'),
})

export type WebsiteSpec = z.output<typeof spec>

/** The kind of this operator. `npm run definition` writes its CustomResourceDefinition. */
export const Website = defineResource({
  group: 'apps.example.com',
  kind: 'Website',
  versions: {
    v1: {
      schema: z
        .object({ spec, status: z.object({ readyReplicas: z.int() }).optional() })
        .describe('A page that web servers show.'),
      columns: [
        { name: 'Wanted', type: 'integer', jsonPath: '.spec.replicas' },
        { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas' },
      ],
    },
  },
})
