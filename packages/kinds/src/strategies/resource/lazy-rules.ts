import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { Strategy } from '../../interfaces.ts'
import { lazyModule } from '../shared/lazy-module.ts'
import { defineStrategy } from '../shared/strategy.ts'
import type { rules } from './rules.ts'

/** The rules of this group, whose kinds few servers have. */
export const lazyRules = /* @__PURE__ */ lazyModule('the rules of devices', () => import('./rules.ts'))

function rulesReady(object: DeepReadonly<ApiObject>): Promise<void> | undefined {
  const ready = () => lazyRules.loaded().engineReady(object)
  const loading = lazyRules.load()
  return loading === undefined ? ready() : loading.then(ready)
}

/** A strategy with the rules of a kind. */
export function deviceStrategy<T extends ApiObject>(kind: keyof typeof rules, own: Strategy<T>): Strategy {
  const rulesOf = () => lazyRules.loaded().rules[kind]
  return defineStrategy<T>({
    ready: rulesReady,
    validate: (object, context) => rulesOf().validate(object as never, context),
    validateUpdate: (object, old, context) => rulesOf().validateUpdate(object as never, old as never, context),
    deleteResponse: 'Object',
    ...own,
  })
}
