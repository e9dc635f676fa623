import { describe, expect, it } from 'vitest'
import { compileDeviceSelector, deviceEnvironment } from './device-selectors.ts'
import { Environment } from './environment.ts'

const environments = {
  previous: deviceEnvironment(Environment.ofRelease('1.32')),
  newest: deviceEnvironment(Environment.ofRelease('1.33')),
}

function compiled(text: string, environment = environments.newest): string | number {
  const result = compileDeviceSelector(environment, text)
  return 'maxCost' in result ? result.maxCost : (result.problem.split('\n')[0] as string)
}

describe('selectors of devices', () => {
  it('read the driver, the attributes and the capacity', () => {
    const accepted = [
      'device.driver == "a"',
      'device.attributes["d.example.com"].cores + 1 > 3',
      'device.attributes["d.example.com"].model in ["x", "y"]',
      'device.attributes["d.example.com"].ready',
      'device.capacity["d.example.com"].memory.compareTo(quantity("1Gi")) >= 0',
      'kubernetes.DRADevice{driver: "a"} == device',
    ]
    for (const text of accepted) expect(compiled(text)).toBeTypeOf('number')
    expect(compiled('device.other')).toBe("compilation failed: ERROR: <input>:1:7: undefined field 'other'")
    expect(compiled('object == 1')).toMatch(/undeclared reference to 'object'/)
    expect(compiled('device.capacity["d"].memory > 5')).toMatch(/applied to '\(kubernetes.Quantity, int\)'/)
  })

  it('must have a boolean or unknown type', () => {
    const wrong = (type: string) => `must evaluate to bool or the unknown type, not ${type}`
    expect(compiled('device.driver')).toBe(wrong('string'))
    expect(compiled('dyn(true)')).toBe(wrong('dyn'))
    expect(compiled('device')).toBe(wrong('kubernetes.DRADevice'))
    expect(compiled('device.attributes')).toBe(wrong('map(string, map(string, google.protobuf.Any))'))
    expect(compiled('device.attributes["d"].x.map(y, y)')).toMatch(/expression of type 'any' cannot be range/)
    expect(compiled('')).toMatch(/^compilation failed: ERROR: <input>:1:0: Syntax error/)
  })

  it('support cel.bind', () => {
    expect(compiled('cel.bind(d, device.attributes["d"], d.model == "x" && d.cores > 3)')).toBeTypeOf('number')
    expect(compiled('cel.bind("x", 1, true)')).toMatch(/cel.bind\(\) variable names must be simple identifiers/)
    expect(compiled('other.bind(x, 1, true)')).toMatch(/undeclared reference/)
  })

  it('compare versions; only later releases normalize them', () => {
    const plain = 'device.attributes["d"].v.isGreaterThan(semver("1.0.0"))'
    const normalized = 'device.attributes["d"].v.isGreaterThan(semver("v1.0", true))'
    for (const environment of Object.values(environments)) expect(compiled(plain, environment)).toBeTypeOf('number')
    expect(compiled(normalized)).toBeTypeOf('number')
    expect(compiled(normalized, environments.previous)).toMatch(/no matching overload for 'semver'/)
  })

  it('have the cost for the largest device', () => {
    expect(compiled('device.driver == "a"')).toBe(3)
    expect(compiled('device.attributes.all(d, d == "x")')).toBe(163)
    expect(compiled('device.attributes["d"].model.contains("aaaaaaaaaaaaaaaaaaaa")')).toBe(18)
  })
})
