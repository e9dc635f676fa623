import { defineResource, field } from 'krmkit'
import { z } from 'zod'

/** A kind with all options of `defineResource`. */
export const Widget = defineResource({
  group: 'shop.example.com',
  kind: 'Widget',
  shortNames: ['wd'],
  categories: ['shop'],
  versions: {
    v1: {
      schema: z
        .object({
          spec: z
            .object({
              size: z.int().min(1).max(100).describe('How many fit on a shelf.'),
              color: z.enum(['red', 'green', 'blue']).default('red').describe('What it looks like.'),
              replicas: z.int().min(0).default(1),
              parts: z
                .array(z.object({ name: z.string(), weight: z.number().optional() }))
                .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] })
                .default([]),
            })
            .meta({ 'x-kubernetes-validations': [{ rule: 'self.replicas <= self.size', message: 'more replicas than fit' }] }),
          status: z
            .object({ phase: z.string().optional(), replicas: z.int().optional(), selector: z.string().optional() })
            .optional(),
        })
        .describe('Something to sell.'),
      columns: [
        { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
        { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
        { name: 'Color', type: 'string', jsonPath: '.spec.color', priority: 1 },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
      ],
      subresources: {
        scale: {
          specReplicasPath: '.spec.replicas',
          statusReplicasPath: '.status.replicas',
          labelSelectorPath: '.status.selector',
        },
      },
      selectableFields: ['.spec.color'],
    },
  },
})

/** The same kind in two versions and with hooks, which a manifest cannot express. */
export const Crate = defineResource({
  group: 'depot.example.com',
  kind: 'Crate',
  versions: {
    v1: {
      schema: z.object({
        spec: z
          .object({ weight: z.int(), label: z.string().default('plain'), from: z.int().default(0), to: z.int().default(9) })
          .refine(({ from, to }) => from <= to, { path: ['to'], message: 'must not come before from' }),
      }),
    },
    v1beta1: { schema: z.object({ weight: z.int(), label: z.string().default('plain') }), deprecated: true },
  },
  conversions: {
    v1beta1: {
      toStorage: ({ metadata, weight, label }) => ({ metadata: metadata as never, spec: { weight, label, from: 0, to: 9 } }),
      fromStorage: ({ metadata, spec }) => {
        const { weight, label } = spec as { weight: number; label: string }
        return { metadata: metadata as never, weight, label }
      },
    },
  },
  strategy: {
    prepareForCreate(crate) {
      crate.metadata.labels = { ...crate.metadata.labels, weighed: 'yes' }
    },
    validate: (crate, old) =>
      old !== undefined && crate.spec.label !== old.spec.label ? [field.forbidden('spec.label', 'is on it for good')] : [],
    warnings: ({ spec }) => (spec.weight > 90 ? ['that is heavy'] : []),
  },
})
