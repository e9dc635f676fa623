import type { ApiObject } from '@krmkit/meta'
import type { Strategy } from '../../interfaces.ts'
import type { LazyModule } from '../shared/lazy-module.ts'
import { defineStrategy } from '../shared/strategy.ts'
import { engineReady } from './engine.ts'

/** The rules of a kind of this group, which a strategy loads on first use: few servers have devices. */
export type DeviceRules<T extends ApiObject> = Required<Pick<Strategy<T>, 'validate' | 'validateUpdate'>>

/** A strategy with the rules of a kind. */
export function deviceStrategy<T extends ApiObject>(rules: LazyModule<DeviceRules<T>>, own: Strategy<T>): Strategy {
  return defineStrategy<T>({
    ready(object) {
      const loading = rules.load()
      return loading === undefined ? engineReady(object) : loading.then(() => engineReady(object))
    },
    validate: (object, context) => rules.loaded().validate(object, context),
    validateUpdate: (object, old, context) => rules.loaded().validateUpdate(object, old, context),
    deleteResponse: 'Object',
    ...own,
  })
}
