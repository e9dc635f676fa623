/** Fields of built-in types that cannot change after creation, by the type that declares them. */
const fields: Readonly<Record<string, readonly string[]>> = {
  'apps/v1.DaemonSetSpec': ['selector'],
  'apps/v1.DeploymentSpec': ['selector'],
  'apps/v1.ReplicaSetSpec': ['selector'],
  'apps/v1.StatefulSetSpec': ['selector', 'serviceName', 'podManagementPolicy', 'volumeClaimTemplates'],
  'batch/v1.JobSpec': ['selector', 'template', 'completionMode'],
  'core/v1.PersistentVolumeClaimSpec': ['accessModes', 'selector', 'storageClassName', 'volumeMode'],
  'core/v1.Secret': ['type'],
  'networking/v1.IngressClassSpec': ['controller'],
  'rbac/v1.ClusterRoleBinding': ['roleRef'],
  'rbac/v1.RoleBinding': ['roleRef'],
  'scheduling/v1.PriorityClass': ['value', 'preemptionPolicy'],
  'storage/v1.StorageClass': ['provisioner', 'parameters', 'reclaimPolicy', 'volumeBindingMode'],
}

/** Whether a field of a type cannot change after creation. Other fields may still be unchangeable in some states of an object. */
export function isImmutableField(type: string | undefined, field: string): boolean {
  return type !== undefined && fields[type]?.includes(field) === true
}

/** All fields as `type.field`. */
export function immutableFields(): readonly string[] {
  return Object.entries(fields).flatMap(([type, names]) => names.map((name) => `${type}.${name}`))
}
