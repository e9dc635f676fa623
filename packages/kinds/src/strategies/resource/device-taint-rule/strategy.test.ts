import { loadCel } from '@krmkit/schema'
import { beforeAll, describe, expect, it } from 'vitest'
import { DeviceTaintRule } from '../../../group-versions/resource-v1alpha3.generated.ts'
import { DeviceClass } from '../../../group-versions/resource-v1beta1.generated.ts'
import { texts } from '../testing.ts'
import { deviceTaintRulePrinter } from './printer.ts'

beforeAll(() => loadCel())

const taint = { key: 'k', value: 'v', effect: 'NoSchedule', timeAdded: '2020-01-01T00:00:00Z' }
const rule = (spec: object) => DeviceTaintRule.create({ metadata: { name: 'r' }, spec: spec as never })
const selectors = [{ cel: { expression: 'true' } }, { cel: { expression: 'device.x' } }]

describe('device taint rules', () => {
  it('add taints now', () => {
    const { timeAdded: _, ...undated } = taint
    expect(DeviceTaintRule.default(rule({ taint })).spec.taint).toEqual(taint)
    expect(DeviceTaintRule.default(rule({ taint: undated })).spec.taint.timeAdded).toMatch(/^20\d\d-/)
  })

  it('validate what they select', () => {
    expect(texts(DeviceTaintRule.validate(rule({ taint })))).toEqual([])
    const deviceSelector = { deviceClassName: 'C', pool: '', selectors }
    expect(texts(DeviceTaintRule.validate(rule({ deviceSelector, taint: { key: 'k' } })))).toEqual([
      expect.stringMatching(/^spec.deviceSelector.deviceClassName: Invalid value: "C": a lowercase RFC 1123 subdomain/),
      'spec.deviceSelector.pool: Required value',
      expect.stringMatching(/^spec.deviceSelector.selectors\[1\].cel.expression: Invalid value: "device.x": compilation failed/),
      'spec.taint.effect: Required value',
    ])
  })

  it('are shown with their taint', () => {
    const now = Date.parse('2020-01-01T00:05:00Z')
    expect(deviceTaintRulePrinter.cells(rule({ taint }), { now })).toEqual(['r', 'k', 'v', 'NoSchedule', '5m', '<unknown>'])
    expect(deviceTaintRulePrinter.cells(rule({}), { now })).toEqual(['r', '', '', '', '', '<unknown>'])
  })
})

it('device classes validate selectors and configurations, once for the new and once for the stored object', () => {
  const object = (spec: object) => DeviceClass.create({ metadata: { name: 'c', resourceVersion: '1' }, spec })
  const long = { opaque: { driver: 'd.example.com', parameters: { a: 'x'.repeat(10 * 1024) } } }
  const tooLong = 'spec.config[0].opaque.parameters: Too long: may not be more than 10240 bytes'
  const wrong = object({ selectors, config: [long] })
  const [problem] = texts(DeviceClass.validate(wrong))
  expect(problem).toMatch(/^spec.selectors\[1\].cel.expression: Invalid value: "device.x"/)
  expect(texts(DeviceClass.validate(wrong))).toEqual([problem, tooLong])
  expect(texts(DeviceClass.validateUpdate(wrong, wrong))).toEqual([problem, tooLong, problem])
})
