/** The default roles and bindings, and their reconciliation. Entry point `@krmkit/authorization/bootstrap`. */

export {
  type BootstrapBinding,
  type BootstrapPolicy,
  type BootstrapPolicyOptions,
  type BootstrapRole,
  bootstrapPolicy,
} from './bootstrap-policy.ts'
export { type ReconcileResult, reconcileBinding, reconcileRole } from './reconcile.ts'
