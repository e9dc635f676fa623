import type { Estimate } from './cost/estimate.ts'
import type { Environment } from './environment.ts'
import { shown } from './expression.ts'
import type { Library } from './libraries/library.ts'
import { plainSemver } from './libraries/semver.ts'
import { PlanError } from './plan/step.ts'
import type { CompileBudget } from './syntax/compile-budget.ts'
import { bindingMacros } from './syntax/macros.ts'
import { anyType, mapOf, opaqueOf, stringType, structOf, type Type } from './values/types.ts'

/** Expressions that select devices: `device.attributes['gpu.example.com'].model == 'a100'`. */

const longestText = 64
const longestDomain = 63
const longestId = 32
const mostEntries = 32

/** Type of `device.attributes` and `device.capacity`: values by domain, then by name. */
const byDomain = (value: Type): Type => mapOf(stringType, mapOf(stringType, value))

const deviceType = structOf(
  'kubernetes.DRADevice',
  new Map([
    ['driver', stringType],
    ['attributes', byDomain(anyType)],
    ['capacity', byDomain(opaqueOf('kubernetes.Quantity'))],
  ]),
)

const bindings: Library = { name: 'bindings', functions: [], macros: bindingMacros, types: [[deviceType.name, deviceType]] }

/**
 * The environment of selectors: declares `device`.
 *
 * @param base environment of the release; the semver library is added if it is missing.
 * @see {@link compileDeviceSelector}
 */
export function deviceEnvironment(base: Environment): Environment {
  const bound = base
    .with([['device', deviceType]])
    .withMessages((name) => (name === deviceType.name ? deviceType : undefined), bindings)
    .withLibrary(bindings)
  return 'problem' in base.compile('isSemver("")') ? bound.withLibrary(plainSemver) : bound
}

/** A selector that compiles, or why it is rejected. */
export type CompiledSelector = { readonly maxCost: number } | { readonly problem: string; readonly internal: boolean }

/**
 * Compiles a selector.
 *
 * @param environment of `deviceEnvironment`
 * @example
 * import { compileDeviceSelector, deviceEnvironment, Environment } from '@krmkit/cel'
 * const environment = deviceEnvironment(Environment.ofRelease('1.33'))
 * compileDeviceSelector(environment, 'device.driver == "gpu.example.com"') // { maxCost: 4 }
 */
export function compileDeviceSelector(environment: Environment, text: string, budget?: CompileBudget): CompiledSelector {
  const compiled = environment.compile(text, budget)
  if ('problem' in compiled) return { problem: `compilation failed: ${compiled.problem}`, internal: false }
  const { type } = compiled
  if (type.kind !== 'bool' && type.kind !== 'any') {
    return { problem: `must evaluate to bool or the unknown type, not ${shown(type)}`, internal: false }
  }
  const program = compiled.program()
  if (program instanceof PlanError) return { problem: `program instantiation failed: ${program.message}`, internal: true }
  return { maxCost: compiled.estimate(deviceSize).max }
}

const sized = (max: number): Estimate => ({ min: 0, max })

/**
 * Returns the size limit of a part of a device. All attributes have the same limit:
 * `device.attributes['gpu.example.com'].model` is at most 64 characters.
 */
function deviceSize([root, member, ...path]: readonly string[]): Estimate | undefined {
  if (root !== 'device') return undefined
  if (member === undefined) return sized(0)
  if (member === 'driver') return path.length === 0 ? sized(longestDomain) : undefined
  if (member !== 'attributes' && member !== 'capacity') return undefined
  const [domain, name, ...deeper] = path
  if (domain === undefined) return sized(mostEntries)
  if (domain === '@keys') return name === undefined ? sized(longestDomain) : undefined
  if (!isEntry(domain)) return undefined
  if (name === undefined) return sized(mostEntries)
  if (name === '@keys') return deeper.length === 0 ? sized(longestId) : undefined
  if (deeper.length > 0) return undefined
  if (member === 'attributes') return sized(longestText)
  return isEntry(name) ? sized(0) : undefined
}

function isEntry(step: string): boolean {
  return step === '@values' || step === '@items'
}
