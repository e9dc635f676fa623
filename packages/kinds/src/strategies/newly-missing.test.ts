import { describe, expect, it } from 'vitest'
import { missingErrors, newlyMissing } from './required-members.ts'

const required = [['spec', '?', 'volumes', '?', '*', 'lun']]
const objectOf = (...volumes: object[]) => ({ metadata: {}, spec: { volumes } })
const fields = (errors: readonly { readonly field: string; readonly reason: string }[]) =>
  errors.map(({ field, reason }) => `${field} ${reason}`)

describe('required members', () => {
  it('are reported in the order of the value', () => {
    expect(fields(missingErrors(objectOf({}, { lun: 0 }, {}), required))).toEqual([
      'spec.volumes[0].lun FieldValueRequired',
      'spec.volumes[2].lun FieldValueRequired',
    ])
    expect(missingErrors(objectOf({}), undefined)).toEqual([])
  })

  it('may stay absent from objects that are stored without them', () => {
    const missing = missingErrors(objectOf({}, {}), required)
    expect(newlyMissing(missing, undefined, required)).toEqual(missing)
    expect(fields(newlyMissing(missing, objectOf({}, { lun: 1 }), required))).toEqual(['spec.volumes[1].lun FieldValueRequired'])
    expect(newlyMissing(missing, objectOf({}, {}), required)).toEqual([])
  })
})
