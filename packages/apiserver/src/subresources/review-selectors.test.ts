import { describe, expect, it } from 'vitest'
import { reviewSelectors } from './review-selectors.ts'

describe('selectors of access reviews', () => {
  it('are parsed as sent', () => {
    const requirements = [{ key: 'a', operator: 'In', values: ['z', 'b'] }]
    expect(reviewSelectors({ labelSelector: { requirements } })).toMatchObject({ labelSelector: requirements, problems: [] })
    expect(reviewSelectors({ labelSelector: { rawSelector: 'a in (z,b)' } }).problems).toEqual([])
    const fields = [{ key: 'f', operator: 'NotIn', values: ['x'] }]
    expect(reviewSelectors({ fieldSelector: { requirements: fields } })).toMatchObject({
      fieldSelector: [{ field: 'f', operator: '!=', value: 'x' }],
      problems: [],
    })
    expect(reviewSelectors({})).toMatchObject({ problems: [] })
  })

  it('drop and report malformed requirements', () => {
    const unknown = { key: 'x', operator: 'Unknown' }
    const known = { key: 'a', operator: 'Exists' }
    expect(reviewSelectors({ labelSelector: { requirements: [known, unknown] } })).toMatchObject({
      labelSelector: [known],
      problems: ['spec.resourceAttributes.labelSelector partially ignored due to parse error'],
    })
    expect(reviewSelectors({ labelSelector: { rawSelector: '&' }, fieldSelector: { requirements: [unknown] } }).problems).toEqual(
      [
        'spec.resourceAttributes.fieldSelector ignored due to parse error',
        'spec.resourceAttributes.labelSelector ignored due to parse error',
      ],
    )
    expect(reviewSelectors({ labelSelector: { requirements: [{ key: 'a b', operator: 'Exists' }] } }).labelSelector).toEqual([])
  })
})
