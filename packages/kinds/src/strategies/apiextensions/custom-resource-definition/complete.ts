import type { Strategy } from '../../../interfaces.ts'
import { presentModule } from '../../shared/lazy-module.ts'
import * as rules from './rules.ts'
import { definitionStrategy } from './strategy.ts'

/** The strategy with its rules, for the handle of the kind: `validate` needs `ready` for expressions only. */
export const completeDefinitionStrategy: Strategy = /* @__PURE__ */ definitionStrategy(/* @__PURE__ */ presentModule(rules))
