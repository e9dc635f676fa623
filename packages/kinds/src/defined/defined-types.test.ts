import type { ApiObject } from '@krmkit/meta'
import { expectTypeOf, it } from 'vitest'
import { defineResource } from './define-resource.ts'
import type { DraftOf, ObjectOf, ResourceHandle } from './interfaces.ts'
import { z } from './zod.ts'

/** Type tests of resources defined in code; the type checker runs them. */

const schema = z.object({
  spec: z.object({ size: z.int(), color: z.enum(['red', 'green']).default('red'), note: z.string().optional() }),
  status: z.object({ phase: z.string() }).optional(),
})
const older = z.object({ size: z.int() })
const base = { group: 'shop.example.com', kind: 'Widget' } as const

const Widget = defineResource({
  ...base,
  versions: { v1: { schema }, v1beta1: { schema: older } },
  strategy: {
    prepareForCreate(widget) {
      expectTypeOf(widget.spec.size).toEqualTypeOf<number>()
      widget.spec.color = 'green'
    },
    validate(widget, old) {
      expectTypeOf(widget.spec.color).toEqualTypeOf<'red' | 'green'>()
      expectTypeOf(old?.spec.note).toEqualTypeOf<string | undefined>()
      // @ts-expect-error: validation gets a readonly object
      const change = (): unknown => (widget.spec.size = 1)
      expectTypeOf(change).toBeFunction()
      return []
    },
  },
})

type Stored = ObjectOf<typeof schema>
type Written = DraftOf<typeof schema>

it('reads objects with their defaults and writes them without', () => {
  expectTypeOf<Stored['spec']>().toEqualTypeOf<{ size: number; color: 'red' | 'green'; note?: string | undefined }>()
  expectTypeOf<Written['spec']>().toEqualTypeOf<{
    size: number
    color?: 'red' | 'green' | undefined
    note?: string | undefined
  }>()
  expectTypeOf<Stored['status']>().toEqualTypeOf<{ phase: string } | undefined>()
  expectTypeOf<Stored>().toExtend<ApiObject>()
})

it('is the handle of the stable version and gives others by name', () => {
  expectTypeOf(Widget).toExtend<ResourceHandle<Stored, Written>>()
  expectTypeOf(Widget.at('v1beta1')).toEqualTypeOf<ResourceHandle<ObjectOf<typeof older>, DraftOf<typeof older>>>()
  // @ts-expect-error: unknown version
  const unknown = () => Widget.at('v2')
  expectTypeOf(unknown).toBeFunction()
})

it('checks names of versions and members', () => {
  const wrong = (): void => {
    // @ts-expect-error: the storage version must be one of the versions
    defineResource({ ...base, versions: { v1: { schema } }, storageVersion: 'v2' })
    // @ts-expect-error: conversions are keyed by the versions
    defineResource({ ...base, versions: { v1: { schema } }, conversions: { v3: undefined } })
  }
  expectTypeOf(wrong).toBeFunction()
  const beta = defineResource({
    ...base,
    versions: { v1beta1: { schema: older }, v1alpha1: { schema } },
    storageVersion: 'v1alpha1',
  })
  expectTypeOf(beta).toExtend<ResourceHandle<Stored, Written>>()
})
